import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@Suite struct ControlMessageCodingTests {
  @Test func `an unknown type is skipped`() throws {
    #expect(try ControlMessage.decode(RawMessage(type: 0x7777, payload: [1, 2, 3])) == nil)
  }

  @Test func `messages about another stream are skipped`() throws {
    for message in [
      anchor(), flush(), ControlMessage.flushed(flushed), .flushedAutomatically(flushed),
    ] {
      var bytes = message.bytes
      bytes[9] = 1
      let raw = try #require(try onlyMessage(in: bytes))
      #expect(try ControlMessage.decode(raw) == nil)
    }
  }

  @Test func `values out of range are refused`() throws {
    expectRefused(anchor(), at: 10, [0, 0, 0x80, 0], "half speed")
    expectRefused(anchor(), at: 14, [0xff], "media time before the beginning")
    expectRefused(anchor(), at: 14, [0x10, 0, 0, 0, 0, 0, 0, 1], "media time too late")
    expectRefused(anchor(), at: 22, [0x80], "group time too early")
    expectRefused(flush(), at: 10, [0x80], "generation")
    expectRefused(settings(), at: 6, [0x03, 0xe9], "volume 1001")
    expectRefused(limited(), at: 18, [0, 9], "volume limit 9")
    expectRefused(limited(), at: 18, [0x03, 0xe9], "volume limit 1001")
    expectRefused(settings(), at: 8, [2], "a volume limit that is missing")
    expectRefused(settings(), at: 9, [0], "channel map 0")
    expectRefused(settings(), at: 9, [5], "channel map 5")
    expectRefused(settings(), at: 10, [0, 0, 0, 0, 0x77, 0x35, 0x94, 0x01], "delay beyond 2 s")
    expectRefused(
      .credit(Credit(limit: 0, bufferedUntil: .zero, heldBytes: 0)), at: 6, [0x80], "limit")
  }

  @Test func `a sound out of range is refused`() {
    var setting = SoundSetting()
    setting.crossover = Crossover(.low, frequency: 80)
    setting.bands = [SoundBand(.peak, frequency: 1_000, gain: 1, q: 1)]
    let sound = ControlMessage.sound(setting)
    for (offset, bytes, what) in [
      (7, [3], "crossover part 3"), (8, [0, 199], "crossover of 19.9 Hz"),
      (8, [0x27, 0x11], "crossover of 1000.1 Hz"), (10, [0x03, 0xe9], "bass of 10.01 dB"),
      (12, [0xfc, 0x17], "treble of -10.01 dB"), (14, [0, 101], "balance of 101"),
      (16, [0xff, 0xff], "distance of -1 mm"), (16, [0x75, 0x31], "distance of 30.001 m"),
      (18, [2], "a band that is missing"), (18, [9], "nine bands"), (19, [5], "kind 5"),
      (20, [0, 0, 0, 199], "19.9 Hz"), (20, [0, 3, 0x0d, 0x41], "20,000.1 Hz"),
      (24, [0x04, 0xb1], "gain of 12.01 dB"), (26, [0, 9], "Q of 0.09"),
      (26, [0x03, 0xe9], "Q of 10.01"),
    ] as [(Int, [UInt8], Comment)] {
      expectRefused(sound, at: offset, bytes, what)
    }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func `a sound comes back from what a receiver keeps of it`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let sound = generator.sound()
    #expect(SoundSetting(hex: sound.hex) == sound)
    #expect(SoundSetting(hex: String(sound.hex.dropLast(2))) == nil)
    for text in ["", "1", "zz", String(repeating: "00", count: 300)] {
      #expect(SoundSetting(hex: text) == nil)
    }
  }

  @Test func `what is out of range is brought into it before it is sent`() throws {
    let sent = ControlMessage.settings(
      RoomSettings(volume: 5000, isMuted: false, delay: .seconds(-9), channelMap: .mono))
    let raw = try #require(try onlyMessage(in: sent.bytes))
    #expect(
      try ControlMessage.decode(raw)
        == .settings(
          RoomSettings(volume: 1000, isMuted: false, delay: .seconds(-2), channelMap: .mono)))
  }

  @Test func `unassigned bits of flags are ignored`() throws {
    var bytes = flush().bytes
    bytes[22] |= 0xfc
    let raw = try #require(try onlyMessage(in: bytes))
    #expect(try ControlMessage.decode(raw) == flush())
  }

  private let flushed = Flushed(generation: 1, from: .zero)

  private func anchor() -> ControlMessage {
    .anchor(Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 0), rate: .playing))
  }
  private func flush() -> ControlMessage {
    .flush(Flush(from: .zero, generation: 1, isRamped: false))
  }
  private func limited() -> ControlMessage {
    .settings(
      RoomSettings(
        volume: 1, isMuted: false, delay: .zero, channelMap: .stereo, volumeLimit: .full))
  }
  private func settings() -> ControlMessage {
    .settings(RoomSettings(volume: 1, isMuted: false, delay: .zero, channelMap: .stereo))
  }

  private func expectRefused(
    _ message: ControlMessage, at offset: Int, _ replacement: [UInt8], _ what: Comment
  ) {
    var bytes = message.bytes
    bytes.replaceSubrange(offset..<offset + replacement.count, with: replacement)
    #expect(throws: DecodeError.self, what) {
      try onlyMessage(in: bytes).flatMap { try ControlMessage.decode($0) }
    }
  }
}
