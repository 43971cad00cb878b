/// What files and streams of strangers may be: formats that hold sound. Lists of other files, descriptions of sessions,
/// scripts, subtitles and pictures would make FFmpeg open what nobody has asked for.
enum Containers {
  /// Of a file, whose demuxer opens nothing else.
  static let ofFiles = """
    aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dts,dtshd,eac3,flac,flv,iff,loas,matroska,mlp,mov,mp3,\
    mpc,mpc8,mpeg,mpegts,ogg,rm,shn,tak,truehd,tta,w64,wav,wv
    """
  /// Of an address: HLS as well, whose segments are requests of its own.
  static let ofAddresses = ofFiles + ",hls"
}
