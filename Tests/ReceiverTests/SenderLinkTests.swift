import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

@Suite struct SenderLinkTests {
  private static func link() -> SenderLink {
    SenderLink(
      hello: Hello(
        version: 2, senderID: .counting(from: 1), senderName: "", session: 1, clockID: 1,
        clockPort: 1), secured: .test(1), peer: "", control: ConnectionID(1),
      at: LocalTime(nanoseconds: 0))
  }

  @Test func `without a media connection nothing is granted`() {
    var link = Self.link()
    let limit = link.limitToGrant(heldBytes: 0, capacity: 1600)
    #expect(limit == nil)
  }

  @Test func `a new media connection is granted from zero again`() {
    var link = Self.link()
    let first = link.attach(ConnectionID(2))
    #expect(first == nil)
    link.receivedMedia(bytes: 1000)
    let limit = link.limitToGrant(heldBytes: 0, capacity: 1600)
    #expect(limit == 2600)
    let old = link.attach(ConnectionID(3))
    #expect(old == ConnectionID(2))
    let again = link.limitToGrant(heldBytes: 0, capacity: 1600)
    #expect(again == 1600)
  }

  @Test func `a large buffer is granted a part of what is free, and a message always`() {
    var link = Self.link()
    _ = link.attach(ConnectionID(2))
    let capacity: UInt64 = 64 << 20
    let first = link.limitToGrant(heldBytes: 0, capacity: capacity)
    #expect(first == 32 << 20)
    link.receivedMedia(bytes: 32 << 20)
    let next = link.limitToGrant(heldBytes: 63 << 20, capacity: capacity)
    #expect(next == nil)
    let later = link.limitToGrant(heldBytes: 56 << 20, capacity: capacity)
    #expect(later == 36 << 20)
  }

  @Test func `a little more than granted is no overrun, a read more is`() {
    var link = Self.link()
    _ = link.attach(ConnectionID(2))
    let limit = link.limitToGrant(heldBytes: 0, capacity: 1 << 20) ?? 0
    link.receivedMedia(bytes: Int(limit) + 65_536)
    #expect(!link.overrunsCredit)
    link.receivedMedia(bytes: 1)
    #expect(link.overrunsCredit)
  }

  /// A sender that uses all its credit, and a room that plays at random.
  @Test(arguments: 0..<20) func `limits rise, keep to the capacity, and never stop the stream`(
    seed: Int
  ) {
    var random = SplitMix64(seed: UInt64(seed))
    let capacity: UInt64 = 100_000
    var link = Self.link()
    _ = link.attach(ConnectionID(2))
    var (limit, received, held) = (UInt64(0), UInt64(0), UInt64(0))
    for _ in 0..<2000 {
      if let granted = link.limitToGrant(heldBytes: held, capacity: capacity) {
        #expect(granted > limit)
        limit = granted
      }
      #expect(limit <= received + capacity)
      let message = 1 + random.next() % 2000
      if received + message <= limit {
        link.receivedMedia(bytes: Int(message))
        (received, held) = (received + message, held + message)
      } else {
        #expect(held > capacity / 2 || limit - received < capacity / 4)
        held -= min(held, random.next() % 9000)
      }
    }
    #expect(received > capacity)
  }
}
