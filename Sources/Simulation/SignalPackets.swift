package import Audio
package import Sender

/// The test signal in packets that only some rooms decode: PCM under another name.
package final class SignalPackets: PacketSource {
  package static let codec = Codec.alac

  package let format: StreamFormat
  private let source: SignalSource
  private let encoder: PCMEncoder

  init(_ source: SignalSource) {
    self.source = source
    encoder = PCMEncoder(audio: source.format, sampleType: source.sampleType)
    format = StreamFormat(
      codec: Self.codec, audio: source.format, sampleType: source.sampleType)
  }

  package var position: Int64 { source.position }

  package func next() throws(MediaError) -> EncodedPacket? {
    var frames: [Float] = []
    var packets: [EncodedPacket] = []
    try source.read(source.format.sampleRate / 50, appendingTo: &frames)
    do {
      try encoder.encode(frames, appendingTo: &packets)
      if packets.isEmpty { try encoder.finish(appendingTo: &packets) }
    } catch {
      throw .broken(path: "signal", reason: "\(error)")
    }
    return packets.first
  }

  package func seek(toFrame frame: Int64) throws(MediaError) { try source.seek(toFrame: frame) }

  static func makeDecoder(_ format: StreamFormat) throws(CodecError) -> PCMDecoder {
    var plain = format
    if format.codec == codec { plain.codec = .pcm }
    return try PCMDecoder(format: plain)
  }
}
