import Clock
import Sender
import WireProtocol

/// Tells a room that is in no group how loud it is to be: connects to it for a moment, without music.
final class RoomVisit {
  /// Nobody waits longer for a room.
  private static let timeout = Nanoseconds.seconds(10)
  /// Another change may follow, as of a slider that moves.
  private static let rest = Nanoseconds.seconds(2)
  /// For so long after the visit the room's announcement may still say that it is busy.
  private static let farewell = Nanoseconds.seconds(3)

  let player: any GroupPlayer
  private let room: RoomID
  /// The change that the room has still to be told.
  private var wanted = RoomChange()
  private var deadline: LocalTime
  private var hasLeft = false

  init(to record: RoomRecord, _ player: any GroupPlayer, at now: LocalTime) {
    self.player = player
    room = player.addRoom(record, takesOver: false)
    deadline = now + Self.timeout
  }

  var nextDeadline: LocalTime { deadline }

  /// Nil once it is over.
  var link: GroupStatus.Room? {
    hasLeft ? nil : player.status().rooms.first { $0.id == room }
  }

  /// As the room has said them; nil before it is reached.
  var settings: RoomSettings? { link?.settings }

  /// False where it is too late to tell it more.
  func tell(_ change: RoomChange, at now: LocalTime) -> Bool {
    guard !hasLeft else { return false }
    wanted.merge(change)
    deliver(at: now)
    return true
  }

  /// Shows at once the settings that the room will have.
  func promise(_ shown: inout HouseState.Room) {
    shown.volume = wanted.volume ?? shown.volume
    shown.muted = wanted.muted ?? shown.muted
    shown.delayMs = wanted.delayMs ?? shown.delayMs
    shown.channels = wanted.channels?.name ?? shown.channels
    if shown.isVolumeLimitFixed != true {
      shown.volumeLimit = wanted.volumeLimit ?? shown.volumeLimit
    }
    if let change = wanted.sound, let sound = shown.sound {
      shown.sound = sound.changed(by: change)
    }
    if let limit = shown.volumeLimit { shown.volume = shown.volume.map { min($0, limit) } }
  }

  private func deliver(at now: LocalTime) {
    guard settings != nil, !wanted.isEmpty else { return }
    // Their ranges were checked when they were asked for.
    for command in (try? wanted.commands(for: .room(room))) ?? [] {
      _ = player.carryOut(command)
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
    _ = player.carryOut(.stop)
    (hasLeft, deadline) = (true, now + Self.farewell)
  }
}
