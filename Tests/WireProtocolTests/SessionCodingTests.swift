import Audio
import Clock
import Testing
import WireProtocol

@Suite struct SessionCodingTests {
  @Test func `a hello of a later version that only appends can be read`() throws {
    var message = try hello(version: 9)
    message.payload += [1, 2, 3]
    guard case .control(let hello) = try OpeningMessage.decode(message) else {
      Issue.record("not a control connection")
      return
    }
    #expect(hello.version == 9)
    #expect(ProtocolVersion.common(withNewest: hello.version) == 2)
  }

  @Test func `a hello of another version that cannot be read tells its version`() throws {
    var message = try hello(version: 9)
    message.payload = message.payload.prefix(6)
    #expect(throws: DecodeError.unsupportedVersion(9)) { try OpeningMessage.decode(message) }
    message = try hello(version: 2)
    message.payload = message.payload.prefix(6)
    #expect(throws: DecodeError.truncated(field: "flags")) { try OpeningMessage.decode(message) }
  }

  @Test func `no version is shared with a sender of version zero`() {
    #expect(ProtocolVersion.common(withNewest: 0) == nil)
  }

  @Test func `another protocol is told apart`() throws {
    var message = try hello(version: 2)
    message.payload[message.payload.startIndex] = 0x47
    #expect(throws: DecodeError.notThisProtocol) { try OpeningMessage.decode(message) }
    let packet = RawMessage(type: 0x0303, payload: [])
    #expect(throws: DecodeError.notThisProtocol) { try OpeningMessage.decode(packet) }
  }

  @Test func `a reason that only a later version knows is another one, with its words`() throws {
    for reason in [0, 8, 200] as [UInt8] {
      var farewell = ControlMessage.goodbye(Goodbye(reason: .timeout, detail: "moon")).bytes
      farewell[6] = reason
      let goodbye = try #require(try onlyMessage(in: farewell))
      #expect(
        try ControlMessage.decode(goodbye) == .goodbye(Goodbye(reason: .other, detail: "moon")))
      var answer = ControlMessage.refuse(Refusal(reason: .busy, detail: "moon")).bytes
      answer[6] = reason
      let refusal = try #require(try onlyMessage(in: answer))
      #expect(
        try ControlMessage.decode(refusal) == .refuse(Refusal(reason: .other, detail: "moon")))
    }
  }

  @Test func `codecs of a later version are left out`() throws {
    var bytes = welcome([.pcm, .opus]).bytes
    bytes[bytes.count - 5] = 99
    let raw = try #require(try onlyMessage(in: bytes))
    #expect(try ControlMessage.decode(raw) == welcome([.opus]))
  }

  @Test func `text that is not plain UTF-8 is refused`() throws {
    let message = ControlMessage.goodbye(Goodbye(reason: .shutdown, detail: "abc"))
    for bad: [UInt8] in [[0xc3, 0x28], [0xff], [0x1b], [0x0a], [0x7f], [0xc2, 0x9b]] {
      var bytes = message.bytes
      bytes.replaceSubrange(10..<10 + bad.count, with: bad)
      let raw = try #require(try onlyMessage(in: bytes))
      #expect(throws: DecodeError.malformedText(field: "detail")) { try ControlMessage.decode(raw) }
    }
  }

  @Test func `text for a terminal neither controls it nor turns it around`() {
    #expect("a\u{1B}[2J\u{9B}\u{7}\r\nb".shownPlainly == "a [2J    b")
    #expect("\u{202E}3pm.\u{2066}exe\u{2069}\u{2028}".shownPlainly == " 3pm. exe  ")
    #expect("Ünïcödé 🎵 مرحبا\u{200F}".shownPlainly == "Ünïcödé 🎵 مرحبا\u{200F}")
  }

  @Test func `text is made plain and cut between characters before it is sent`() throws {
    let detail = "two\nlines\u{1b} " + String(repeating: "é", count: 200)
    let sent = ControlMessage.refuse(Refusal(reason: .busy, detail: detail))
    let raw = try #require(try onlyMessage(in: sent.bytes))
    let expected = "two lines  " + String(repeating: "é", count: 122)
    #expect(
      try ControlMessage.decode(raw) == .refuse(Refusal(reason: .busy, detail: expected)))
  }

  private func hello(version: UInt16) throws -> RawMessage {
    let hello = Hello(
      version: version, senderID: .counting(from: 1), senderName: "x", session: 1, clockID: 2,
      clockPort: 3)
    return try #require(try onlyMessage(in: ControlMessage.hello(hello).bytes))
  }

  private func welcome(_ codecs: [Codec]) -> ControlMessage {
    .welcome(
      Welcome(
        version: 2, receiverID: .counting(from: 1), name: "a", model: "b",
        capacity: Capacity(bytes: 1, duration: .zero), codecs: codecs,
        settings: RoomSettings(volume: 0, isMuted: false, delay: .zero, channelMap: .stereo),
        held: nil))
  }
}
