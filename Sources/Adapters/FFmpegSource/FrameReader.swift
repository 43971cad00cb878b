import CFFmpeg
import Sender

/// Reads the decoded frames of one stream in order, and numbers them: the first that a decoder gives from the beginning
/// of the file, after the encoder's delay, is number 0.
final class FrameReader {
  /// Frames as FFmpeg decoded them; valid until the next call of `next`.
  struct Block {
    let frame: UnsafeMutablePointer<AVFrame>
    /// Index of the block's first audible frame.
    let offset: Int
    let count: Int
  }

  /// Consecutive packets without frames after which the rest counts as broken.
  private static let faultLimit = 500
  /// Largest number of frames per channel that one packet may decode to.
  private static let blockLimit: Int64 = 1 << 20

  let demuxer: Demuxer
  /// The number of the next frame.
  private(set) var position: Int64 = 0
  /// Position of the first packet in the file.
  private(set) var firstPacketOffset: Int64?
  private var firstPacketTimestamp: Int64?
  /// Reason why there are no more frames, unless the stream simply ended.
  private(set) var fault: String?

  private let library: FFmpegLibrary
  private var codec: UnsafeMutablePointer<AVCodecContext>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  /// The first frame after opening or a seek, if it is still to be given.
  private var waitingFrame: UnsafeMutablePointer<AVFrame>?
  private var faultCount = 0
  /// The packets of a live stream up to its first frame; nil once a frame was given.
  private var recorded: [RawPackets.Packet]? = []
  /// Packets to decode before the demuxer's next ones.
  private var queued: ArraySlice<[UInt8]> = []
  private var firstFrameToGive: Int64 = 0
  /// True while frames are skipped after a seek: their numbers come from their timestamps.
  private var followsTimestamps = false
  /// Nil if timestamps do not identify frames.
  private var timestamps: FrameTimestamps?

  init(_ demuxer: Demuxer) throws(MediaError) {
    self.demuxer = demuxer
    library = demuxer.library
    let opened = try Self.openDecoder(of: demuxer)
    codec = opened
    packet = library.calls.av_packet_alloc()
    frame = library.calls.av_frame_alloc()
    waitingFrame = decodeNext()
    guard let waitingFrame else {
      throw .notAudio(
        path: demuxer.path, reason: fault ?? "there are no frames in it; is the file complete?")
    }
    timestamps = FrameTimestamps(first: waitingFrame.pointee, of: demuxer)
  }

  deinit {
    library.calls.av_frame_free(&frame)
    library.calls.av_packet_free(&packet)
    library.calls.avcodec_free_context(&codec)
  }

  private static func openDecoder(
    of demuxer: Demuxer
  ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
    let calls = demuxer.library.calls
    var context = calls.avcodec_alloc_context3(demuxer.decoder)
    guard let fresh = context else {
      throw .unreadable(path: demuxer.path, reason: "out of memory")
    }
    var code = calls.avcodec_parameters_to_context(fresh, demuxer.stream.pointee.codecpar)
    fresh.pointee.pkt_timebase = demuxer.stream.pointee.time_base
    // One thread, so that FFmpeg's log lines can be attributed, and because audio decodes fast enough.
    fresh.pointee.thread_count = 1
    fresh.pointee.max_samples = blockLimit
    // FFmpeg counts frames for the first packet of Vorbis although it has none, and cuts as many off the end of a
    // stream of one page. With this flag, the stream's length gives the end.
    if fresh.pointee.codec_id == AV_CODEC_ID_VORBIS, demuxer.formatName == "ogg",
      demuxer.durationIsKnown
    {
      fresh.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL
    }
    // With this option, the noise that AC-3 and E-AC-3 decoders add depends on the packet alone, so that frames after a
    // seek equal those of playing. Other decoders do not know the option.
    var options: OpaquePointer?
    defer { calls.av_dict_free(&options) }
    _ = calls.av_dict_set(&options, "cons_noisegen", "1", 0)
    if code >= 0 { code = calls.avcodec_open2(fresh, demuxer.decoder, &options) }
    guard code >= 0 else {
      calls.avcodec_free_context(&context)
      throw .unsupported(path: demuxer.path, reason: demuxer.library.reason(of: code))
    }
    return fresh
  }

  /// The first frame of the file, for its format. Nil once it has been given.
  var firstFrame: AVFrame? { waitingFrame?.pointee }
  var decoderContext: AVCodecContext? { codec?.pointee }
  var canSeekByTimestamp: Bool { timestamps != nil }

  /// Frames that precede the first audible one, according to the container.
  var encoderDelay: Int64? {
    guard let frame = waitingFrame?.pointee, frame.pts != cff_no_pts,
      let firstPacketTimestamp, firstPacketTimestamp != cff_no_pts
    else { return nil }
    let base = demuxer.stream.pointee.time_base
    guard base.num > 0, base.den > 0, frame.pts >= firstPacketTimestamp else { return nil }
    return library.calls.av_rescale_q(
      frame.pts &- firstPacketTimestamp, base, AVRational(num: 1, den: frame.sample_rate))
  }

