import CFFmpeg
import Glibc
package import Sender

/// The tags and properties of a media file, read without decoding it.
package struct FileTags: Hashable, Sendable {
  package var title: String?
  package var artist: String?
  package var albumArtist: String?
  package var album: String?
  /// MusicBrainz's identifier of the album.
  package var albumNumber: String?
  /// Counts from 1.
  package var track: Int?
  /// Counts from 1.
  package var disc: Int?
  package var year: Int?
  /// In seconds.
  package var duration: Double?
  /// The codec's name for people, such as `FLAC`.
  package var codec: String?
  package var hasVideo = false
  /// Hash of the file's picture.
  package var picture: String?
  /// At most `nameLimit` of each.
  package var genres: [String] = []
  package var composers: [String] = []

  /// A file that names more genres or composers names nothing that helps to find it.
  package static let nameLimit = 8
  private static let nameLength = 100

  package init() {}

  /// Reads a file. Blocks the thread meanwhile, but needs only the header and, if that is incomplete, the first
  /// packets.
  ///
  /// - Throws: `MediaError.notAudio` if it is no media file, or one without sound.
  package init(path: String) throws(MediaError) {
    self.init(try OpenedFile(path: path))
  }

  private init(_ file: OpenedFile) {
    title = file.tag("title")
    artist = file.tag("artist")
    albumArtist = file.tag("album_artist") ?? file.tag("albumartist")
    album = file.tag("album")
    albumNumber = file.tag("MusicBrainz Album Id") ?? file.tag("MUSICBRAINZ_ALBUMID")
    track = Demuxer.number(file.tag("track"))
    disc = Demuxer.number(file.tag("disc"))
    year = (file.tag("date") ?? file.tag("year")).flatMap(Self.year)
    duration = file.duration
    codec = file.codecName
    hasVideo = file.hasVideo
    picture = file.picture.map { file.library.hash(of: $0) }
    genres = Self.names(file.tag("genre"))
    composers = Self.names(file.tag("composer"))
  }

  /// Several names in one tag are separated by semicolons. Commas are part of a name, as in `Bach, Johann Sebastian`.
  private static func names(_ text: String?) -> [String] {
    let parts = (text ?? "").split(separator: ";").prefix(nameLimit).map { part in
      var name = part.prefix(nameLength).drop(while: \.isWhitespace)
      while name.last?.isWhitespace == true { name.removeLast() }
      return String(name)
    }
    return parts.filter { !$0.isEmpty }
  }

  /// Returns 1965 for `1965-11-01`.
  private static func year(_ date: String) -> Int? {
    Int(date.prefix { $0.isASCII && $0.isNumber }).flatMap {
      (1_000...9_999).contains($0) ? $0 : nil
    }
  }

  /// Largest text of lyrics, in bytes.
  private static let lyricsLimit = 64 << 10

  /// Returns the lyrics in a media file as they are, with line breaks; nil if there are none.
  package static func lyrics(path: String) throws(MediaError) -> String? {
    let text = try OpenedFile(path: path).lyrics ?? ""
    let bytes = text.utf8.filter { $0 != 0 }.prefix(lyricsLimit)
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the picture in a media file; nil if there is none.
  package static func picture(path: String) throws(MediaError) -> [UInt8]? {
    try OpenedFile(path: path).picture
  }
}

/// A file that is opened for its tags and properties, not for its sound.
private final class OpenedFile {
  /// Limits of bytes and microseconds to read if the header is incomplete.
  private static let probeLimit: Int64 = 1_000_000
  private static let analysisLimit: Int64 = 2_000_000
  private static let streamLimit: Int32 = 100

  let library: FFmpegLibrary
  private let input: FileInput
  private let context: UnsafeMutablePointer<AVFormatContext>

  init(path: String) throws(MediaError) {
    cff_clear_log()
    let file = try MediaFile(path: path)
    let library = try FFmpegLibrary.load(toPlay: path)
    self.library = library
    input = try FileInput(file, library: library)
    context = try Self.open(path, input, library)
    guard !hasAll || sound == nil else { return }
    let code = library.calls.avformat_find_stream_info(context, nil)
    // A demuxer that FFmpeg chose by the file's name finds a stream in anything.
    let rate = sound?.pointee.codecpar?.pointee.sample_rate ?? 0
    if code < 0 || rate <= 0 {
      let reason = code < 0 ? library.reason(of: code) : "there is no audio stream in it"
      throw .notAudio(path: path, reason: reason)
    }
  }

  private static func open(
    _ path: String, _ input: FileInput, _ library: FFmpegLibrary
  ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
    var context = library.calls.avformat_alloc_context()
    context?.pointee.pb = input.context
    context?.pointee.io_open = refuseToOpen
    context?.pointee.probesize = probeLimit
    context?.pointee.max_analyze_duration = analysisLimit
    context?.pointee.max_streams = streamLimit
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    // A file that looks like music may be a list that names other files, or servers.
    _ = library.calls.av_dict_set(&options, "format_whitelist", Containers.ofFiles, 0)
    _ = library.calls.av_dict_set(&options, "protocol_whitelist", "none", 0)
    let code = library.calls.avformat_open_input(
      &context, FileName.bytes(of: "file:" + path), nil, &options)
    guard code >= 0, let context else {
      let reason = library.reason(of: code)
      throw code == cff_io_error
        ? .unreadable(path: path, reason: reason) : .notAudio(path: path, reason: reason)
    }
    return context
  }

  deinit {
    var closing: UnsafeMutablePointer<AVFormatContext>? = context
    library.calls.avformat_close_input(&closing)
  }

  private var streams: [UnsafeMutablePointer<AVStream>] {
    (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams?[$0] }
  }

  private func kind(_ stream: UnsafeMutablePointer<AVStream>) -> AVMediaType? {
    stream.pointee.codecpar?.pointee.codec_type
  }

  private var sound: UnsafeMutablePointer<AVStream>? {
    streams.first { kind($0) == AVMEDIA_TYPE_AUDIO }
  }

  /// True if the header alone was complete.
  private var hasAll: Bool {
    guard let sound, duration != nil else { return false }
    return sound.pointee.codecpar?.pointee.codec_id != AV_CODEC_ID_NONE
  }

  func tag(_ key: String) -> String? {
    for dictionary in [context.pointee.metadata, sound?.pointee.metadata] {
      guard let entry = library.calls.av_dict_get(dictionary, key, nil, 0),
        let value = entry.pointee.value
      else { continue }
      let text = ItemMetadata.shown(String(cString: value))
      if !text.allSatisfy(\.isWhitespace) { return text }
    }
    return nil
  }

  /// ID3 names the language as well: `lyrics-eng`.
  var lyrics: String? {
    for dictionary in [context.pointee.metadata, sound?.pointee.metadata] {
      for key in ["lyrics", "unsyncedlyrics"] {
        let entry = library.calls.av_dict_get(dictionary, key, nil, AV_DICT_IGNORE_SUFFIX)
        if let value = entry?.pointee.value, value.pointee != 0 { return String(cString: value) }
      }
    }
    return nil
  }

  var duration: Double? {
    if context.pointee.duration > 0 { return Double(context.pointee.duration) / 1_000_000 }
    guard let sound, sound.pointee.duration > 0, sound.pointee.time_base.den > 0 else { return nil }
    let base = sound.pointee.time_base
    return Double(sound.pointee.duration) * Double(base.num) / Double(base.den)
  }

  var codecName: String? {
    guard let codec = sound?.pointee.codecpar?.pointee.codec_id,
      let name = library.calls.avcodec_descriptor_get(codec)?.pointee.name
    else { return nil }
    let text = String(cString: name)
    return text.hasPrefix("pcm_") ? "PCM" : text.uppercased()
  }

  var hasVideo: Bool {
    streams.contains { stream in
      kind(stream) == AVMEDIA_TYPE_VIDEO
        && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
    }
  }

  /// The attached picture, which FFmpeg presents as a video of one frame.
  var picture: [UInt8]? {
    for stream in streams
    where stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 {
      let count = Int(stream.pointee.attached_pic.size)
      guard let data = stream.pointee.attached_pic.data, (1...Picture.sizeLimit).contains(count),
        let codec = stream.pointee.codecpar?.pointee.codec_id, Demuxer.mimeType(of: codec) != nil
      else { continue }
      return Array(UnsafeBufferPointer(start: data, count: count))
    }
    return nil
  }
}

extension FFmpegLibrary {
  /// Returns the MD5 sum in 32 hexadecimal digits.
  func hash(of bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 16)
    calls.av_md5_sum(&digest, bytes, bytes.count)
    return digest.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
  }
}
