import Sender
import Testing

/// Tests of the answers to the decoding process, and of its requests.
@Suite struct SourceMessageTests {
  @Test func `no more titles are taken with a block of bytes than the limit`() throws {
    let limit = SourceTitle.limit
    let reply = try SourceReply(bytes(withTitles: limit)[...])
    #expect(try SourceReply(reply.bytes[...]) == reply)
    #expect(throws: (any Error).self) { try SourceReply(bytes(withTitles: limit + 1)[...]) }
  }

  @Test func `a reason to connect again is as long as one that is told`() throws {
    let told = SourceCall.tell(.reconnecting(reason: String(repeating: "a", count: 9_000)))
    let longest = try SourceCall(told.bytes[...])
    #expect(try SourceCall(longest.bytes[...]) == longest)
    var bytes = longest.bytes
    let count = UInt16(bytes[2]) << 8 | UInt16(bytes[3]) + 1
    (bytes[2], bytes[3]) = (UInt8(count >> 8), UInt8(truncatingIfNeeded: count))
    bytes.append(UInt8(ascii: "a"))
    #expect(throws: (any Error).self) { try SourceCall(bytes[...]) }
  }

  /// Each title consists of two empty texts.
  private func bytes(withTitles count: Int) -> [UInt8] {
    [2, UInt8(count)] + [UInt8](repeating: 0, count: 4 * count)
  }
}
