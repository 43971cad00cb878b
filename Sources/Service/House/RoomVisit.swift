import Clock
import Driver
import House
import LinuxIO
import Sender
import WireProtocol

import enum House.Refusal

/// Tells a room that is in no group how loud it is to be: connects to it for a moment, without music.
final class RoomVisit {
  /// Nobody waits longer for a room.
  private static let timeout = Nanoseconds.seconds(10)
  /// Another change may follow, as of a slider that moves.
  private static let rest = Nanoseconds.seconds(2)
  /// For so long after the visit the room's announcement may still say that it is busy.
  private static let farewell = Nanoseconds.seconds(3)

  private let player: GroupDriver
  private let room: RoomID
  /// What the room has still to be told.
  private var wanted = RoomChange()
  private var deadline: LocalTime
  private var hasLeft = false

  init(to record: RoomRecord, _ player: GroupDriver, at now: LocalTime) {
    self.player = player
    room = player.addRoom(record, takesOver: false)
    deadline = now + Self.timeout
  }

  var nextDeadline: LocalTime { deadline }

  /// As the room has said them; nil before it is reached.
  var settings: RoomSettings? {
    hasLeft ? nil : player.status().rooms.first { $0.id == room }?.settings
  }

  /// False where it is too late to tell it more.
  func tell(_ change: RoomChange, at now: LocalTime) -> Bool {
    guard !hasLeft else { return false }
    wanted.merge(change)
    deliver(at: now)
    return true
  }

  /// What the room will be set to shows at once.
  func promise(_ shown: inout HouseState.Room) {
    shown.volume = wanted.volume ?? shown.volume
    shown.muted = wanted.muted ?? shown.muted
    shown.delayMs = wanted.delayMs ?? shown.delayMs
    shown.channels = wanted.channels?.name ?? shown.channels
  }

  private func deliver(at now: LocalTime) {
    guard settings != nil, !wanted.isEmpty else { return }
    // Their ranges were checked when they were asked for.
    for command in (try? wanted.commands(for: .room(room))) ?? [] {
      player.carryOut(command)
    }
    wanted = .init()
    deadline = now + Self.rest
  }

  /// Does what is due; true once it is over.
  func look(at now: LocalTime) -> Bool {
    if !hasLeft { deliver(at: now) }
    guard deadline <= now else { return false }
    if hasLeft { return true }
    leave(at: now)
    return false
  }

  /// The room is to play, or was told everything.
  func leave(at now: LocalTime) {
    guard !hasLeft else { return }
    player.carryOut(.stop)
    (hasLeft, deadline) = (true, now + Self.farewell)
  }

  func end() throws(IOError) { try player.end() }
}

extension House {
  /// Rooms that are told something at a time: more than a household sets at once.
  static let roomVisitLimit = 8

  func tell(
    _ change: RoomChange, to room: String
  ) throws(Refusal) {
    let name = name(ofRoom: room)
    let now = HostClock.now
    if roomVisits[room]?.tell(change, at: now) ?? false { return }
    guard !needsPairing(room) else {
      throw .unavailable("\(name) is not paired yet; pair it first")
    }
    guard let record = record(room), record.state != .away else {
      throw .unavailable("\(name) is switched off or out of reach; switch it on, then set it")
    }
    guard !isTaken(room) else {
      throw .unavailable("\(name) is playing something of another sender")
    }
    guard roomVisits.count < Self.roomVisitLimit, roomVisits[room] == nil else {
      throw .notYet("other rooms are being set just now; try again in a second")
    }
    let visit = RoomVisit(to: record, try player(of: Playlist()), at: now)
    _ = visit.tell(change, at: now)
    roomVisits[room] = visit
  }

  func lookAtVisits(at now: LocalTime) {
    for (room, visit) in roomVisits where visit.look(at: now) {
      roomVisits[room] = nil
      do throws(IOError) {
        try visit.end()
      } catch {
        onWarning("\(error)")
      }
    }
  }
}
