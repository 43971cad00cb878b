import Audio
import CFFmpeg
import Sender

/// An opened container, of which one audio stream is read.
final class Demuxer {
  enum Input {
    case file
    case descriptor(DescriptorInput, RawFormat?)
  }

  /// How much of a file may be read to find out what it is.
  private static let probeLimit: Int64 = 5_000_000
  private static let analysisLimitInMicroseconds: Int64 = 5_000_000
  /// The same for a stream, which may be live.
  private static let liveAnalysisLimitInMicroseconds: Int64 = 500_000
  private static let streamLimit: Int32 = 100

  let library: FFmpegLibrary
  let path: String
  let stream: UnsafeMutablePointer<AVStream>
  let decoder: UnsafePointer<AVCodec>
  private let input: Input
  private var context: UnsafeMutablePointer<AVFormatContext>?

  init(path: String, input: Input, library: FFmpegLibrary) throws(MediaError) {
    cff_clear_log()
    let opened = try Self.open(path: path, input: input, library: library)
    do throws(MediaError) {
      try Self.analyse(opened, path: path, input: input, library: library)
      (stream, decoder) = try Self.chooseStream(of: opened, path: path, library: library)
    } catch {
      var closing: UnsafeMutablePointer<AVFormatContext>? = opened
      library.calls.avformat_close_input(&closing)
      throw error
    }
    context = opened
    self.library = library
    self.path = path
    self.input = input
  }

  deinit { library.calls.avformat_close_input(&context) }

  private static func open(
    path: String, input: Input, library: FFmpegLibrary
  ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
    var context = library.calls.avformat_alloc_context()
    guard let fresh = context else { throw .unreadable(path: path, reason: "out of memory") }
    fresh.pointee.probesize = probeLimit
    fresh.pointee.max_analyze_duration = analysisLimitInMicroseconds
    fresh.pointee.max_streams = streamLimit
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    var name = "file:" + path
    var format: UnsafePointer<AVInputFormat>?
    if case .descriptor(let descriptor, let raw) = input {
      name = ""
      fresh.pointee.pb = descriptor.context
      fresh.pointee.max_analyze_duration = liveAnalysisLimitInMicroseconds
      if let raw { format = select(raw, &options, library) }
    }
    let code = library.calls.avformat_open_input(&context, name, format, &options)
    guard code >= 0, let context else { throw refusal(path, code, library) }
    return context
  }

  /// The duration of the chosen stream in its time base before an edit list shortens it. Nil where the file
  /// cannot be read a second time.
  func durationWithoutEdits() -> Int64? {
    guard case .file = input else { return nil }
    var second: UnsafeMutablePointer<AVFormatContext>?
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    _ = library.calls.av_dict_set(&options, "ignore_editlist", "1", 0)
    guard library.calls.avformat_open_input(&second, "file:" + path, nil, &options) >= 0 else {
      return nil
    }
    defer { library.calls.avformat_close_input(&second) }
    let index = Int(stream.pointee.index)
    guard let second, index < Int(second.pointee.nb_streams),
      let twin = second.pointee.streams?[index],
      twin.pointee.time_base.den == stream.pointee.time_base.den
    else { return nil }
    return twin.pointee.duration
  }

  private static func select(
    _ raw: RawFormat, _ options: inout OpaquePointer?, _ library: FFmpegLibrary
  ) -> UnsafePointer<AVInputFormat>? {
    // FFmpeg 5 takes either name of the second option, later versions only the last.
    _ = library.calls.av_dict_set(&options, "sample_rate", "\(raw.audio.sampleRate)", 0)
    _ = library.calls.av_dict_set(&options, "channels", "\(raw.audio.channelCount)", 0)
    _ = library.calls.av_dict_set(&options, "ch_layout", "\(raw.audio.channelCount)C", 0)
    return library.calls.av_find_input_format(raw.demuxerName)
  }

