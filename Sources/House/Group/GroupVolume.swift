/// One slider for the volumes of several rooms. At its first move it remembers how loud each room was; from there each
/// goes its own way to its limit or to 0, so that all get there together, and back at the same place all are as they
/// were. It forgets that when somebody has changed one of them, a limit, or which they are. The slider ends at the
/// highest limit, so that of a single room stands where the room's does.
package struct GroupVolume: Hashable, Sendable {
  private struct Snapshot: Hashable {
    var level: Double
    var rooms: [String: Double]
    var limits: [String: Double]
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
  ///
  /// - Parameter limits: those of rooms that have one.
  package mutating func move(
    to level: Double, _ rooms: [String: Double], limits: [String: Double] = [:]
  ) -> [String: Double] {
    let end = rooms.keys.map { limits[$0] ?? Self.full }.max() ?? Self.full
    let level = Self.tenths(min(max(level, 0), end))
    if set?.rooms != rooms || set?.limits != limits { snapshot = nil }
    let start = snapshot ?? Snapshot(level: Self.mean(rooms), rooms: rooms, limits: limits)
    snapshot = start
    var moved: [String: Double] = [:]
    for (room, volume) in start.rooms {
      let way = (start.level, level, end)
      moved[room] = Self.volume(volume, limit: limits[room] ?? Self.full, way)
    }
    set = Snapshot(level: level, rooms: moved, limits: limits)
    return moved
  }

  private static let full = 100.0

  private static func volume(
    _ volume: Double, limit: Double, _ way: (start: Double, level: Double, end: Double)
  ) -> Double {
    if way.level == way.start { return min(volume, limit) }
    if way.level < way.start { return min(tenths(volume * way.level / way.start), limit) }
    let part = (way.level - way.start) / (way.end - way.start)
    return min(tenths(volume + (limit - volume) * part), limit)
  }

  private static func mean(_ rooms: [String: Double]) -> Double {
    rooms.isEmpty ? 0 : tenths(rooms.values.sorted().reduce(0, +) / Double(rooms.count))
  }

  /// Rooms take no finer steps.
  private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
