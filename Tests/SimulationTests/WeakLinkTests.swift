import Clock
import Sender
import Simulation
import Testing
import WireProtocol

@Suite struct WeakLinkTests {
  /// A pause in which the room's buffer is full, and longer than any side may be silent.
  @Test func `a long pause with a full buffer disconnects nobody`() {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: 5)
    house.rooms[1].capacity = Capacity(bytes: 1 << 20, duration: .seconds(10))
    let group = SimulatedGroup(house)
    group.at(5) { $0.command(.pause) }
    group.at(45) { $0.command(.resume) }
    group.run(until: 60)
    let gone = group.senderEvents.filter {
      if case .roomGone(_, _) = $0.event { true } else { false }
    }
    #expect(gone.isEmpty)
    group.expectSounding(from: 46, to: 60)
    expectFlawless(group)
  }
}
