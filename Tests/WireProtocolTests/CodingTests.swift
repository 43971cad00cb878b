import Clock
import TestSupport
import Testing
import WireProtocol

/// Tests of every kind of message.
@Suite struct CodingTests {
  @Test(arguments: UInt64(1)...200)
  func `every message comes back as it was sent`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for message in random.controlMessages() {
      let raw = try #require(try onlyMessage(in: message.bytes))
      #expect(try ControlMessage.decode(raw) == message)
    }
    for message in random.mediaMessages() {
      let raw = try #require(try onlyMessage(in: message.bytes))
      #expect(try MediaMessage.decode(raw) == message)
    }
    for message in random.pairingMessages() {
      let raw = try #require(try onlyMessage(in: message.encoded()))
      #expect(try PairingMessage.decode(raw) == message)
    }
    for packet in random.timePackets() {
      #expect(packet.bytes.count == TimePacket.byteCount)
      #expect(try TimePacket.decode(packet.bytes[...], key: .example) == packet)
    }
  }

  @Test(arguments: UInt64(1)...20)
  func `bytes after the last field are ignored`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let more = random.bytes(9)
    for message in random.controlMessages() {
      var raw = try #require(try onlyMessage(in: message.bytes))
      raw.payload += more
      #expect(try ControlMessage.decode(raw) == message)
    }
    for message in random.mediaMessages() {
      var raw = try #require(try onlyMessage(in: message.bytes))
      raw.payload += more
      #expect(try MediaMessage.decode(raw) == message)
    }
    for message in random.pairingMessages() {
      var raw = try #require(try onlyMessage(in: message.encoded()))
      raw.payload += more
      #expect(try PairingMessage.decode(raw) == message)
    }
    for packet in random.timePackets() {
      #expect(try TimePacket.decode((packet.bytes + more)[...], key: .example) == packet)
    }
  }

  @Test(arguments: UInt64(1)...20)
  func `a message cut short anywhere is refused`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for message in random.controlMessages() {
      let raw = try #require(try onlyMessage(in: message.bytes))
      for count in 0..<raw.payload.count {
        let cut = RawMessage(type: raw.type, payload: raw.payload.prefix(count))
        #expect(throws: DecodeError.self) { try ControlMessage.decode(cut) }
      }
    }
    for message in random.mediaMessages() {
      let raw = try #require(try onlyMessage(in: message.bytes))
      for count in 0..<raw.payload.count {
        let cut = RawMessage(type: raw.type, payload: raw.payload.prefix(count))
        #expect(throws: DecodeError.self) { try MediaMessage.decode(cut) }
      }
    }
    for message in random.pairingMessages() {
      let raw = try #require(try onlyMessage(in: message.encoded()))
      for count in 0..<raw.payload.count {
        let cut = RawMessage(type: raw.type, payload: raw.payload.prefix(count))
        #expect(throws: DecodeError.self) { try PairingMessage.decode(cut) }
      }
    }
    for packet in random.timePackets() {
      for count in 0..<packet.bytes.count {
        #expect(throws: DecodeError.self) {
          try TimePacket.decode(packet.bytes.prefix(count), key: .example)
        }
      }
    }
  }

  @Test(arguments: UInt64(1)...50)
  func `flipped bits never trap, and what still decodes is in range`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let messages =
      random.controlMessages().map(\.bytes) + random.mediaMessages().map(\.bytes)
      + random.timePackets().map(\.bytes) + random.pairingMessages().map { $0.encoded() }
    for message in messages {
      for _ in 0..<60 {
        var bytes = message
        for _ in 0...random.pick(0...3) {
          bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << random.pick(UInt8(0)...7)
        }
        expectStable(bytes)
      }
    }
  }

  @Test func `a household's key has a length within its bound`() throws {
    func decoded(keyBytes count: Int) throws -> PairingMessage? {
      let length = [UInt8(count >> 8), UInt8(count & 0xff)]
      let payload = [0, 1, 0x68] + length + Array(repeating: UInt8(7), count: count)
      return try PairingMessage.decode(RawMessage(type: 0x0610, payload: payload[...]))
    }
    for count in [1, PairingMessage.keyLimit] {
      #expect(
        try decoded(keyBytes: count)
          == .household(name: "h", key: Array(repeating: 7, count: count)))
    }
    for count in [0, PairingMessage.keyLimit + 1] {
      #expect(throws: DecodeError.self) { try decoded(keyBytes: count) }
    }
    let long = PairingMessage.household(
      name: String(repeating: "n", count: 64), key: Array(repeating: 7, count: 600))
    #expect(long.encoded().count <= 4 + ProtocolLimits.openingMessage)
    #expect(try #require(try onlyMessage(in: long.encoded())).payload.count == 2 + 64 + 2 + 512)
  }

  @Test(arguments: UInt64(1)...50)
  func `random bytes never trap`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let ranges: [ClosedRange<UInt16>] = [
      1...8, 0x101...0x107, 0x201...0x201, 0x301...0x304, 0x401...0x404, 0x501...0x506,
      0x610...0x610, 0xffff...0xffff,
    ]
    let types = ranges.flatMap { Array($0) }
    for type in types {
      for _ in 0..<40 {
        let payload = random.bytes(Int.random(in: 0...200, using: &random))
        let length = UInt32(payload.count + 2)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        expectStable(header + [UInt8(type >> 8), UInt8(type & 0xff)] + payload)
        expectStable(payload)
      }
    }
  }

  /// Checks that everything that decodes can be encoded and decodes to the same again.
  private func expectStable(_ bytes: [UInt8]) {
    // Use the right tag, because otherwise nothing would be decoded.
    let fields = bytes.prefix(TimePacket.byteCount - 8)
    let tagged = fields + TimePacket.tag(of: fields, key: .example)
    if let packet = try? TimePacket.decode(tagged, key: .example) {
      #expect((try? TimePacket.decode(packet.bytes[...], key: .example)) == packet)
    }
    guard let raw = try? onlyMessage(in: bytes) else { return }
    if let message = try? ControlMessage.decode(raw) {
      #expect(
        (try? onlyMessage(in: message.bytes)).flatMap { try? ControlMessage.decode($0) } == message)
    }
    if let message = try? MediaMessage.decode(raw) {
      #expect(
        (try? onlyMessage(in: message.bytes)).flatMap { try? MediaMessage.decode($0) } == message)
    }
    if let message = try? PairingMessage.decode(raw) {
      let again = (try? onlyMessage(in: message.encoded())).flatMap {
        try? PairingMessage.decode($0)
      }
      #expect(again == message)
    }
    if let opening = try? OpeningMessage.decode(raw) {
      #expect((try? OpeningMessage.decode(raw)) == opening)
    }
  }
}
