import Sender
import Simulation
import Testing

/// Like `expectBounded`; in addition, the given rooms have played every frame once. Over a radio, a command may arrive
/// too late for that.
func expectFlawless(
  _ group: SimulatedGroup, rooms: [Int]? = nil, location: SourceLocation = #_sourceLocation
) {
  expectBounded(group, location: location)
  let breaks = group.microphone.breaks.filter { rooms?.contains($0.room) ?? true }
  #expect(breaks.isEmpty, sourceLocation: location)
}

/// Expects no ghosts and no broken bounds: promises that hold in every scenario.
func expectBounded(
  _ group: SimulatedGroup, location: SourceLocation = #_sourceLocation
) {
  #expect(group.microphone.ghosts.isEmpty, sourceLocation: location)
  #expect(group.violations.isEmpty, sourceLocation: location)
}

extension SimulatedGroup {
  func expectSounding(
    _ rooms: [Int]? = nil, from start: Double, to end: Double,
    location: SourceLocation = #_sourceLocation
  ) {
    for room in rooms ?? Array(microphone.records.indices) {
      let share = microphone.soundingShare(of: room, from: start, to: end)
      #expect(
        share > 0.999, "room \(room) sounded \(share) of \(start)...\(end) s",
        sourceLocation: location)
    }
  }

  func expectSpread(
    within microseconds: Float, from start: Double, to end: Double, rooms: [Int]? = nil,
    location: SourceLocation = #_sourceLocation
  ) {
    let spread = microphone.spread(from: start, to: end, rooms: rooms)
    print("   spread", spread)
    #expect(spread.p99 <= microseconds, "\(spread)", sourceLocation: location)
    #expect(spread.count > 10, "\(spread)", sourceLocation: location)
  }
}

extension SenderEvent {
  /// The change of this room that it tells of; nil if it is about something else.
  func change(of room: RoomID) -> RoomChange? {
    if case .room(let told, let change) = self, told.id == room { change } else { nil }
  }
}
