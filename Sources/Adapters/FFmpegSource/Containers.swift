/// Formats allowed for files and streams of strangers: those that hold sound. Lists of other files, session
/// descriptions, scripts, subtitles and pictures would make FFmpeg open files and addresses that nobody has asked for.
enum Containers {
  /// Formats of a file. Their demuxers open nothing else.
  static let ofFiles = """
    aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dts,dtshd,eac3,flac,flv,iff,loas,matroska,mlp,mov,mp3,\
    mpc,mpc8,mpeg,mpegts,ogg,rm,shn,tak,truehd,tta,w64,wav,wv
    """
  /// Formats of an address: also HLS, which requests its segments itself.
  static let ofAddresses = ofFiles + ",hls"
}
