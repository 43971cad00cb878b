/// One slider for the volumes of several rooms. At its first move it remembers how loud each room was; from there each
/// goes its own way to 100 or to 0, so that all get there together, and back at the same place all are as they were.
/// It forgets that when somebody has changed one of them, or which they are.
package struct GroupVolume: Hashable, Sendable {
  private struct Snapshot: Hashable {
    var level: Double
    var rooms: [String: Double]
  }

  private var snapshot: Snapshot?
  /// The last change: the slider, and the volumes that it gave the rooms.
  private var set: Snapshot?

  package init() {}

  /// Where the slider is, 0 to 100, while the rooms are as loud as this.
  package func level(of rooms: [String: Double]) -> Double {
    if let set, set.rooms == rooms { return set.level }
    return Self.mean(rooms)
  }

  /// How loud each room is to be with the slider at `level`, 0 to 100.
  package mutating func move(to level: Double, _ rooms: [String: Double]) -> [String: Double] {
    let level = Self.tenths(min(max(level, 0), 100))
    if set?.rooms != rooms { snapshot = nil }
    let start = snapshot ?? Snapshot(level: Self.mean(rooms), rooms: rooms)
    snapshot = start
    let moved = start.rooms.mapValues { Self.volume($0, from: start.level, to: level) }
    set = Snapshot(level: level, rooms: moved)
    return moved
  }

  private static func volume(_ volume: Double, from start: Double, to level: Double) -> Double {
    if level == start { return volume }
    if level < start { return tenths(volume * level / start) }
    return tenths(volume + (100 - volume) * (level - start) / (100 - start))
  }

  private static func mean(_ rooms: [String: Double]) -> Double {
    rooms.isEmpty ? 0 : tenths(rooms.values.sorted().reduce(0, +) / Double(rooms.count))
  }

  /// Rooms take no finer steps.
  private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
