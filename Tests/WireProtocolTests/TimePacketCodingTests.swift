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
    expectRefused(at: 4, 1, .unsupportedVersion(1))
    expectRefused(at: 5, 3, .outOfRange(field: "kind", value: 3))
  }

  @Test func `a packet with any other bit is not authentic`() {
    for bit in 0..<64 * 8 {
      var bytes = request.bytes
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: DecodeError.self) { try TimePacket.decode(bytes[...], key: .example) }
    }
  }

  @Test func `a packet of another key is not authentic, nor one whose key is not there`() {
    let other = ClockKey(Array(1...16))
    #expect(throws: DecodeError.notAuthentic) {
      try TimePacket.decode(request.bytes[...], key: other)
    }
    #expect(throws: DecodeError.notAuthentic) {
      try TimePacket.decode(request.bytes[...]) { _ in nil }
    }
  }

  @Test func `a request's key is found by its clock and its key id`() throws {
    let found = try TimePacket.decode(request.bytes[...]) { packet in
      guard case .request(let request) = packet, request.clockID == 1, request.keyID == 9 else {
        return nil
      }
      return .example
    }
    #expect(found == request)
  }

  @Test func `a key id is the low half of a session's number`() {
    #expect(TimeRequest.keyID(ofSession: 0x0102_0304_0506_0708) == 0x0506_0708)
  }

  /// The vector of the paper by Aumasson and Bernstein, appendix A, and two of their reference implementation.
  @Test func `the hash is SipHash-2-4`() {
    let message = (0..<64).map { UInt8($0) }
    #expect(SipHash.hash(message.prefix(15), key: .example) == 0xa129_ca61_49be_45e5)
    #expect(SipHash.hash([], key: .example) == 0x726f_db47_dd0e_0e31)
    #expect(SipHash.hash(message.prefix(63), key: .example) == 0x958a_324c_eb06_4572)
    // A slice that begins elsewhere is the same message.
    #expect(SipHash.hash(([9, 9] + message)[2..<17], key: .example) == 0xa129_ca61_49be_45e5)
  }

  private let request = TimePacket.request(
    TimeRequest(clockID: 1, keyID: 9, sequence: 2, sentAt: LocalTime(nanoseconds: 3)))

  private func expectRefused(at offset: Int, _ byte: UInt8, _ error: DecodeError) {
    var bytes = request.bytes
    bytes[offset] = byte
    #expect(throws: error) { try TimePacket.decode(bytes[...], key: .example) }
  }
}
