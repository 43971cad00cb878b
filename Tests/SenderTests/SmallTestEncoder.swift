import Audio
import Clock
import Sender

/// Packets of 20 ms, one byte for each, with a delay, as Opus has one.
final class SmallTestEncoder: AudioEncoder {
  let format: StreamFormat
  private let packetFrames: Int
  private var held: Int
  private var skipped = 7
  private var owed = 0

  init(_ shape: SourceShape) {
    format = StreamFormat(codec: .opus, audio: shape.format, sampleType: .float32)
    packetFrames = shape.format.sampleRate / 50
    held = skipped
  }

  func encode(_ frames: [Float], appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    owed += frames.count / format.audio.channelCount
    held += frames.count / format.audio.channelCount
    while held >= packetFrames {
      let count = min(owed, packetFrames - skipped)
      packets.append(EncodedPacket(payload: [1], skippedFrames: skipped, frameCount: count))
      owed -= count
      skipped = 0
      held -= packetFrames
    }
  }

  func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    if owed > 0 {
      packets.append(EncodedPacket(payload: [2], skippedFrames: skipped, frameCount: owed))
    }
    owed = 0
  }
}
