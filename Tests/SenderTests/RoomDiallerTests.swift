import Clock
import Testing

@testable import Sender

/// Tests of how rooms are reached; addresses are numbers.
struct RoomDiallerTests {
  private typealias Dialler = RoomDialler<Int>
  private typealias Output = Dialler.Output
  private static let room = RoomID(1)
  private static let start = LocalTime(nanoseconds: 1_000_000_000)
  private static let control = Dialler.Place(room: room, channel: .control)

  private static func dialler(at addresses: [Int], host: RoomHost? = nil) -> Dialler {
    var dialler = Dialler()
    dialler.add(room, at: addresses, host: host)
    return dialler
  }

  private static func outputs(_ dialler: inout Dialler) -> [Output] {
    var outputs: [Output] = []
    while let output = dialler.nextOutput() { outputs.append(output) }
    return outputs
  }

  private static func connection(_ number: Int) -> RoomConnectionID { .init(number: number) }

  @Test func `the next address is tried when the one before does not answer for a moment`() {
    var dialler = Self.dialler(at: [7, 8])
    dialler.dial(Self.room, .control, at: Self.start)
    #expect(Self.outputs(&dialler) == [.connect(Self.connection(1), 7, for: .control)])
    #expect(dialler.nextDeadline == Self.start + RoomDial.headStart)
    dialler.advance(to: Self.start + .milliseconds(299))
    #expect(Self.outputs(&dialler).isEmpty)
    dialler.advance(to: Self.start + RoomDial.headStart)
    #expect(Self.outputs(&dialler) == [.connect(Self.connection(2), 8, for: .control)])
    #expect(dialler.connected(Self.connection(2)) == Self.control)
    #expect(Self.outputs(&dialler) == [.close(Self.connection(1))])
    #expect(dialler.connected(Self.connection(1)) == nil)
    #expect(dialler.connection(to: Self.room, .control) == Self.connection(2))
  }

  @Test func `the next address is tried at once when one refuses, and the last refusal is told`() {
    var dialler = Self.dialler(at: [7, 8])
    dialler.dial(Self.room, .control, at: Self.start)
    dialler.failed(Self.connection(1), "seven refuses", at: Self.start)
    #expect(
      Self.outputs(&dialler) == [
        .connect(Self.connection(1), 7, for: .control),
        .connect(Self.connection(2), 8, for: .control),
      ])
    dialler.failed(Self.connection(2), "eight refuses", at: Self.start)
    #expect(Self.outputs(&dialler) == [.unreachable(Self.control, reason: "eight refuses")])
    #expect(dialler.nextDeadline == nil)
  }

  @Test func `a room without an address cannot be reached`() {
    var dialler = Self.dialler(at: [])
    dialler.dial(Self.room, .control, at: Self.start)
    #expect(Self.outputs(&dialler) == [.unreachable(Self.control, reason: "no address is known")])
  }

  @Test func `the media connection goes where the room was reached`() {
    var dialler = Self.dialler(at: [7, 8])
    dialler.dial(Self.room, .control, at: Self.start)
    dialler.advance(to: Self.start + RoomDial.headStart)
    _ = dialler.connected(Self.connection(2))
    _ = Self.outputs(&dialler)
    dialler.dial(Self.room, .media, at: Self.start + .seconds(1))
    #expect(Self.outputs(&dialler) == [.connect(Self.connection(3), 8, for: .media)])
    _ = dialler.connected(Self.connection(3))
    #expect(dialler.mediaConnections == [Self.connection(3)])
    dialler.remove(Self.room)
    #expect(
      Self.outputs(&dialler) == [.close(Self.connection(3)), .close(Self.connection(2))])
    #expect(dialler.place(of: Self.connection(2)) == nil)
  }

  @Test func `attempts that are not wanted any more end`() {
    var dialler = Self.dialler(at: [7])
    dialler.dial(Self.room, .control, at: Self.start)
    dialler.close(Self.room, .control)
    #expect(
      Self.outputs(&dialler) == [
        .connect(Self.connection(1), 7, for: .control), .close(Self.connection(1)),
      ])
    #expect(dialler.nextDeadline == nil)
  }

  // MARK: - Names

  private static let host = RoomHost(name: "kitchen.local", port: 7770)

  @Test func `a name is looked up at each attempt, and once at a time`() {
    var dialler = Self.dialler(at: [], host: Self.host)
    dialler.dial(Self.room, .control, at: Self.start)
    #expect(Self.outputs(&dialler) == [.lookUp(Self.room, Self.host)])
    // The session gave up waiting, and tries again while the look-up is under way.
    dialler.close(Self.room, .control)
    dialler.dial(Self.room, .control, at: Self.start + .seconds(10))
    #expect(Self.outputs(&dialler).isEmpty)
    dialler.lookedUp(Self.room, [7], failure: nil, at: Self.start + .seconds(11))
    #expect(Self.outputs(&dialler) == [.connect(Self.connection(1), 7, for: .control)])
    dialler.close(Self.room, .control)
    _ = Self.outputs(&dialler)
    // An address is known, so it is tried at once, and the name is looked up in parallel.
    dialler.dial(Self.room, .control, at: Self.start + .seconds(12))
    #expect(
      Self.outputs(&dialler) == [
        .lookUp(Self.room, Self.host), .connect(Self.connection(2), 7, for: .control),
      ])
  }

  @Test func `a name that is not found says so, but only where it was waited for`() {
    var dialler = Self.dialler(at: [], host: Self.host)
    dialler.dial(Self.room, .control, at: Self.start)
    _ = Self.outputs(&dialler)
    dialler.lookedUp(Self.room, [], failure: "not found", at: Self.start)
    #expect(Self.outputs(&dialler) == [.unreachable(Self.control, reason: "not found")])
    dialler.dial(Self.room, .control, at: Self.start)
    dialler.close(Self.room, .control)
    _ = Self.outputs(&dialler)
    dialler.lookedUp(Self.room, [], failure: "not found", at: Self.start)
    #expect(Self.outputs(&dialler).isEmpty)
  }

  // MARK: - Addresses

  @Test func `a forged record does not displace the address that works`() {
    var addresses = RoomAddresses([1])
    addresses.reached(1)
    addresses.learned([66])
    #expect(addresses.nextCandidates() == [1, 66])
  }

  @Test func `each address is tried first at some attempt`() {
    var addresses = RoomAddresses([1, 2, 3])
    let firsts = (0..<3).map { _ in addresses.nextCandidates().first }
    #expect(Set(firsts) == [1, 2, 3])
  }

  @Test func `few addresses of a room are tried`() {
    var addresses = RoomAddresses(Array(0..<100))
    #expect(addresses.nextCandidates().count == RoomDial.addressLimit)
  }
}
