/// Which room plays in which group. Answers each change with the rooms that move, and does nothing itself.
package struct HousePlan: Hashable, Sendable {
  /// More than a household has rooms to fill.
  package static let groupLimit = 64

  package struct Group: Hashable, Sendable {
    package let id: String
    /// As its user calls it; nil where it is called by its rooms.
    package var name: String?
    /// In the order in which they came.
    package fileprivate(set) var rooms: [String]
    /// The room that was the last to leave it: when it plays again by itself, it finds its queue.
    package fileprivate(set) var lastRoom: String?
    /// Nobody hears it, and nobody has named it: no surface shows it.
    package var isAbandoned: Bool { rooms.isEmpty && name == nil }

    package init(id: String, name: String?, rooms: [String], lastRoom: String? = nil) {
      (self.id, self.name, self.rooms, self.lastRoom) = (id, name, rooms, lastRoom)
    }
  }

  /// A room that leaves a group, joins one, or both.
  package struct Move: Hashable, Sendable {
    package var room: String
    package var from: String?
    package var to: String?
  }

  package private(set) var groups: [Group] = []
  /// The number of the newest group: no identity is used twice.
  package private(set) var lastNumber = 0

  package init() {}

  /// As it was. A room that stands in several groups stays in the first.
  package init(restoring groups: [Group], lastNumber: Int) {
    self.lastNumber = lastNumber
    var seen: Set<String> = []
    self.groups = groups.prefix(Self.groupLimit).map { group in
      var group = group
      group.rooms.removeAll { !seen.insert($0).inserted }
      return group
    }
  }

  package func group(_ id: String) -> Group? { groups.first { $0.id == id } }
  /// The group that a room which wants to play has left, and nobody else plays in.
  package func abandoned(by rooms: [String]) -> String? {
    groups.last { $0.isAbandoned && $0.lastRoom.map(rooms.contains) ?? false }?.id
  }
  package func group(ofRoom room: String) -> Group? { groups.first { $0.rooms.contains(room) } }

  /// Nil where there are as many as there may be.
  package mutating func create(
    name: String?, rooms: [String]
  ) -> (id: String, moves: [Move])? {
    guard groups.count < Self.groupLimit else { return nil }
    lastNumber += 1
    let id = "g\(lastNumber)"
    groups.append(Group(id: id, name: name, rooms: []))
    return (id, setRooms(of: id, to: rooms))
  }

  /// Its rooms are free then.
  package mutating func delete(_ id: String) -> [Move] {
    let moves = setRooms(of: id, to: [])
    groups.removeAll { $0.id == id }
    return moves
  }

  /// These rooms and no others, in this order.
  package mutating func setRooms(of id: String, to rooms: [String]) -> [Move] {
    guard let group = group(id) else { return [] }
    var moves = group.rooms.filter { !rooms.contains($0) }.map { leave($0) }
    for room in rooms where !group.rooms.contains(room) { moves += [join(room, id)] }
    var order: [String] = []
    for room in rooms where !order.contains(room) { order.append(room) }
    withGroup(id) { $0.rooms = order }
    return moves.compactMap { $0 }
  }

  /// Nil where it is there already.
  package mutating func join(_ room: String, _ id: String) -> Move? {
    let before = group(ofRoom: room)?.id
    guard group(id) != nil, before != id else { return nil }
    if let before { remove(room, from: before) }
    withGroup(id) { $0.rooms.append(room) }
    return Move(room: room, from: before, to: id)
  }

  /// Nil where it is free already.
  package mutating func leave(_ room: String) -> Move? {
    guard let before = group(ofRoom: room)?.id else { return nil }
    remove(room, from: before)
    return Move(room: room, from: before, to: nil)
  }

  private mutating func remove(_ room: String, from id: String) {
    withGroup(id) { group in
      group.rooms.removeAll { $0 == room }
      group.lastRoom = group.rooms.isEmpty ? room : nil
    }
  }

  /// The rooms of `other` join the group, and `other` is left without any.
  package mutating func merge(_ other: String, into id: String) -> [Move] {
    guard other != id, group(id) != nil, let rooms = group(other)?.rooms else { return [] }
    return rooms.compactMap { join($0, id) }
  }

  package mutating func rename(_ id: String, to name: String?) { withGroup(id) { $0.name = name } }

  private mutating func withGroup(_ id: String, _ body: (inout Group) -> Void) {
    guard let index = groups.firstIndex(where: { $0.id == id }) else { return }
    body(&groups[index])
  }

  /// Returns the name of a group that nobody has named: that of its rooms.
  package static func name(ofRooms names: [String]) -> String {
    switch names.count {
    case 0: "No rooms"
    case 1...3: names.joined(separator: " + ")
    default: "\(names[0]) + \(names.count - 1) more"
    }
  }
}