  /// Returns the next frames, or nil at the end.
  func next() -> Block? {
    recorded = nil
    while let frame = takeFrame() {
      if followsTimestamps, let number = timestamps?.number(of: frame.pointee, library) {
        position = number
      }
      let count = Int(frame.pointee.nb_samples)
      let start = position
      position += Int64(count)
      if position <= firstFrameToGive { continue }
      followsTimestamps = false
      let offset = Int(max(0, firstFrameToGive - start))
      return Block(frame: frame, offset: offset, count: count - offset)
    }
    return nil
  }

  /// Returns the packets that were read for the first frame of a live stream, before any frame was given out. The
  /// caller continues to read from the demuxer. Empty if that is not possible.
  func takeRecorded() -> [RawPackets.Packet] {
    defer { recorded = nil }
    return recorded ?? []
  }

  /// Continues after others have read from the demuxer: decodes the `waiting` packets, which they did not use, then the
  /// next ones. The packets in `lead`, which they did use, only prepare the decoder.
  func goOn(after lead: [[UInt8]], with waiting: [[UInt8]]) {
    guard let codec, let frame else { return }
    library.calls.avcodec_flush_buffers(codec)
    (fault, faultCount, waitingFrame, recorded) = (nil, 0, nil, nil)
    for payload in lead {
      _ = send(payload, to: codec)
      while library.calls.avcodec_receive_frame(codec, frame) >= 0 {}
    }
    queued = waiting[...]
  }

  /// Makes `number` the next frame that `next` gives; it must not lie before `position`.
  func skip(to number: Int64) { firstFrameToGive = number }

  /// Seeks to `number` by timestamps. Returns false if they do not lead to a place before it; the reader is then
  /// unusable.
  func seek(to number: Int64, decodingBefore lead: Int64) -> Bool {
    guard let codec, let timestamps,
      demuxer.seek(toTimestamp: timestamps.timestamp(of: max(0, number - lead), library))
    else { return false }
    library.calls.avcodec_flush_buffers(codec)
    fault = nil
    faultCount = 0
    waitingFrame = decodeNext()
    guard let waitingFrame, let found = timestamps.number(of: waitingFrame.pointee, library),
      found <= number
    else { return false }
    position = found
    firstFrameToGive = number
    followsTimestamps = true
    return true
  }

  private func takeFrame() -> UnsafeMutablePointer<AVFrame>? {
    guard let waiting = waitingFrame else { return decodeNext() }
    waitingFrame = nil
    return waiting
  }

  private func decodeNext() -> UnsafeMutablePointer<AVFrame>? {
    guard let codec, let frame else { return nil }
    while faultCount < Self.faultLimit {
      let code = library.calls.avcodec_receive_frame(codec, frame)
      if code >= 0 {
        guard isSound(frame.pointee) else { continue }
        faultCount = 0
        return frame
      }
      if code == cff_again {
        feed(codec)
      } else if code == cff_eof {
        return nil
      } else {
        noteFault(code)
      }
    }
    return nil
  }

  /// True if a frame has samples and a format; others carry no information.
  private func isSound(_ frame: AVFrame) -> Bool {
    let isSound =
      frame.nb_samples > 0 && frame.sample_rate > 0 && frame.ch_layout.nb_channels > 0
      && frame.extended_data != nil
    if !isSound { faultCount += 1 }
    return isSound
  }

  private func feed(_ codec: UnsafeMutablePointer<AVCodecContext>) {
    guard let packet else { return }
    if let payload = queued.popFirst() {
      let sent = send(payload, to: codec)
      return sent < 0 ? noteFault(sent) : ()
    }
    let read = demuxer.readPacket(into: packet)
    guard read >= 0 else {
      if read != cff_eof, read != cff_exit { fault = library.reason(of: read) }
      _ = library.calls.avcodec_send_packet(codec, nil)
      return
    }
    firstPacketOffset = firstPacketOffset ?? packet.pointee.pos
    firstPacketTimestamp = firstPacketTimestamp ?? packet.pointee.pts
    if recorded != nil, demuxer.isLive { recorded?.append(.init(packet, library)) }
    let sent = library.calls.avcodec_send_packet(codec, packet)
    library.calls.av_packet_unref(packet)
    // A single broken packet is skipped, so that playback continues.
    if sent < 0 { noteFault(sent) }
  }

  /// Sends a packet, padded because the decoder reads a few bytes beyond its end. The decoder keeps a copy.
  private func send(
    _ payload: [UInt8], to codec: UnsafeMutablePointer<AVCodecContext>
  ) -> Int32 {
    guard let packet, !payload.isEmpty else { return 0 }
    var padded = payload + [UInt8](repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
    return padded.withUnsafeMutableBufferPointer { bytes in
      packet.pointee.data = bytes.baseAddress
      packet.pointee.size = Int32(clamping: payload.count)
      defer { library.calls.av_packet_unref(packet) }
      return library.calls.avcodec_send_packet(codec, packet)
    }
  }

  private func noteFault(_ code: Int32) {
    faultCount += 1
    if faultCount == Self.faultLimit { fault = library.reason(of: code) }
  }
}
