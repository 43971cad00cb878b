import Clock
import Sender
import Simulation
import TestSupport
import Testing

/// Random edits while music plays, through the real sender and the real receivers: what comes out of the sound cards
/// is held against a model that counts single frames.
@Suite struct PlaylistEditTests {
  /// Two rooms whose clocks differ, behind links that delay; in every fourth run a third, behind a radio that loses so
  /// much that commands come too late for it. In the end that one plays what the others play as well.
  @Test(arguments: Array(1...40) as [UInt64])
  func `all rooms sound what the list says, frame by frame, and nothing is flushed in vain`(
    seed: UInt64
  ) {
    var paths = [PathQuality.wired, Self.distant]
    if seed.isMultiple(of: 4) { paths.append(.wifi) }
    Self.expectAsEdited(.house(paths, seed: seed, cards: [.fine, .edge]), seed: seed)
  }

  /// Each item stalls soon after it was opened, for long enough that the rooms stand still.
  @Test(arguments: Array(1...20) as [UInt64])
  func `the same is heard from a source that stalls again and again`(seed: UInt64) {
    var house = SimulatedGroup.Configuration.house(
      [.wired, Self.distant], seed: seed, cards: [.fine, .edge])
    var random = RandomSource(seed: seed, part: 91)
    let stall = SimulatedDelivery.Stall(
      at: random.uniform(0...0.1), seconds: random.uniform(0.1...0.6))
    house.delivery = SimulatedDelivery(.fetched, rate: random.uniform(2...6), stalls: [stall])
    Self.expectAsEdited(house, seed: seed)
  }

  private static func expectAsEdited(_ house: SimulatedGroup.Configuration, seed: UInt64) {
    let edited = EditedGroup(house, seed: seed, steps: 24)
    edited.play(from: 2.2)
    let verdict = TraceVerdict(edited.model, edges: edited.edges)
    // Nothing is asked of the radio before the place where it is looked at.
    let lateVerdict = TraceVerdict(edited.model, edges: edited.edges.union([edited.finale]))
    for room in house.rooms.indices {
      let items = edited.group.microphone.records[room].items
      let faults =
        room < 2 ? verdict.faults(of: items) : lateVerdict.faults(of: items, from: edited.finale)
      #expect(faults.isEmpty, "seed \(seed), room \(room)")
    }
    let breaks = edited.group.microphone.breaks.filter {
      $0.room < 2 && !verdict.isSilent(from: $0.from, to: $0.to)
    }
    #expect(breaks.isEmpty, "seed \(seed)")
    expectBounded(edited.group)
  }

  /// Datagrams to the sender are lost; what it says itself is not, for then a room could not keep to it.
  private static var distant: PathQuality {
    var path = PathQuality.wiredLoad
    path.down.delay = .milliseconds(3)
    path.up.delay = .milliseconds(2)
    path.up.loss = 0.02
    return path
  }
}
