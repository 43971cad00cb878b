/// Knows what people call groups, rooms and entries.
package protocol OrderNames {
  func group(_ name: String) throws(Refusal) -> String
  /// A room of this group, or of any.
  func room(_ name: String, in group: String?) throws(Refusal) -> String
  /// All rooms of which an order names several.
  func rooms(_ names: [String], in group: String?) throws(Refusal) -> [String]
  /// A room that is to join.
  func newRoom(_ name: String) throws(Refusal) -> String
  /// From 1.
  func entry(_ number: Int, in group: String) throws(Refusal) -> Int
  func input(_ entry: Order.NewEntry) throws(Refusal) -> Order.NewEntry
  func scene(_ name: String) throws(Refusal) -> String
}

extension Order {
  /// The same order with identities in place of names and numbers. Decides nothing else.
  package func resolved(by names: some OrderNames) throws(Refusal) -> Order {
    switch self {
    case .createGroup(let rooms, let name):
      return .createGroup(rooms: try names.rooms(rooms, in: nil), name: name)
    case .deleteGroup(let group): return .deleteGroup(try names.group(group))
    case .change(let group, var change):
      change.roomIds = try change.roomIds.map { rooms throws(Refusal) in
        try names.rooms(rooms, in: nil)
      }
      return .change(group: try names.group(group), change)
    case .transport(let group, let transport):
      return .transport(group: try names.group(group), transport)
    case .seek(let group, let seconds, let isRelative):
      return .seek(group: try names.group(group), seconds: seconds, isRelative: isRelative)
    case .join(let group, let room, let takes):
      return .join(group: try names.group(group), room: try names.newRoom(room), takes: takes)
    case .leave(let group, let rooms):
      let group = try names.group(group)
      return .leave(group: group, rooms: try names.rooms(rooms, in: group))
    case .merge(let group, let other):
      return .merge(group: try names.group(group), other: try names.group(other))
    case .edit(let group, let edit, let expected):
      let group = try names.group(group)
      return .edit(group: group, try edit.resolved(by: names, in: group), expected: expected)
    case .set(let rooms, let change): return .set(rooms: try names.rooms(rooms, in: nil), change)
    case .addAlarm(let change): return .addAlarm(try change.resolved(by: names))
    case .changeAlarm(let id, let change):
      return .changeAlarm(id, try change.resolved(by: names))
    case .setUp(.nameRoom(let room, let name)):
      return .setUp(.nameRoom(try names.room(room, in: nil), name))
    case .stopEverywhere, .removeAlarm, .endAlarm, .night, .setUp: return self
    case .scene(let order): return .scene(try order.resolved(by: names))
    case .stereo(.make(let left, let right, let name)):
      let (left, right) = (try names.room(left, in: nil), try names.room(right, in: nil))
      return .stereo(.make(left: left, right: right, name: name))
    case .stereo(.swap(let room)): return .stereo(.swap(try names.room(room, in: nil)))
    case .stereo(.separate(let room)): return .stereo(.separate(try names.room(room, in: nil)))
    case .stereo(.show): return self
    case .identify(let room): return .identify(room: try names.room(room, in: nil))
    }
  }
}

extension Order.SceneOrder {
  fileprivate func resolved(by names: some OrderNames) throws(Refusal) -> Self {
    switch self {
    case .show: return self
    case .save(let group, let name): return .save(group: try names.group(group), name: name)
    case .recall(let scene, let group):
      let group = try group.map { name throws(Refusal) in try names.group(name) }
      return .recall(try names.scene(scene), group: group)
    case .remove(let scene): return .remove(try names.scene(scene))
    }
  }
}

extension AlarmChange {
  fileprivate func resolved(by names: some OrderNames) throws(Refusal) -> AlarmChange {
    var change = self
    change.roomIds = try roomIds.map { rooms throws(Refusal) in try names.rooms(rooms, in: nil) }
    if case .entries(let entries) = music {
      change.music = .entries(
        try entries.map { entry throws(Refusal) in try names.input(entry) })
    }
    return change
  }
}

extension Order.QueueEdit {
  fileprivate func resolved(
    by names: some OrderNames, in group: String
  ) throws(Refusal) -> Order.QueueEdit {
    switch self {
    case .add(let entries, let place):
      return .add(
        try entries.map { entry throws(Refusal) in try names.input(entry) },
        at: try place.resolved(by: names, in: group))
    case .clear, .clearOthers, .undo, .shuffle, .unshuffle: return self
    case .remove(let numbers):
      return .remove(
        try numbers.map { number throws(Refusal) in try names.entry(number, in: group) })
    case .move(let number, let place):
      return .move(
        try names.entry(number, in: group), to: try place.resolved(by: names, in: group))
    case .play(let number): return .play(try names.entry(number, in: group))
    }
  }
}

extension Order.Place {
  fileprivate func resolved(
    by names: some OrderNames, in group: String
  ) throws(Refusal) -> Order.Place {
    switch self {
    case .now, .nowAndKeep, .next, .end, .waiting, .number: self
    case .before(let number): .before(try names.entry(number, in: group))
    }
  }
}

extension OrderNames {
  package func rooms(_ names: [String], in group: String?) throws(Refusal) -> [String] {
    try names.map { name throws(Refusal) in try room(name, in: group) }
  }
}
