import Clock
import Simulation
import TestSupport
import Testing

/// Random edits while music plays, through the real sender and the real receivers. The output of the sound cards is
/// compared with a model that counts single frames.
@Suite struct PlaylistEditTests {
  /// Two rooms with different clocks, behind links with delays. In every fourth run there is a third room, behind a
  /// radio that loses so much that commands reach it too late. In the end it plays the same as the others.
  @Test(arguments: seeds(8, of: 40))
  func `all rooms sound what the list says, frame by frame, and nothing is flushed in vain`(
    seed: UInt64
  ) {
    var paths = [PathQuality.wired, Self.distant]
    if seed.isMultiple(of: 4) { paths.append(.wifi) }
    let edited = EditedGroup(
      .house(paths, seed: seed, cards: [.fine, .edge]), seed: seed, steps: 24)
    edited.play(from: 2.2)
    let verdict = TraceVerdict(edited.model, edges: edited.edges)
    // The radio's room is checked only from the last item on.
    let lateVerdict = TraceVerdict(edited.model, edges: edited.edges.union([edited.finale]))
    for room in paths.indices {
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

  /// Datagrams to the sender are lost. Those from the sender are not, because then a room could not stay in sync.
  private static var distant: PathQuality {
    var path = PathQuality.wiredLoad
    path.down.delay = .milliseconds(3)
    path.up.delay = .milliseconds(2)
    path.up.loss = 0.02
    return path
  }
}
