package import Audio
import COpus

package struct OpusSettings: Hashable, Sendable {
  /// Frames per packet at 48 kHz, 2.5 to 60 ms; the raw value is their number.
  package enum PacketLength: Int, CaseIterable, Sendable {
    case frames120 = 120
    case frames240 = 240
    case frames480 = 480
    case frames960 = 960
    case frames1920 = 1_920
    case frames2880 = 2_880
  }

  package var packetLength: PacketLength
  /// Bits per second over all channels, 6 000 to 510 000 per channel; nil lets the library choose.
  package var bitrate: Int?
  /// 0 to 10; higher values cost more time.
  package var complexity: Int

  package init(
    packetLength: PacketLength = .frames960, bitrate: Int? = nil, complexity: Int = 5
  ) {
    self.packetLength = packetLength
    self.bitrate = bitrate
    self.complexity = complexity
  }
}

/// Encodes to Opus at 48 kHz, 1 to 8 channels, in the channel order of WAVE. Gapless: the valid
/// frames of all packets are exactly the input frames.
package final class OpusEncoder: AudioEncoder {
  /// Bytes of the largest packet of one stream, as the library advises (`opus_encode`).
  private static let maximumStreamBytes = 4_000

  package let format: StreamFormat
  private let handle: OpaquePointer
  private let packetFrames: Int
  /// For each channel in the library's order, the input's channel.
  private let order: [Int]
  private var scratch: [UInt8]
  private var pending: [Float] = []
  /// Frames of the codec's delay that are still to be put out.
  private var framesToSkip: Int
  /// Input frames that are not yet valid frames of a packet.
  private var framesOwed = 0
  private var isFinished = false

  package init(
    channelCount: Int, sampleType: SampleType = .float32, settings: OpusSettings = OpusSettings()
  ) throws(CodecError) {
    guard (1...AudioFormat.maximumChannelCount).contains(channelCount) else {
      throw .unsupported("Opus with \(channelCount) channels")
    }
    var streams: Int32 = 0
    var coupled: Int32 = 0
    var mapping = [UInt8](repeating: 0, count: channelCount)
    var status: Int32 = 0
    let created = opus_multistream_surround_encoder_create(
      48_000, Int32(channelCount), channelCount <= 2 ? 0 : 1, &streams, &coupled, &mapping,
      OPUS_APPLICATION_AUDIO, &status)
    guard let created else { throw opusFailure("opus_multistream_surround_encoder_create", status) }
    let preSkip: Int
    do throws(CodecError) {
      preSkip = try Self.configure(created, settings)
    } catch {
      opus_multistream_encoder_destroy(created)
      throw error
    }
    let head = OpusHead(
      preSkip: preSkip, inputSampleRate: 48_000, gain: 0, streamCount: Int(streams),
      coupledCount: Int(coupled), mapping: mapping)
    handle = created
    format = StreamFormat(
      codec: .opus, audio: AudioFormat(sampleRate: 48_000, channelCount: channelCount),
      sampleType: sampleType, configuration: head.encoded)
    packetFrames = settings.packetLength.rawValue
    order = Self.inverse(OpusHead.vorbisOrder(ofChannels: channelCount))
    scratch = [UInt8](repeating: 0, count: Self.maximumStreamBytes * Int(streams))
    framesToSkip = preSkip
  }

  deinit { opus_multistream_encoder_destroy(handle) }

  /// Returns the delay of the codec in frames.
  private static func configure(
    _ handle: OpaquePointer, _ settings: OpusSettings
  ) throws(CodecError) -> Int {
    let bitrate = settings.bitrate.map { Int32(clamping: $0) } ?? OPUS_AUTO
    var status = opus_ms_encoder_set_bitrate(handle, bitrate)
    guard status == OPUS_OK else { throw opusFailure("OPUS_SET_BITRATE(\(bitrate))", status) }
    status = opus_ms_encoder_set_complexity(handle, Int32(clamping: settings.complexity))
    guard status == OPUS_OK else {
      throw opusFailure("OPUS_SET_COMPLEXITY(\(settings.complexity))", status)
    }
    var lookahead: Int32 = 0
    status = opus_ms_encoder_get_lookahead(handle, &lookahead)
    guard status == OPUS_OK else { throw opusFailure("OPUS_GET_LOOKAHEAD", status) }
    return Int(lookahead)
  }

  private static func inverse(_ order: [Int]) -> [Int] {
    order.indices.map { place in order.firstIndex(of: place) ?? place }
  }

  package func encode(
    _ frames: [Float], appendingTo packets: inout [EncodedPacket]
  ) throws(CodecError) {
    precondition(!isFinished, "frames after the end of the stream")
    let channelCount = format.audio.channelCount
    precondition(frames.count.isMultiple(of: channelCount), "half a frame")
    framesOwed += frames.count / channelCount
    pending += frames
    try encodePending(appendingTo: &packets)
  }

  package func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    guard !isFinished else { return }
    isFinished = true
    while framesOwed > 0 {
      let missing = packetFrames * format.audio.channelCount - pending.count
      pending += [Float](repeating: 0, count: max(0, missing))
      try encodePending(appendingTo: &packets)
    }
    pending = []
  }

  private func encodePending(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    let step = packetFrames * format.audio.channelCount
    var start = 0
    defer { pending.removeFirst(start) }
    while pending.count - start >= step {
      packets.append(try makePacket(inLibraryOrder(pending[start..<start + step])))
      start += step
    }
  }

  private func makePacket(_ frames: [Float]) throws(CodecError) -> EncodedPacket {
    let size = opus_multistream_encode_float(
      handle, frames, Int32(packetFrames), &scratch, Int32(scratch.count))
    guard size > 0 else { throw opusFailure("opus_multistream_encode_float", size) }
    let skipped = min(framesToSkip, packetFrames)
    let valid = min(framesOwed, packetFrames - skipped)
    framesToSkip -= skipped
    framesOwed -= valid
    return EncodedPacket(
      payload: Array(scratch[0..<Int(size)]), skippedFrames: skipped, frameCount: valid)
  }

  private func inLibraryOrder(_ frames: ArraySlice<Float>) -> [Float] {
    guard order.count > 2 else { return Array(frames) }
    var reordered: [Float] = []
    reordered.reserveCapacity(frames.count)
    for frame in stride(from: frames.startIndex, to: frames.endIndex, by: order.count) {
      for channel in order { reordered.append(frames[frame + channel]) }
    }
    return reordered
  }
}
