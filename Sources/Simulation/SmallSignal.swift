import Audio
import Sender

/// The test signal in a seventh of its bytes, as the small encoding for rooms with weak links. A packet tells where its frames
/// belong, and the decoder makes them anew, so that they can be checked one by one.
enum SmallSignal {
  static let codec = Codec.opus
  /// A place, a generation and a number of frames; the rest is as long as the music's small packets are.
  fileprivate static let payloadBytes = 400

  final class Encoder: AudioEncoder {
    let format: StreamFormat
    private let packetFrames: Int
    private var held: [Float] = []

    init(_ shape: SourceShape) {
      format = StreamFormat(
        codec: SmallSignal.codec, audio: shape.format, sampleType: shape.sampleType)
      packetFrames = shape.format.sampleRate / 50
    }

    func encode(
      _ frames: [Float], appendingTo packets: inout [EncodedPacket]
    ) throws(CodecError) {
      held += frames
      let length = packetFrames * format.audio.channelCount
      var start = 0
      while held.count - start >= length {
        packets.append(packet(held[start..<start + length]))
        start += length
      }
      held.removeFirst(start)
    }

    func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
      if !held.isEmpty { packets.append(packet(held[...])) }
      held = []
    }

    private func packet(_ samples: ArraySlice<Float>) -> EncodedPacket {
      let count = samples.count / format.audio.channelCount
      let place = TestSignal.place(samples)
      var payload: [UInt8] = []
      for number in [place.frame, Int64(place.generation), Int64(count)] {
        for shift in stride(from: 56, through: 0, by: -8) {
          payload.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
      }
      payload += [UInt8](repeating: 0, count: SmallSignal.payloadBytes - payload.count)
      return EncodedPacket(payload: payload, frameCount: count)
    }
  }

  final class Decoder: AudioDecoder {
    func decode(_ payload: [UInt8], appendingTo frames: inout [Float]) throws(CodecError) {
      guard payload.count == SmallSignal.payloadBytes else { throw .malformed("not a place") }
      let numbers = (0..<3).map { index in
        payload[index * 8..<index * 8 + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      }
      for frame in 0..<min(numbers[2], 65_536) {
        TestSignal.append(
          numbers[0] + frame, generation: UInt32(truncatingIfNeeded: numbers[1]), to: &frames)
      }
    }
  }
}
