import Audio
import CFFmpeg
import Glibc
import Sender

/// An open container, from which one audio stream is read.
final class Demuxer {
  enum Input {
    case file(FileInput)
    case descriptor(DescriptorInput, RawFormat?)
    case network(NetworkInput)
  }

  /// Largest number of bytes read to find out a file's format.
  private static let probeLimit: Int64 = 5_000_000
  private static let analysisLimitInMicroseconds: Int64 = 5_000_000
  /// The limit for a stream, which may be live.
  private static let liveAnalysisLimitInMicroseconds: Int64 = 500_000
  private static let streamLimit: Int32 = 100

  let library: FFmpegLibrary
  let path: String
  let stream: UnsafeMutablePointer<AVStream>
  let decoder: UnsafePointer<AVCodec>
  private let input: Input
  /// Nil unless the input comes from the network.
  let bytes: NetworkBytes?
  private var search: PlaceSearch?
  private var searchInFLAC: FLACSearch?
  private(set) var context: UnsafeMutablePointer<AVFormatContext>?
  /// Number of changes of the stream's metadata.
  private(set) var metadataVersion = 0

  init(path: String, input: Input, library: FFmpegLibrary) throws(MediaError) {
    cff_clear_log()
    input.beginOpening()
    defer { input.endOpening() }
    var bytes = try Self.connect(path, input, library)
    var opened = try Self.open(path: path, input: input, bytes: bytes, library: library)
    if case .network(let network) = input, let first = bytes, !first.knowsRanges,
      Self.hasPassedItsSamples(opened, first, library)
    {
      var closing: UnsafeMutablePointer<AVFormatContext>? = opened
      library.calls.avformat_close_input(&closing)
      let whole = try NetworkBytes(first.url, network, library)
      try whole.keepAll()
      network.budget.loadWhole()
      bytes = whole
      opened = try Self.open(path: path, input: input, bytes: whole, library: library)
    }
    do throws(MediaError) {
      try Self.analyse(opened, path: path, input: input, bytes: bytes, library: library)
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
    self.bytes = bytes
    if case .network(let network) = input, isLive, formatName == "hls" { network.followsList() }
  }

  deinit { library.calls.avformat_close_input(&context) }

  /// True if the index was read and lies behind the packets that it lists.
  private static func hasPassedItsSamples(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ bytes: NetworkBytes,
    _ library: FFmpegLibrary
  ) -> Bool {
    let place = library.calls.avio_seek(bytes.context, 0, SEEK_CUR)
    guard let streams = context.pointee.streams else { return false }
    return (0..<Int(context.pointee.nb_streams)).contains { number in
      guard let stream = streams[number],
        let first = library.calls.avformat_index_get_entry(stream, 0)
      else { return false }
      return first.pointee.pos < place
    }
  }

  private static func connect(
    _ path: String, _ input: Input, _ library: FFmpegLibrary
  ) throws(MediaError) -> NetworkBytes? {
    guard case .network(let network) = input else { return nil }
    return try ListedAddress.connect(path, network, library)
  }

  private static func open(
    path: String, input: Input, bytes: NetworkBytes?, library: FFmpegLibrary
  ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
    var context = library.calls.avformat_alloc_context()
    guard let fresh = context else { throw .unreadable(path: path, reason: "out of memory") }
    fresh.pointee.probesize = probeLimit
    fresh.pointee.max_analyze_duration = analysisLimitInMicroseconds
    fresh.pointee.max_streams = streamLimit
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    var name = path
    var format: UnsafePointer<AVInputFormat>?
    input.limit(&options, library)
    switch input {
    case .file(let file):
      name = "file:" + path
      file.prepare(fresh)
    case .descriptor(let descriptor, let raw):
      name = ""
      fresh.pointee.io_open = refuseToOpen
      fresh.pointee.pb = descriptor.context
      fresh.pointee.max_analyze_duration = liveAnalysisLimitInMicroseconds
      if let raw { format = select(raw, &options, library) }
    case .network(let network):
      fresh.pointee.max_analyze_duration = liveAnalysisLimitInMicroseconds
      name = bytes?.url ?? path
      network.prepare(fresh, bytes, &options)
    }
    let code = input.waiting(for: bytes?.watched) {
      library.calls.avformat_open_input(&context, FileName.bytes(of: name), format, &options)
    }
    guard code >= 0, let context else { throw refusal(path, code, input, bytes, library) }
    return context
  }

  /// Returns the duration of the chosen stream in its time base, before an edit list shortens it. Nil if the file
  /// cannot be read a second time.
  func durationWithoutEdits() -> Int64? {
    var second = library.calls.avformat_alloc_context()
    guard isSeekable, let fresh = second else { return nil }
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    var name = path
    var place: Int64 = 0
    input.limit(&options, library)
    switch input {
    case .descriptor: return nil
    case .file(let file):
      // Reads from the beginning; afterwards the old position is restored.
      name = "file:" + path
      place = library.calls.avio_seek(file.context, 0, SEEK_CUR)
      _ = library.calls.avio_seek(file.context, 0, SEEK_SET)
      file.prepare(fresh)
    case .network(let network):
      // Uses the same connection, whose position is restored afterwards.
      name = bytes?.url ?? path
      place = library.calls.avio_seek(bytes?.context, 0, SEEK_CUR)
      _ = library.calls.avio_seek(bytes?.context, 0, SEEK_SET)
      network.prepare(fresh, bytes, &options)
    }
    defer {
      if let context = input.fileContext ?? bytes?.context {
        _ = library.calls.avio_seek(context, place, SEEK_SET)
      }
    }
    _ = library.calls.av_dict_set(&options, "ignore_editlist", "1", 0)
    let code = input.waiting(for: bytes?.watched) {
      library.calls.avformat_open_input(&second, FileName.bytes(of: name), nil, &options)
    }
    guard code >= 0 else { return nil }
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
    // FFmpeg 5 accepts either name of the second option, later versions only the last.
    _ = library.calls.av_dict_set(&options, "sample_rate", "\(raw.audio.sampleRate)", 0)
    _ = library.calls.av_dict_set(&options, "channels", "\(raw.audio.channelCount)", 0)
    _ = library.calls.av_dict_set(&options, "ch_layout", "\(raw.audio.channelCount)C", 0)
    return library.calls.av_find_input_format(raw.demuxerName)
  }

  /// Reads ahead to analyse the content. Raw samples carry no format, and probing would delay a live source of them
  /// by seconds.
  private static func analyse(
    _ context: UnsafeMutablePointer<AVFormatContext>, path: String, input: Input,
    bytes: NetworkBytes?, library: FFmpegLibrary
  ) throws(MediaError) {
    if case .descriptor(_, .some) = input { return }
    let code = input.waiting(for: bytes?.watched) {
      library.calls.avformat_find_stream_info(context, nil)
    }
    guard code >= 0 else { throw refusal(path, code, input, bytes, library) }
  }

  private static func refusal(
    _ path: String, _ code: Int32, _ input: Input, _ bytes: NetworkBytes?,
    _ library: FFmpegLibrary
  ) -> MediaError {
    if case .network(let network) = input, let excess = network.budget.excess {
      return .unsupported(path: path, reason: excess)
    }
    if let type = bytes?.contentType, ["text/html", "application/xhtml+xml"].contains(type) {
      return .notAudio(
        path: path, reason: "it is a web page; give the address of the stream or file on it")
    }
    let reason = library.reason(of: code)
    if reason.holds("not on whitelist") {
      return .notAudio(path: path, reason: "it is of a kind that Tutti does not play")
    }
    if case .network = input, code != cff_invalid_data {
      return .unreadable(path: path, reason: reason)
    }
    // A demuxer that FFmpeg chose by the file's name rejects other content with any error code.
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
      let code = input.waiting(for: bytes?.watched) {
        library.calls.av_read_frame(context, packet)
      }
      noteMetadata(context)
      guard code >= 0 else { return isPlainEnd(code) ? cff_eof : code }
      if packet.pointee.stream_index == stream.pointee.index { return 0 }
      library.calls.av_packet_unref(packet)
    }
  }

