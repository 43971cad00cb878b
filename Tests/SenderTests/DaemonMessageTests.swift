import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// The messages between a household's two daemons.
@Suite struct DaemonMessageTests {
  private static func raw(_ bytes: [UInt8]) throws -> RawMessage {
    var framer = MessageFramer(limit: DaemonMessage.limit)
    framer.append(bytes)
    let next = try framer.next()
    let raw = try #require(next)
    #expect(framer.heldByteCount == 0)
    return raw
  }

  private static func decoded(_ bytes: [UInt8]) throws -> DaemonMessage {
    try DaemonMessage(decoding: raw(bytes))
  }

  private static let word = DaemonWord(
    word: .init(term: 3, leads: true), port: 8770, name: "home",
    sentAt: LocalTime(nanoseconds: 9_000_000_000),
    heard: .init(
      sentAt: LocalTime(nanoseconds: 5_000_000_000), at: LocalTime(nanoseconds: 8_999_000_000)))

  // MARK: - The specification

  /// The meanings of the examples in docs/protocol/second-sender.md.
  private static let meanings: [String: DaemonMessage] = [
    "daemon.word": .word(word),
    "daemon.word.first": .word(
      DaemonWord(
        word: .init(term: 2, leads: false), port: 0, name: "",
        sentAt: LocalTime(nanoseconds: 5_000_000_000), heard: nil)),
    "daemon.piece": .piece(file: 1, offset: 4096, [1, 2, 3]),
    "daemon.end": .end(file: 1, size: 4099),
  ]

  private static func isMet(by bytes: [UInt8], named name: String) -> Bool {
    guard let meaning = meanings[name], let found = try? decoded(bytes) else { return false }
    return found == meaning && meaning.encoded() == bytes
  }

  @Test func `each example of the daemons decodes to its meaning and encodes to its bytes`() throws
  {
    let examples = try Specification.daemonExamples()
    #expect(examples.map(\.name).sorted() == Self.meanings.keys.sorted())
    for example in examples {
      #expect(Self.isMet(by: example.bytes, named: example.name), "\(example.name)")
    }
  }

  @Test func `any changed byte of an example of the daemons is noticed`() throws {
    for example in try Specification.daemonExamples() {
      // Without its length and type: the framer's tests have those.
      for i in example.bytes.indices.dropFirst(MessageFramer.headerByteCount) {
        var changed = example.bytes
        changed[i] ^= 0x01
        #expect(!Self.isMet(by: changed, named: example.name), "\(example.name), byte \(i)")
      }
    }
  }

  // MARK: - Drawn messages

