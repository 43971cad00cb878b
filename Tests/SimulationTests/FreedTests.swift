import Testing

@testable import Simulation

/// Were a group that has been played kept, a swarm of some hundred runs would take all memory.
@Suite struct FreedTests {
  @Test func `of a group that has been played nothing is left`() {
    weak var daemon: SimulatedDaemon?
    weak var sender: SimulatedSender?
    weak var room: SimulatedRoom?
    do {
      let group = SimulatedGroup(.house([.wired], seed: 1))
      group.run(until: 3)
      (daemon, sender, room) = (group.daemons.first, group.daemons.first?.sender, group.rooms.first)
      #expect(daemon != nil && sender != nil && room != nil)
    }
    #expect(daemon == nil && sender == nil && room == nil)
  }
}
