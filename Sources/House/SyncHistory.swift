import Sender

/// How far each room was from the schedule lately, and what happened to it: a page that opens shows it at once.
///
/// It takes every state of the household, and keeps one point a second of each room.
package struct SyncHistory: Hashable, Sendable {
  /// Length of what is kept, in seconds: as much as a page plots.
  package static let seconds = 300
  /// Events that are kept.
  package static let markLimit = 200
  /// A second, less what a look may come too early. Milliseconds.
  private static let interval = 900.0

  /// A room's distance from the schedule at a time of the server's clock; written as a list of the three.
  package struct Point: Hashable, Sendable, Encodable {
    package var atMs: Double
    package var errorUs: Double
    /// The largest error that its clock may have; 0 where it is not known.
    package var boundUs: Double

    package func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      for value in [atMs, errorUs, boundUs] { try list.encode(value) }
    }
  }

  package struct Room: Hashable, Sendable, Encodable {
    package var id: String
    /// The oldest first.
    package var points: [Point]
  }

  package struct Mark: Hashable, Sendable, Encodable {
    package var atMs: Double
    package var roomId: String
    /// In a few words, such as `underrun`.
    package var text: String
  }

  /// The history as surfaces get it.
  package struct Report: Hashable, Sendable, Encodable {
    package var nowMs: Double
    package var rooms: [Room]
    package var marks: [Mark]
  }

  /// A room as it was seen last.
  private struct Sight: Hashable {
    var isAway: Bool
    var sync: RoomSync?
  }

  private var nowMs = -Double.infinity
  private var rooms: [Room] = []
  private var marks: [Mark] = []
  private var sights: [String: Sight] = [:]

  package init() {}

  package mutating func note(_ state: HouseState) {
    guard state.nowMs >= nowMs + Self.interval else { return }
    nowMs = state.nowMs
    let known = rooms.reduce(into: [String: [Point]]()) { $0[$1.id] = $1.points }
    rooms = state.rooms.compactMap { room in
      var points = known[room.id] ?? []
      if let sync = room.sync {
        points.append(Point(atMs: nowMs, errorUs: sync.errorUs, boundUs: sync.boundUs ?? 0))
      }
      points.removeFirst(points.firstIndex(where: isRecent) ?? points.count)
      return points.isEmpty ? nil : Room(id: room.id, points: points)
    }
    for room in state.rooms { note(room) }
    let ids = Set(state.rooms.map(\.id))
    sights = sights.filter { ids.contains($0.key) }
    marks.removeAll { $0.atMs <= nowMs - Double(Self.seconds) * 1_000 || !ids.contains($0.roomId) }
    marks.removeFirst(max(0, marks.count - Self.markLimit))
  }

  private func isRecent(_ point: Point) -> Bool {
    point.atMs > nowMs - Double(Self.seconds) * 1_000
  }

  private mutating func note(_ room: HouseState.Room) {
    let before = sights[room.id]
    let isAway = room.state == .away
    sights[room.id] = Sight(isAway: isAway, sync: room.sync ?? before?.sync)
    guard let before else { return }
    if before.isAway != isAway { mark(room, isAway ? "went away" : "came back") }
    guard let now = room.sync, let old = before.sync else { return }
    // A session that begins anew counts from zero.
    if now.underruns > old.underruns { mark(room, "underrun") }
    if now.late > old.late { mark(room, "late packets") }
    if now.lost > old.lost { mark(room, "lost packets") }
  }

  private mutating func mark(_ room: HouseState.Room, _ text: String) {
    marks.append(Mark(atMs: nowMs, roomId: room.id, text: text))
  }

  /// Returns the part that lies no further back than `last` seconds.
  package func report(last: Int) -> Report {
    let oldest = nowMs - Double(last) * 1_000
    let recent = rooms.map { room in
      Room(id: room.id, points: room.points.filter { $0.atMs > oldest })
    }
    return Report(
      nowMs: nowMs.isFinite ? nowMs : 0, rooms: recent.filter { !$0.points.isEmpty },
      marks: marks.filter { $0.atMs > oldest })
  }
}