  @Test(arguments: seeds(100, of: 2_000))
  func `every message of a daemon comes back as it was sent`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for message in random.daemonMessages() {
      let bytes = message.encoded()
      #expect(bytes.count <= DaemonMessage.limit)
      #expect(try Self.decoded(bytes) == message)
    }
  }

  @Test(arguments: UInt64(1)...20)
  func `a message of a daemon cut short anywhere is refused`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for message in random.daemonMessages() {
      let raw = try Self.raw(message.encoded())
      var least = raw.payload.count
      // A shorter piece is a piece.
      if case .piece = message { least = 5 }
      for count in 0..<least {
        let cut = RawMessage(type: raw.type, payload: raw.payload.prefix(count))
        #expect(throws: DecodeError.self) { try DaemonMessage(decoding: cut) }
      }
    }
  }

  @Test func `bytes after the last field of a word and of an end are ignored`() throws {
    for message in [DaemonMessage.word(Self.word), .end(file: 2, size: 9)] {
      var raw = try Self.raw(message.encoded())
      raw.payload += [1, 2, 3]
      #expect(try DaemonMessage(decoding: raw) == message)
    }
  }

  /// Nothing traps, and what is taken can be sent on.
  @Test(arguments: seeds(50, of: 2_000))
  func `random bytes are a daemon's message or refused`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for type in UInt16(0x0601)...0x0603 {
      for _ in 0..<40 {
        var payload = random.bytes(Int.random(in: 0...80, using: &random))
        // So that some words come beyond their version.
        if random.next() % 2 == 0, !payload.isEmpty { payload[0] = DaemonMessage.version }
        let raw = RawMessage(type: type, payload: payload[...])
        guard let message = try? DaemonMessage(decoding: raw) else { continue }
        #expect(try Self.decoded(message.encoded()) == message)
      }
    }
  }

  // MARK: - Refusals

  @Test func `a word of another version is refused`() throws {
    var raw = try Self.raw(DaemonMessage.word(Self.word).encoded())
    raw.payload[raw.payload.startIndex] = DaemonMessage.version + 1
    #expect(throws: DecodeError.notThisProtocol) { try DaemonMessage(decoding: raw) }
  }

  @Test(arguments: [0x0001, 0x000e, 0x0201, 0x0303, 0x0501, 0x0600, 0x06ff, 0xffff] as [UInt16])
  func `a message of another type is refused`(type: UInt16) throws {
    let word = try Self.raw(DaemonMessage.word(Self.word).encoded())
    #expect(throws: DecodeError.notThisProtocol) {
      try DaemonMessage(decoding: RawMessage(type: type, payload: word.payload))
    }
  }

  @Test func `places beyond the largest file are refused`() throws {
    let limit = UInt32(DaemonMessage.fileLimit)
    for (type, name) in [(UInt16(0x0602), "offset"), (0x0603, "size")] {
      for (value, isTaken) in [(limit, true), (limit + 1, false), (UInt32.max, false)] {
        var writer = ByteWriter()
        writer.uint8(1)
        writer.uint32(value)
        let raw = RawMessage(type: type, payload: writer.bytes[...])
        if isTaken {
          #expect(throws: Never.self) { try DaemonMessage(decoding: raw) }
        } else {
          #expect(throws: DecodeError.outOfRange(field: name, value: Int64(value))) {
            try DaemonMessage(decoding: raw)
          }
        }
      }
    }
  }

  @Test func `a household's name is cut to its limit when sent, and refused when longer`() throws {
    var word = Self.word
    word.name = String(repeating: "é", count: ProtocolLimits.name)
    guard case .word(let taken) = try Self.decoded(DaemonMessage.word(word).encoded()) else {
      Issue.record("no word")
      return
    }
    #expect(taken.name == String(repeating: "é", count: ProtocolLimits.name / 2))
    word.name = ""
    var raw = try Self.raw(DaemonMessage.word(word).encoded())
    let text = [UInt8](repeating: 0x61, count: ProtocolLimits.name + 1)
    raw.payload.removeLast(2)
    raw.payload += [0, UInt8(text.count)]
    raw.payload += text
    #expect(throws: DecodeError.self) { try DaemonMessage(decoding: raw) }
  }

  @Test func `a household's name with control characters is refused`() throws {
    var word = Self.word
    word.name = "a"
    var raw = try Self.raw(DaemonMessage.word(word).encoded())
    raw.payload[raw.payload.endIndex - 1] = 0x0a
    #expect(throws: DecodeError.malformedText(field: "name")) {
      try DaemonMessage(decoding: raw)
    }
  }
}

extension SplitMix64 {
  /// One of each kind.
  fileprivate mutating func daemonMessages() -> [DaemonMessage] {
    let length = pick(0...DaemonMessage.limit - 16)
    return [
      .word(daemonWord()),
      .piece(
        file: UInt8(pick(0...255)), offset: pick(0...DaemonMessage.fileLimit),
        bytes(length)),
      .end(file: UInt8(pick(0...255)), size: pick(0...DaemonMessage.fileLimit)),
    ]
  }

  private mutating func daemonWord() -> DaemonWord {
    let word = Leadership.Word(
      term: pick(0...Term.max), leads: next() % 2 == 0, reachesRooms: next() % 2 == 0,
      returns: next() % 2 == 0)
    let heard = DaemonWord.Heard(sentAt: daemonTime(), at: daemonTime())
    var said = DaemonWord(
      word: word, port: pick(0...UInt16.max), name: text(atMost: ProtocolLimits.name),
      sentAt: daemonTime(), heard: next() % 2 == 0 ? heard : nil)
    said.isBehind = next() % 2 == 0
    return said
  }

  private mutating func daemonTime() -> LocalTime {
    LocalTime(nanoseconds: pick(ProtocolLimits.clockTime))
  }
}