  /// Reads ahead to see what is in the file. Raw samples say nothing of themselves, and a live source of
  /// them would be held back for seconds.
  private static func analyse(
    _ context: UnsafeMutablePointer<AVFormatContext>, path: String, input: Input,
    library: FFmpegLibrary
  ) throws(MediaError) {
    if case .descriptor(_, .some) = input { return }
    let code = library.calls.avformat_find_stream_info(context, nil)
    guard code >= 0 else { throw refusal(path, code, library) }
  }

  private static func refusal(
    _ path: String, _ code: Int32, _ library: FFmpegLibrary
  ) -> MediaError {
    let reason = library.reason(of: code)
    // A demuxer that was chosen by the name of the file refuses what is in it with codes of all kinds.
    return code == cff_io_error || code == cff_exit
      ? .unreadable(path: path, reason: reason)
      : .notAudio(path: path, reason: "\(reason); is it a media file, and complete?")
  }

  private static func chooseStream(
    of context: UnsafeMutablePointer<AVFormatContext>, path: String, library: FFmpegLibrary
  ) throws(MediaError) -> (UnsafeMutablePointer<AVStream>, UnsafePointer<AVCodec>) {
    var decoder: UnsafePointer<AVCodec>?
    let index = library.calls.av_find_best_stream(
      context, AVMEDIA_TYPE_AUDIO, -1, -1, &decoder, 0)
    let count = Int(context.pointee.nb_streams)
    guard let streams = context.pointee.streams, (0..<count).contains(Int(index)),
      let chosen = streams[Int(index)], let decoder
    else {
      throw index == cff_decoder_not_found
        ? .unsupported(path: path, reason: "FFmpeg here has no decoder for its audio")
        : .notAudio(path: path, reason: "there is no audio stream in it")
    }
    for other in 0..<count where other != Int(index) {
      streams[other]?.pointee.discard = AVDISCARD_ALL
    }
    return (chosen, decoder)
  }

  /// Reads the next packet of the stream into `packet`. Returns 0 or FFmpeg's code, `cff_eof` at the end.
  func readPacket(into packet: UnsafeMutablePointer<AVPacket>) -> Int32 {
    guard let context else { return cff_eof }
    while true {
      let code = library.calls.av_read_frame(context, packet)
      guard code >= 0 else { return code }
      if packet.pointee.stream_index == stream.pointee.index { return 0 }
      library.calls.av_packet_unref(packet)
    }
  }

  /// Moves to a packet at or before `timestamp`, in the stream's time base. False where that failed.
  func seek(toTimestamp timestamp: Int64) -> Bool {
    guard let context else { return false }
    return library.calls.avformat_seek_file(
      context, stream.pointee.index, .min, timestamp, timestamp, 0) >= 0
  }

  /// Whether the duration is written in the file or follows from its last timestamps.
  var durationIsKnown: Bool {
    guard let context, stream.pointee.duration > 0 else { return false }
    return context.pointee.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE
  }

  /// About, in microseconds; nil where it would be guessed from the bit rate.
  var duration: Int64? {
    guard let context, context.pointee.duration > 0,
      context.pointee.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE
    else { return nil }
    return context.pointee.duration
  }

  var formatName: String {
    guard let name = context?.pointee.iformat?.pointee.name else { return "" }
    return String(cString: name)
  }

  var metadata: ItemMetadata {
    ItemMetadata(title: tag("title"), artist: tag("artist"), album: tag("album"))
  }

  /// Ogg keeps tags with the stream, most others with the file.
  func tag(_ key: String) -> String? {
    for dictionary in [context?.pointee.metadata, stream.pointee.metadata] {
      guard let entry = library.calls.av_dict_get(dictionary, key, nil, 0),
        let value = entry.pointee.value
      else { continue }
      return printable(String(cString: value))
    }
    return nil
  }

  /// Tags go to terminals: without control characters, and not without end.
  private func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(500).map { scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
