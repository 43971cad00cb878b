package import Clock
package import WireProtocol

/// Chooses the latency of a live stream by how its packets come to the rooms: the least at which no room has holes.
///
/// Each report of a room says what latency its slowest packet would have needed. A room that has two holes within 10 s makes
/// the group slower at once. The group becomes faster by one level at a time, and never to one that failed lately.
package struct LatencyChoice: Sendable {
  package struct Decision: Hashable, Sendable {
    package var latency: Nanoseconds
    /// The room that needs it.
    package var room: RoomID
  }

  /// The levels, in milliseconds.
  package static let levels: [Int64] = [20, 25, 30, 40, 50, 65, 80, 100, 120, 150, 200]
  /// Reports that are kept of a room: 15 min.
  static let reportLimit = 1_800
  /// Reports of 2 min, in which a level may have had no hole; it may have had one in all that are kept.
  private static let recent = 240
  private static let mostHoles = 1
  /// Two holes within 10 s are too many, and what came within 15 s says how much more is needed.
  private static let alarm = 20
  private static let alarmHoles = 2
  private static let lately = 30
  /// A level has this much left where the slowest packet comes.
  private static let reserve = Nanoseconds.microseconds(2_500)
  /// Of a level that the source has come to.
  private static let tolerance = Nanoseconds.milliseconds(1)
  private static let stepInterval = Nanoseconds.seconds(60)
  private static let failureMemory = Nanoseconds.seconds(600)

  private struct Report {
    /// The lowest level at which it would have been without a hole; `levels.count` where none would.
    let needed: Int
    let hasHole: Bool
  }

  private struct Room {
    let id: RoomID
    /// The oldest first.
    var reports: [Report] = []

    /// The lowest level that would have had so many holes at most in the last `count` reports.
    func level(holes: Int, in count: Int) -> Int {
      let needed = reports.suffix(count).map(\.needed).sorted(by: >)
      return needed.count > holes ? needed[holes] : 0
    }
  }

  private var rooms: [Room] = []
  private var level: Int
  /// When each level failed last.
  private var failures: [LocalTime?] = Array(repeating: nil, count: levels.count)
  private var changedAt: LocalTime

  /// Begins with the level at or above `latency`.
  package init(startingAt latency: Nanoseconds, at now: LocalTime) {
    level = Self.level(for: latency)
    changedAt = now
  }

  package var latency: Nanoseconds { .milliseconds(Self.levels[level]) }

  /// The lowest that is no less; the highest where there is none.
  private static func level(for latency: Nanoseconds) -> Int {
    levels.firstIndex { .milliseconds($0) >= latency } ?? levels.count - 1
  }

  package mutating func removed(_ room: RoomID) { rooms.removeAll { $0.id == room } }

  /// What follows from a report of a room that was sent the stream at `held`; nil where all stays as it is.
  package mutating func reported(
    _ report: LiveReport, by id: RoomID, at held: Nanoseconds, now: LocalTime
  ) -> Decision? {
    if !rooms.contains(where: { $0.id == id }) { rooms.append(Room(id: id)) }
    guard let index = rooms.firstIndex(where: { $0.id == id }) else { return nil }
    let hasHole = report.concealed > 0 || report.leastMargin < .zero
    var needed = Self.levels.count
    // Where packets never came, nobody knows how long to wait for them.
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
    return raise(for: rooms[index], isHeld: isHeld, at: now) ?? lower(at: now)
  }

  /// While the source is still on its way to the level, holes say nothing of it unless more is needed for certain.
  private mutating func raise(for room: Room, isHeld: Bool, at now: LocalTime) -> Decision? {
    let holes = room.reports.suffix(Self.alarm).count(where: \.hasHole)
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

  /// The room that needs most, and how much.
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
    // What came too late at the level before says nothing of this one.
    return Decision(latency: latency, room: room)
  }
}
