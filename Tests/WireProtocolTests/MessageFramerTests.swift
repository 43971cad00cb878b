import Clock
import TestSupport
import Testing
import WireProtocol

@Suite struct MessageFramerTests {
  @Test(arguments: UInt64(1)...100)
  func `chunks of any size give the same messages as all at once`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var stream: [UInt8] = []
    for message in random.controlMessages() { message.encode(appendingTo: &stream) }
    for message in random.mediaMessages() { message.encode(appendingTo: &stream) }

    let whole = try messages(in: [stream[...]])
    #expect(whole.count == 27)
    let largest = random.element([1, 3, 7, 50, 1000])
    var chunks: [ArraySlice<UInt8>] = []
    var rest = stream[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Int.random(in: 0...largest, using: &random))
      chunks.append(chunk)
      rest = rest.dropFirst(chunk.count)
    }
    #expect(try messages(in: chunks) == whole)
  }

  @Test func `several appends before the first look lose nothing`() throws {
    let bytes = ControlMessage.keepAlive.bytes
    var framer = MessageFramer(limit: 16)
    for byte in bytes + bytes { framer.append([byte]) }
    #expect(try framer.next()?.payload.isEmpty == true)
    #expect(try framer.next()?.byteCount == 6)
    #expect(try framer.next() == nil)
  }

  @Test func `a length beyond the limit is refused before anything is stored, and for good`() {
    for length: [UInt8] in [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 4, 1], [0xff, 0xff, 0xff, 0xff]] {
      var framer = MessageFramer(limit: 1024)
      framer.append(length)
      #expect(throws: DecodeError.self) { try framer.next() }
      #expect(framer.heldByteCount == 0)
      framer.append(ControlMessage.keepAlive.bytes)
      #expect(framer.heldByteCount == 0)
      #expect(throws: DecodeError.self) { try framer.next() }
    }
  }

  @Test func `the largest message that is allowed passes`() throws {
    var framer = MessageFramer(limit: 1024)
    framer.append([0, 0, 4, 0, 0x12, 0x34] + [UInt8](repeating: 7, count: 1022))
    let message = try #require(try framer.next())
    #expect(message.type == 0x1234)
    #expect(message.byteCount == 1028)
  }

  @Test func `messages before a bad length are still delivered`() throws {
    var framer = MessageFramer(limit: 1024)
    framer.append(ControlMessage.keepAlive.bytes + [0xff, 0, 0, 0, 0, 0])
    #expect(try framer.next() != nil)
    #expect(throws: DecodeError.badLength(0xff00_0000, limit: 1024)) { try framer.next() }
  }

  @Test func `an endless message holds no more than the limit`() throws {
    var framer = MessageFramer(limit: 1024)
    framer.append([0, 0, 4, 0, 0, 1])
    for _ in 0..<500 {
      #expect(try framer.next() == nil)
      framer.append([1, 2])
      #expect(framer.heldByteCount <= 1028)
    }
  }

  @Test func `the limit can be raised after the first message`() throws {
    var framer = MessageFramer(limit: 16)
    framer.append([0, 0, 0, 2, 0, 5, 0, 0, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 18))
    #expect(try framer.next() != nil)
    framer.limit = 20
    #expect(try framer.next()?.payload.count == 18)
  }

  private func messages(in chunks: [ArraySlice<UInt8>]) throws -> [RawMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    var messages: [RawMessage] = []
    for chunk in chunks {
      framer.append(chunk)
      while let message = try framer.next() { messages.append(message) }
    }
    #expect(framer.heldByteCount == 0)
    return messages
  }
}
