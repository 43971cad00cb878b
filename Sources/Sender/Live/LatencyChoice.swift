package import Clock
package import WireProtocol

/// Chooses the latency of a live stream from the way its packets reach the rooms: the lowest at which no room has
/// holes.
///
/// Each report of a room says which latency its slowest packet would have needed. If a room has two holes within 10 s,
/// the group becomes slower at once. The group becomes faster by one level at a time, and never goes to one that failed
/// lately.
package struct LatencyChoice: Sendable {
  package struct Decision: Hashable, Sendable {
    package var latency: Nanoseconds
    /// The room that needs this latency.
    package var room: RoomID
  }

  /// The levels, in milliseconds.
  package static let levels: [Int64] = [20, 25, 30, 40, 50, 65, 80, 100, 120, 150, 200]
  /// Reports that are kept of each room: 15 min.
  static let reportLimit = 1_800
  /// Reports of 2 min, in which a level must have had no hole; in all kept reports, it may have had one.
  private static let recent = 240
  private static let mostHoles = 1
  /// Two holes within 10 s are too many, and the reports of the last 15 s say how much more latency is needed.
  private static let alarm = 20
  private static let alarmHoles = 2
  private static let lately = 30
  /// Time that a level must leave after the slowest packet.
  private static let reserve = Nanoseconds.microseconds(2_500)
  /// A source has reached a level if it is at most this far below it.
  private static let tolerance = Nanoseconds.milliseconds(1)
  /// Time after a change before the latency is lowered: each change resamples the sound for some seconds.
  private static let stepInterval = Nanoseconds.seconds(60)
  /// A level that had too many holes is not tried again before.
  private static let failureMemory = Nanoseconds.seconds(600)

  private struct Report {
    /// The lowest level at which there would have been no hole; `levels.count` if there is none.
    let needed: Int
    let hasHole: Bool
  }

  private struct Room {
    let id: RoomID
    /// The oldest first.
    var reports: [Report] = []
    /// Reports since the level changed. Earlier holes say nothing about this level.
    var reportsOfLevel = 0

    /// Returns the lowest level that would have had at most `holes` holes in the last `count` reports.
    func level(holes: Int, in count: Int) -> Int {
      let needed = reports.suffix(count).map(\.needed).sorted(by: >)
      return needed.count > holes ? needed[holes] : 0
    }
  }

  private var rooms: [Room] = []
  private var level: Int
  /// The last time at which each level failed.
  private var failures: [LocalTime?] = Array(repeating: nil, count: levels.count)
  private var changedAt: LocalTime

  /// Begins with the level at or above `latency`.
  package init(startingAt latency: Nanoseconds, at now: LocalTime) {
    level = Self.level(for: latency)
    changedAt = now
  }

  package var latency: Nanoseconds { .milliseconds(Self.levels[level]) }

  /// Returns the lowest level that is not less; the highest if there is none.
  private static func level(for latency: Nanoseconds) -> Int {
    levels.firstIndex { .milliseconds($0) >= latency } ?? levels.count - 1
  }

  package mutating func removed(_ room: RoomID) { rooms.removeAll { $0.id == room } }

  /// Takes a report of a room that was sent the stream at `held`. Returns a new decision; nil if nothing changes.
  package mutating func reported(
    _ report: LiveReport, by id: RoomID, at held: Nanoseconds, now: LocalTime
  ) -> Decision? {
    if !rooms.contains(where: { $0.id == id }) { rooms.append(Room(id: id)) }
    guard let index = rooms.firstIndex(where: { $0.id == id }) else { return nil }
    let hasHole = report.concealed > 0 || report.leastMargin < .zero
    var needed = Self.levels.count
    // If packets never came, nobody knows how long to wait for them.
    let least = report.leastMargin.count
    if least < held.count, !(report.concealed > 0 && least >= 0) {
      let wanted = held - report.leastMargin + Self.reserve
      needed = Self.levels.firstIndex { .milliseconds($0) >= wanted } ?? Self.levels.count
    } else if hasHole {
      needed = min(Self.level(for: held + Nanoseconds(1)), Self.levels.count - 1)
    } else {
      needed = 0
    }
    let isHeld = held >= latency - Self.tolerance
    if rooms[index].reports.count == Self.reportLimit { rooms[index].reports.removeFirst() }
    rooms[index].reports.append(Report(needed: needed, hasHole: hasHole))
    rooms[index].reportsOfLevel += 1
    return raise(for: rooms[index], isHeld: isHeld, at: now) ?? lower(at: now)
  }

  /// While the source is still moving to the level, holes say nothing about it unless more latency is needed for
  /// certain.
  private mutating func raise(for room: Room, isHeld: Bool, at now: LocalTime) -> Decision? {
    let holes = room.reports.suffix(min(Self.alarm, room.reportsOfLevel)).count(where: \.hasHole)
    guard holes >= Self.alarmHoles, level + 1 < Self.levels.count,
      room.reports.last?.hasHole == true
    else { return nil }
    let wanted = room.level(holes: 0, in: Self.lately)
    guard isHeld || wanted > level && wanted < Self.levels.count else { return nil }
    failures[level] = now
    return change(to: min(max(wanted, level + 1), Self.levels.count - 1), for: room.id, at: now)
  }

  private mutating func lower(at now: LocalTime) -> Decision? {
    guard level > 0, now - changedAt >= Self.stepInterval,
      failures[level - 1].map({ now - $0 >= Self.failureMemory }) ?? true,
      rooms.allSatisfy({ $0.reports.count >= Self.recent }), let slowest, slowest.level < level
    else { return nil }
    return change(to: level - 1, for: slowest.room, at: now)
  }

  /// The room that needs the highest level, and that level.
  private var slowest: (room: RoomID, level: Int)? {
    let needs = rooms.map { room in
      (
        room: room.id,
        level: max(
          room.level(holes: 0, in: Self.recent),
          room.level(holes: Self.mostHoles, in: Self.reportLimit))
      )
    }
    return needs.max { $0.level < $1.level }
  }

  private mutating func change(to new: Int, for room: RoomID, at now: LocalTime) -> Decision {
    (level, changedAt) = (new, now)
    for index in rooms.indices { rooms[index].reportsOfLevel = 0 }
    return Decision(latency: latency, room: room)
  }
}
