import Clock
import Sender
import WireProtocol

/// Plays the music of one alarm, in a player of its own: from when its rooms are filled until they are given back. The
/// rooms hold the music and the time at which it begins, so that they ring though this process is gone by then.
final class AlarmRing {
  /// Rooms that play something else are taken so long before it begins: they are silent meanwhile.
  static let takeLead = Nanoseconds.seconds(3)
  /// Music of which nothing has come so long before gives way to the tone, as does music that has stopped for as long.
  private static let patience = Nanoseconds.seconds(5)
  /// Few clocks are steered by 150 millionths: that is more within the ten minutes for which rooms are filled.
  private static let steering = Nanoseconds.milliseconds(100)
  /// The rooms may take so long to hear of the end.
  private static let farewell = Nanoseconds.seconds(2)

  let alarm: Alarm
  /// When it begins.
  let due: LocalTime
  let player: Player
  private(set) var rooms: [String: RoomID] = [:]
  /// True if something has happened to its player since it was looked at.
  var hasNews = true
  /// True while people hear it.
  private(set) var isRinging = false
  private(set) var hasRung = false
  /// Rooms that are as loud as the alarm.
  private var loud: Set<String> = []
  private var isTone: Bool
  private var quietSince: LocalTime?
  private var endTime: LocalTime?

  /// - Parameter port: stands still. Its list has the alarm's music, and the tone at its end.
  init(_ alarm: Alarm, at due: LocalTime, on port: any GroupPlayer, seed: UInt64) {
    (self.alarm, self.due) = (alarm, due)
    player = Player(port, seed: seed)
    isTone = player.items.count < 2
    if alarm.riseS > 0 { _ = port.carryOut(.rise(from: due, over: .seconds(of: alarm.riseS))) }
    _ = port.carryOut(.resumeAt(due))
  }

  /// True if it is to begin at `time`: the clock on the wall has been steered meanwhile, but not set.
  func isDue(at time: LocalTime) -> Bool { abs((due - time).count) < Self.steering.count }

  var hasEnded: Bool { endTime != nil }

  var nextDeadline: LocalTime? {
    if hasNews { return LocalTime(nanoseconds: 0) }
    let late = quietSince.map { $0 + Self.patience }
    return [endTime, late].compactMap(\.self).min()
  }

  // MARK: - Rooms

  func add(_ record: RoomRecord, takes: Bool) {
    rooms[record.id] = player.port.addRoom(record, takesOver: takes)
  }

  func add(host: String, port: UInt16, as room: String, takes: Bool) {
    rooms[room] = player.port.addRoom(host: host, port: port, takesOver: takes)
  }

  func room(_ id: String, _ status: GroupStatus) -> GroupStatus.Room? {
    rooms[id].flatMap { number in status.rooms.first { $0.id == number } }
  }

  func isConnected(_ room: String) -> Bool { self.room(room, player.status)?.settings != nil }

  /// Those that ring by themselves.
  func readyRooms(at now: LocalTime) -> [String] {
    let status = player.status
    guard player.port.session.running(at: now) != nil, !hasEnded else { return [] }
    return rooms.keys.sorted().filter { id in
      switch room(id, status)?.status?.state {
      case .ready, .playing, .starved: true
      case .idle, .priming, .paused, .noDevice, nil: false
      }
    }
  }

  /// Rooms that are connected and not as loud as the alarm yet, with how loud each is.
  func quietRooms(_ status: GroupStatus) -> [(id: String, before: RoomChange)] {
    rooms.keys.sorted().filter { !loud.contains($0) }.compactMap { id in
      guard let settings = room(id, status)?.settings else { return nil }
      return (id, RoomChange(volume: Double(settings.volume) / 10, muted: settings.isMuted))
    }
  }

  /// Makes a room as loud as the alarm.
  func setVolume(in room: String) {
    guard let number = rooms[room] else { return }
    loud.insert(room)
    let volume = UInt16((alarm.volume * 10).rounded())
    _ = player.port.carryOut(.volume(.room(number), volume))
    _ = player.port.carryOut(.mute(.room(number), false))
  }

  // MARK: - Time

  func note(_ event: SenderEvent) {
    player.note(event)
    if case .position = event { return }
    hasNews = true
  }

  /// Returns false if it rang before.
  func begin() -> Bool {
    defer { (isRinging, hasRung) = (true, true) }
    return !isRinging
  }

  /// Lets the tone sound where the music does not come.
  func look(_ status: GroupStatus, at now: LocalTime) {
    hasNews = false
    guard !isTone, endTime == nil else { return }
    let isHeard = status.rooms.contains { $0.status != nil }
    if isRinging, isHeard, status.state == .buffering || status.state == .starting {
      quietSince = quietSince ?? now
    } else if !isRinging, due - Self.patience <= now, !player.port.session.hasAudio {
      quietSince = now - Self.patience
    } else {
      quietSince = nil
    }
    guard let since = quietSince, since + Self.patience <= now, let tone = player.items.last else {
      return
    }
    (isTone, quietSince) = (true, nil)
    _ = player.port.carryOut(.edit(.setRepetition(.one)))
    _ = player.port.carryOut(.jump(to: tone.id))
  }

  /// The rooms are told to be quiet.
  func end(at now: LocalTime) {
    guard endTime == nil else { return }
    isRinging = false
    endTime = now + Self.farewell
    _ = player.port.carryOut(.stop)
  }

  func isOver(at now: LocalTime) -> Bool {
    endTime.map { $0 <= now || player.port.session.isFinished } ?? false
  }
}
