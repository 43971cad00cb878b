import Clock
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
    bytes[22] |= 0xfe
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
