import Clock
import TestSupport
import Testing
import WireProtocol

@Suite struct TimePacketCodingTests {
  @Test func `requests and answers are of one size`() {
    var random = SplitMix64(seed: 4)
    #expect(random.timePackets().allSatisfy { $0.bytes.count == 64 })
  }

  @Test func `other magic, version and kind are told apart`() {
    expectRefused(at: 0, 0x58, .notThisProtocol)
    expectRefused(at: 4, 2, .unsupportedVersion(2))
    expectRefused(at: 5, 3, .outOfRange(field: "kind", value: 3))
  }

  @Test func `what stands in the place of the tag is ignored`() throws {
    var bytes = request.bytes
    bytes.replaceSubrange(56..<64, with: [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(try TimePacket.decode(bytes[...]) == request)
  }

  private let request = TimePacket.request(
    TimeRequest(clockID: 1, sequence: 2, sentAt: LocalTime(nanoseconds: 3)))

  private func expectRefused(at offset: Int, _ byte: UInt8, _ error: DecodeError) {
    var bytes = request.bytes
    bytes[offset] = byte
    #expect(throws: error) { try TimePacket.decode(bytes[...]) }
  }
}
