import Audio
import Clock
import WireProtocol

extension Meaning {
  static let clips: [(name: String, value: Meaning)] = [
    (
      "control.clip",
      .control(
        .clip(
          ClipOffer(
            number: 7, byteCount: 23, volume: nil,
            format: StreamFormat(
              codec: .opus, audio: AudioFormat(sampleRate: 48_000, channelCount: 1),
              sampleType: .int16,
              configuration: Array("OpusHead".utf8)
                + [1, 1, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0]))))
    ),
    (
      "control.clipPiece",
      .control(
        .clipPiece(
          ClipPiece(
            number: 7, offset: 0,
            bytes: Clip(
              format: StreamFormat(
                codec: .opus, audio: AudioFormat(sampleRate: 48_000, channelCount: 1),
                sampleType: .int16),
              packets: [
                EncodedPacket(
                  payload: counting(from: 0x70, 11), skippedFrames: 312, frameCount: 648)
              ]
            ).bytes)))
    ),
    (
      "control.clipTime",
      .control(
        .clipTime(
          ClipTime(number: 7, begins: GroupTime(nanoseconds: 90_000_250_000_000))))
    ),
    ("control.clipTime.withdrawn", .control(.clipTime(ClipTime(number: 7, begins: nil)))),
    (
      "control.clipState",
      .control(.clipState(ClipState(number: 7, received: 23, stage: .ready)))
    ),
    (
      "control.clipState.refused",
      .control(
        .clipState(
          ClipState(
            number: 8, received: 0, stage: .refused, detail: "it holds too many clips")))
    ),
  ]
}
