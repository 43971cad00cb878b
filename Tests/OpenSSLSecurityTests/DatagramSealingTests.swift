import TestSupport
import Testing
import WireProtocol

@testable import OpenSSLSecurity

@Suite struct DatagramSealingTests {
  private let cipher = DatagramSealing()
  private let key = (0..<32).map { UInt8(0x60 + $0) }

  @Test func `the example of the specification opens to the examples that it names`() throws {
    let bytes = try Specification.example("live.audio")
    let messages =
      try Specification.example("media.format.pcm") + Specification.example("media.packet")
    let datagram = try LiveDatagram(decoding: bytes)
    #expect(datagram.messages(key: key, with: cipher) == messages)
    let sealed = LiveDatagram(
      sealing: messages, clockID: datagram.clockID, number: datagram.number, key: key, with: cipher)
    #expect(sealed.encoded == bytes)
  }

  @Test func `a datagram with any other bit does not open`() throws {
    let bytes = try Specification.example("live.audio")
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      // The flags are ignored, and the header that is computed anew does not contain them.
      guard !(6..<8).contains(bit / 8), let datagram = try? LiveDatagram(decoding: changed) else {
        continue
      }
      #expect(datagram.messages(key: key, with: cipher) == nil, "bit \(bit)")
    }
  }

  @Test func `a datagram of another key, or that is cut off, does not open`() throws {
    let bytes = try Specification.example("live.audio")
    let datagram = try LiveDatagram(decoding: bytes)
    #expect(datagram.messages(key: Array(key.reversed()), with: cipher) == nil)
    let short = try LiveDatagram(decoding: bytes.dropLast())
    #expect(short.messages(key: key, with: cipher) == nil)
    let empty = LiveDatagram(sealing: [], clockID: 1, number: 2, key: key, with: cipher)
    #expect(empty.messages(key: key, with: cipher) == [])
  }
}
