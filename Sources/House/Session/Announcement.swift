package import Clock
import Sender
package import WireProtocol

/// A request to let rooms hear something.
package struct AnnouncementWish: Sendable {
  /// Identities; none means all that are there.
  package var rooms: [String]
  package var clip: Clip
  package var length: Nanoseconds
  /// Within `RoomChange.volumes`; nil: as loud as each room.
  package var volume: Double?

  package init(rooms: [String], _ clip: Clip, length: Nanoseconds, volume: Double? = nil) {
    (self.rooms, self.clip, self.length, self.volume) = (rooms, clip, length, volume)
  }
}

/// An announcement: the clip, its rooms, and how far they are. Nothing has to be put back afterwards: rooms lower and
/// raise their music themselves.
final class Announcement {
  private enum Stage {
    /// For those before it.
    case waiting
    /// The rooms get it until this time; then it begins in those that have it.
    case sending(until: LocalTime)
    case sounding(until: LocalTime)
    /// Rooms that were visited may still be announced as busy until then.
    case leaving(until: LocalTime)
    case over
  }

  enum News { case nothing, begun, ended }

  /// Nobody waits longer for a room that is slow.
  private static let timeout = Nanoseconds.seconds(3)
  /// For so long after a clip its last frames may still be on their way through a sound card.
  private static let tail = Nanoseconds.milliseconds(500)

  /// Rooms that are quieter play announcements with this volume, if no other is asked for: docs/protocol/clips.md.
  private static let leastVolume = 30.0
  /// A room may take so long to hear of the end.
  private static let farewell = Nanoseconds.seconds(3)

  private struct Part {
    let player: any GroupPlayer
    let number: UInt32
    let rooms: [String: RoomID]
  }

  let rooms: [String]
  private let wish: AnnouncementWish
  private var stage = Stage.waiting
  private var parts: [Part] = []
  private(set) var request: RequestID?
  private var isTold = false
  /// The player that visits rooms of no group.
  private var visitor: (any GroupPlayer)?
  private var visited: Set<String> = []
  private(set) var heard: Set<String> = []
  /// Reasons, by the rooms; they follow the names of these.
  private(set) var missed: [String: String] = [:]

  init(_ wish: AnnouncementWish, in rooms: [String], for request: RequestID) {
    (self.wish, self.rooms, self.request) = (wish, rooms, request)
  }

  var isWaiting: Bool { if case .waiting = stage { true } else { false } }
  var isOver: Bool { if case .over = stage { true } else { false } }

  /// True if others in the same rooms wait for it.
  var isUnderWay: Bool {
    switch stage {
    case .waiting, .sending, .sounding: true
    case .leaving, .over: false
    }
  }

  /// True if the room is, or was a moment ago, busy because of it.
  func visits(_ room: String) -> Bool { !isWaiting && visited.contains(room) }

  var nextDeadline: LocalTime? {
    switch stage {
    case .sending(let until), .sounding(let until), .leaving(let until): until
    case .waiting, .over: nil
    }
  }

  /// True once: who asked, or the log, is told who hears it.
  func takeOutcome() -> Bool {
    defer { isTold = true }
    return !isTold
  }

  func takeRequest() -> RequestID? {
    defer { request = nil }
    return request
  }

  func takeVisitor() -> (any GroupPlayer)? {
    defer { visitor = nil }
    return visitor
  }

  /// The player visits these rooms, which are in no group.
  func visit(_ rooms: [String], by player: any GroupPlayer) {
    (visitor, visited) = (player, Set(rooms))
  }

  func miss(_ room: String, _ reason: String) { missed[room] = reason }

  /// - Parameters:
  ///   - level: how loud it is there, if the wish says nothing; nil: as loud as each room.
  ///   - cap: the highest volume of now. One below the least volume of speech would be passed without a word.
  func offer(
    by player: any GroupPlayer, _ rooms: [String: RoomID], cap: Double, at level: Double? = nil
  ) {
    let wanted = (wish.volume ?? level).map { min($0, cap) }
    let level = wanted ?? (cap < Self.leastVolume ? cap : nil)
    let volume = level.map { UInt16(min(max(($0 * 10).rounded(), 1), 1000)) }
    let command = PlayerCommand.offerClip(
      wish.clip, volume: volume, to: rooms.values.sorted())
    guard case .success(.offered(let number)) = player.carryOut(command) else {
      for room in rooms.keys { miss(room, "cannot be reached just now") }
      return
    }
    parts.append(Part(player: player, number: number, rooms: rooms))
  }

  func sent(at now: LocalTime) { stage = .sending(until: now + Self.timeout) }

  /// Does what is due.
  func look(at now: LocalTime) -> News {
    switch stage {
    case .waiting, .over: return .nothing
    case .sending(let until):
      guard until <= now || isSettled else { return .nothing }
      begin(at: now)
      guard heard.isEmpty else { return .begun }
      stage = .leaving(until: now + Self.farewell)
      return .ended
    case .sounding(let until):
      guard until <= now else { return .nothing }
      stage = .leaving(until: now + Self.farewell)
      return .ended
    case .leaving(let until):
      if until <= now { stage = .over }
      return .nothing
    }
  }

  /// True if no room is awaited.
  private var isSettled: Bool {
    parts.allSatisfy { part in
      part.player.progress(ofClip: part.number).allSatisfy(\.progress.isSettled)
    }
  }

  /// Lets it sound as soon as all rooms that have it can begin at the same sample.
  private func begin(at now: LocalTime) {
    for part in parts { note(part) }
    let horizon = parts.map(\.player.clipHorizon).max() ?? .zero
    let time = now + horizon
    for part in parts {
      let command: PlayerCommand =
        heard.contains { part.rooms[$0] != nil }
        ? .beginClip(part.number, at: time) : .withdrawClip(part.number)
      _ = part.player.carryOut(command)
    }
    stage = .sounding(until: time + wish.length + ClipOffer.usualRamp + rest)
  }

  /// The time that the rooms need for it beyond its end: the next one would end it.
  private var rest: Nanoseconds {
    let delays = parts.flatMap { $0.player.status().rooms.compactMap(\.settings?.delay) }
    return Self.tail + max(delays.max() ?? .zero, .zero)
  }

  private func note(_ part: Part) {
    let progress = part.player.progress(ofClip: part.number)
    for (room, number) in part.rooms {
      switch progress.first(where: { $0.room == number })?.progress {
      case .ready: heard.insert(room)
      case .cannot: miss(room, "cannot play announcements: update it")
      case .refused(let reason): miss(room, "did not play it: \(reason)")
      case .taking: miss(room, "was too slow to get it")
      case .away, nil: miss(room, "does not answer")
      }
    }
  }
}
