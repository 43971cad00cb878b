package import Audio
import CAVCodec

/// Decodes what FFmpeg's libavcodec decodes, one packet at a time. One thread at a time.
package final class FFmpegDecoder: AudioDecoder {
  /// Largest number of frames that one packet may decode to: the most that it may announce, and priming.
  private static let frameLimit = 2 * 65_536

  /// Codecs that `init` accepts if the library is installed.
  package static let decodable: [Codec] = [.mp3, .aac, .alac, .vorbis, .ac3, .eac3]

  /// True if the library is on this machine and has not failed to load. Loads nothing, so a receiver starts fast and
  /// stays small.
  package static var isInstalled: Bool { cav_is_installed() != 0 }

  private let calls: CAVCalls
  private let audio: AudioFormat
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private var input: [UInt8] = []

  /// Loads the library with the first stream that needs it.
  ///
  /// - Throws: `unsupported` if the library cannot be loaded or lacks the codec, `malformed` if the configuration is
  ///   not that of the codec.
  package init(format: StreamFormat) throws(CodecError) {
    guard let calls = cav_load()?.pointee else {
      throw .unsupported("libavcodec\(cav_major): \(String(cString: cav_load_failure()))")
    }
    self.calls = calls
    audio = format.audio
    packet = calls.av_packet_alloc()
    frame = calls.av_frame_alloc()
    guard packet != nil, frame != nil else {
      throw .failed(call: "av_frame_alloc", reason: "out of memory")
    }
    try open(format)
  }

  deinit {
    calls.avcodec_free_context(&context)
    calls.av_packet_free(&packet)
    calls.av_frame_free(&frame)
  }

  private func open(_ format: StreamFormat) throws(CodecError) {
    guard let id = Self.identifier(of: format.codec),
      let codec = calls.avcodec_find_decoder(id)
    else { throw .unsupported("libavcodec\(cav_major) has no decoder for \(format.codec)") }
    let header = try CodecHeader.library(of: format)
    context = calls.avcodec_alloc_context3(codec)
    guard let context else { throw .failed(call: "avcodec_alloc_context3", reason: "no memory") }
    context.pointee.thread_count = 1
    context.pointee.max_samples = Int64(Self.frameLimit)
    context.pointee.sample_rate = Int32(clamping: format.audio.sampleRate)
    context.pointee.ch_layout.order = AV_CHANNEL_ORDER_UNSPEC
    context.pointee.ch_layout.nb_channels = Int32(clamping: format.audio.channelCount)
    try give(header, to: context)
    let code = calls.avcodec_open2(context, codec, nil)
    guard code >= 0 else { throw .malformed("\(format.codec) configuration: \(reason(of: code))") }
  }

  /// Gives the codec its configuration, which the library frees with the context.
  private func give(
    _ header: [UInt8], to context: UnsafeMutablePointer<AVCodecContext>
  ) throws(CodecError) {
    guard !header.isEmpty else { return }
    guard let memory = calls.av_mallocz(header.count + Int(cav_padding)) else {
      throw .failed(call: "av_mallocz", reason: "no memory")
    }
    memory.copyMemory(from: header, byteCount: header.count)
    context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
    context.pointee.extradata_size = Int32(header.count)
  }

  private static func identifier(of codec: Codec) -> AVCodecID? {
    switch codec {
    case .pcm, .flac, .opus: nil
    case .mp3: AV_CODEC_ID_MP3
    case .aac: AV_CODEC_ID_AAC
    case .alac: AV_CODEC_ID_ALAC
    case .vorbis: AV_CODEC_ID_VORBIS
    case .ac3: AV_CODEC_ID_AC3
    case .eac3: AV_CODEC_ID_EAC3
    }
  }

  package func decode(
    _ payload: [UInt8], appendingTo frames: inout [Float]
  ) throws(CodecError) {
    guard let context, let frame else { return }
    // An empty packet would end the stream.
    guard !payload.isEmpty else { throw .malformed("an empty packet") }
    let before = frames.count
    try send(payload, to: context)
    while true {
      let code = calls.avcodec_receive_frame(context, frame)
      if code == cav_again || code == cav_eof { return }
      guard code >= 0 else { throw .malformed(reason(of: code)) }
      defer { calls.av_frame_unref(frame) }
      try append(frame.pointee, to: &frames)
      guard (frames.count - before) / audio.channelCount <= Self.frameLimit else {
        throw .malformed("one packet gives more than \(Self.frameLimit) frames")
      }
    }
  }

  /// Sends a packet, padded because the library reads a few bytes beyond its end. The library keeps a copy.
  private func send(
    _ payload: [UInt8], to context: UnsafeMutablePointer<AVCodecContext>
  ) throws(CodecError) {
    guard let packet, let size = Int32(exactly: payload.count) else { return }
    input.removeAll(keepingCapacity: true)
    input += payload
    input += repeatElement(0, count: Int(cav_padding))
    let code = input.withUnsafeMutableBufferPointer { bytes in
      packet.pointee.data = bytes.baseAddress
      packet.pointee.size = size
      defer { packet.pointee.data = nil }
      return calls.avcodec_send_packet(context, packet)
    }
    guard code >= 0 else { throw .malformed(reason(of: code)) }
  }

  private func append(_ frame: AVFrame, to frames: inout [Float]) throws(CodecError) {
    let channels = Int(frame.ch_layout.nb_channels)
    guard channels == audio.channelCount, Int(frame.sample_rate) == audio.sampleRate else {
      throw .malformed(
        "\(channels) channels at \(frame.sample_rate) Hz in a stream of \(audio.channelCount) "
          + "at \(audio.sampleRate) Hz")
    }
    guard let samples = DecodedSamples(frame) else {
      throw .unsupported("samples of libavcodec's format \(frame.format)")
    }
    samples.append(to: &frames)
  }

  private func reason(of code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    _ = calls.av_strerror(code, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
