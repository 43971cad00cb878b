package import Audio
import COpus

/// Decodes Opus at 48 kHz, 1 to 8 channels, in the channel order of WAVE.
package final class OpusDecoder: AudioDecoder {
  /// 120 ms, the length of the longest possible packet.
  private static let maximumPacketFrames = 5_760

  private let handle: OpaquePointer
  private let channelCount: Int
  private var scratch: [Float]

  /// - Throws: `CodecError.malformed` if the format's configuration is not a valid OpusHead.
  package init(format: StreamFormat) throws(CodecError) {
    let head = try OpusHead(parsing: format.configuration)
    guard format.audio.sampleRate == 48_000 else {
      throw .unsupported("Opus at \(format.audio.sampleRate) Hz; it runs at 48000 Hz")
    }
    guard head.channelCount == format.audio.channelCount else {
      throw .malformed(
        "OpusHead has \(head.channelCount) channels, the format \(format.audio.channelCount)")
    }
    // The library writes channel i from coded channel mapping[i], so a mapping in the order of WAVE
    // gives that order.
    let order = OpusHead.vorbisOrder(ofChannels: head.channelCount)
    let mapping = order.map { head.mapping[$0] }
    var status: Int32 = 0
    let created = opus_multistream_decoder_create(
      48_000, Int32(head.channelCount), Int32(head.streamCount), Int32(head.coupledCount),
      mapping, &status)
    guard let created else { throw opusFailure("opus_multistream_decoder_create", status) }
    handle = created
    channelCount = head.channelCount
    scratch = [Float](repeating: 0, count: Self.maximumPacketFrames * head.channelCount)
    let gained = opus_ms_decoder_set_gain(created, Int32(head.gain))
    guard gained == OPUS_OK else { throw opusFailure("OPUS_SET_GAIN", gained) }
  }

  deinit { opus_multistream_decoder_destroy(handle) }

  package func decode(
    _ payload: [UInt8], appendingTo frames: inout [Float]
  ) throws(CodecError) {
    // An empty packet would make the library conceal a loss.
    guard !payload.isEmpty, let length = Int32(exactly: payload.count) else {
      throw .malformed("an Opus packet of \(payload.count) bytes")
    }
    let count = opus_multistream_decode_float(
      handle, payload, length, &scratch, Int32(Self.maximumPacketFrames), 0)
    guard count >= 0 else {
      throw .malformed("Opus packet: \(String(cString: opus_strerror(count)))")
    }
    frames.append(contentsOf: scratch[0..<Int(count) * channelCount])
  }
}

func opusFailure(_ call: String, _ status: Int32) -> CodecError {
  .failed(call: call, reason: String(cString: opus_strerror(status)))
}
