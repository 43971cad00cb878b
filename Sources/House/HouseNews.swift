/// Tells what has changed in a household from one state to the next, and numbers it. What only shows how things are, such
/// as positions and sync errors, is no change.
package struct HouseNews: Sendable {
  /// A position that is further off than this from where it should be by now has been moved, in seconds.
  private static let leap = 0.1

  package private(set) var revision: UInt64 = 0
  private var told: HouseState?

  package init() {}

  /// Nil where nothing has changed. The state gets its revision.
  package mutating func change(to state: inout HouseState) -> HouseChange? {
    guard let before = told else {
      revision += 1
      state.revision = revision
      told = state
      return nil
    }
    let groups = state.groups.filter { group in
      before.groups.first { $0.id == group.id }.map { Self.isNews(group, after: $0) } ?? true
    }
    let rooms = state.rooms.filter { room in
      before.rooms.first { $0.id == room.id }.map { Self.isNews(room, after: $0) } ?? true
    }
    let removedGroups = before.groups.map(\.id).filter { id in
      !state.groups.contains { $0.id == id }
    }
    let removedRooms = before.rooms.map(\.id).filter { id in
      !state.rooms.contains { $0.id == id }
    }
    let inputs = state.inputs == before.inputs ? nil : state.inputs
    let library = state.library == before.library ? nil : state.library
    let isSame = groups.isEmpty && rooms.isEmpty && removedGroups.isEmpty && removedRooms.isEmpty
    let server = state.server == before.server ? nil : state.server
    let alarms = state.alarms == before.alarms ? nil : state.alarms
    let scenes = state.scenes == before.scenes ? nil : state.scenes
    if isSame, inputs == nil, alarms == nil, scenes == nil, library == nil, server == nil {
      state.revision = revision
      return nil
    }
    revision += 1
    state.revision = revision
    keep(state, groups, rooms)
    var change = HouseChange(
      revision: revision, nowMs: state.nowMs, groups: groups, rooms: rooms,
      removedGroups: removedGroups, removedRooms: removedRooms, library: library)
    (change.inputs, change.alarms, change.scenes) = (inputs, alarms, scenes)
    change.server = server
    return change
  }

  /// Groups that were not told of keep their position of old, so that slow leaps add up.
  private mutating func keep(
    _ state: HouseState, _ groups: [HouseState.Group], _ rooms: [HouseState.Room]
  ) {
    var kept = state
    for index in kept.groups.indices where !groups.contains(kept.groups[index]) {
      let id = kept.groups[index].id
      kept.groups[index] = told?.groups.first { $0.id == id } ?? kept.groups[index]
    }
    told = kept
  }

  private static func isNews(_ group: HouseState.Group, after before: HouseState.Group) -> Bool {
    var expected = before
    if before.state == .playing {
      expected.positionS += (group.positionAtMs - before.positionAtMs) / 1000 * before.rate
    }
    if abs(expected.positionS - group.positionS) > leap { return true }
    (expected.positionS, expected.positionAtMs) = (group.positionS, group.positionAtMs)
    expected.bufferedUntilS = group.bufferedUntilS
    if expected.liveS != nil, group.liveS != nil {
      (expected.keptFromS, expected.liveS) = (group.keptFromS, group.liveS)
    }
    return expected != group
  }

  private static func isNews(_ room: HouseState.Room, after before: HouseState.Room) -> Bool {
    var expected = before
    expected.sync = room.sync
    return expected != room
  }
}