  /// True for the end of a live stream: FFmpeg reports a failure when a server closes the connection without having
  /// given the length of its answer.
  private func isPlainEnd(_ code: Int32) -> Bool {
    guard case .network = input else { return false }
    return code == cff_io_error && isLive
  }

  /// True if the read was abandoned.
  var isInterrupted: Bool {
    guard case .network(let network) = input else { return false }
    return network.isInterrupted
  }

  private func noteMetadata(_ context: UnsafeMutablePointer<AVFormatContext>) {
    let ofFile = context.pointee.event_flags & AVFMT_EVENT_FLAG_METADATA_UPDATED
    let ofStream = stream.pointee.event_flags & AVSTREAM_EVENT_FLAG_METADATA_UPDATED
    guard ofFile | ofStream != 0 else { return }
    context.pointee.event_flags &= ~AVFMT_EVENT_FLAG_METADATA_UPDATED
    stream.pointee.event_flags &= ~AVSTREAM_EVENT_FLAG_METADATA_UPDATED
    metadataVersion += 1
  }

  /// Moves to a packet at or before `timestamp`, in the stream's time base. Returns false if that failed.
  func seek(toTimestamp timestamp: Int64) -> Bool {
    guard let context else { return false }
    if let bytes = context.pointee.pb, bytes.pointee.error != 0 {
      // FFmpeg takes an abandoned read for a broken connection.
      bytes.pointee.error = 0
    }
    return input.waiting(for: bytes?.watched) {
      let place = reach(timestamp)
      return library.calls.avformat_seek_file(
        context, stream.pointee.index, .min, place, place, 0)
    } >= 0
  }

  /// Searches the place itself, over the network and in formats that are only consecutive packets. FFmpeg alone
  /// would read everything before it, or request many parts.
  private func reach(_ timestamp: Int64) -> Int64 {
    guard case .network = input, isSeekable else { return timestamp }
    if formatName == "flac" {
      searchInFLAC = searchInFLAC ?? FLACSearch(in: self)
      return searchInFLAC?.reach(timestamp) ?? timestamp
    }
    search = search ?? PlaceSearch(in: self)
    return search?.reach(timestamp) ?? timestamp
  }

  /// True if a seek can reach any place without reading everything before it.
  var isSeekable: Bool {
    guard let context else { return false }
    if formatName == "hls" { return context.pointee.duration > 0 }
    guard let bytes = context.pointee.pb else { return false }
    return bytes.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0
  }

  /// The file that is read; nil for any other input.
  var file: MediaFile? {
    guard case .file(let input) = input else { return nil }
    return input.file
  }

  /// True if the input comes over one network connection.
  var readsBytes: Bool { bytes != nil && formatName != "hls" }

  /// True if the stream has no end of its own.
  var isLive: Bool {
    guard let context, case .network = input else { return false }
    if formatName == "hls" { return context.pointee.duration <= 0 }
    return byteCount <= 0 && !isSeekable
  }

  /// Size as the medium states it; negative or 0 if unknown.
  var byteCount: Int64 {
    guard let bytes = context?.pointee.pb else { return 0 }
    return library.calls.avio_size(bytes)
  }

  /// True if the server is a radio station, to which the player reconnects when it closes the connection.
  var isRadio: Bool {
    isLive && (formatName == "hls" || bytes?.isStation ?? false)
  }

  /// True if the duration is written in the file or follows from its last timestamps.
  var durationIsKnown: Bool {
    guard let context, stream.pointee.duration > 0 else { return false }
    return context.pointee.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE
  }

  /// Approximate duration in microseconds; nil if it would be guessed from the bit rate.
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
}
