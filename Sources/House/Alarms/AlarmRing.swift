import Clock
import Sender
import WireProtocol

/// Plays the music of one alarm, in a player of its own: from when its rooms are filled until they are given back. The
/// rooms hold the music and the time at which it begins, so that they ring though this process is gone by then.
final class AlarmRing {
  /// Rooms that play something else are taken so long before it begins: they are silent meanwhile.
  static let takeLead = Nanoseconds.seconds(3)
  /// Music of which nothing has come so long before gives way to the tone, as does music that has stopped for as long.
  private static let quietLimit = Nanoseconds.seconds(5)
  /// Few clocks are steered by 150 millionths: that is more within the ten minutes for which rooms are filled.
  private static let steering = Nanoseconds.milliseconds(100)
  /// The rooms may take so long to hear of the end.
  private static let farewell = Nanoseconds.seconds(2)

  private enum Phase {
    /// Its rooms are filled, and it has not begun.
    case waiting
    /// People hear it.
    case ringing
    /// Its rooms are told of the end until then.
    case ending(until: LocalTime, hasRung: Bool)
  }

  private enum Sound {
    /// Nothing of it has come since `quietSince`, while it is to sound; nil if it comes.
    case music(quietSince: LocalTime?)
    case tone
  }

  private(set) var alarm: Alarm
  /// When it begins.
  let due: LocalTime
  let player: Player
  private(set) var rooms: [String: RoomID] = [:]
  /// Those that another sender had before, or has taken since.
  var others: Set<String> = []
  /// True once its rooms were taken from whoever has them.
  var takes = false
  /// True if something has happened to its player since it was looked at.
  var hasNews = true
  private var phase = Phase.waiting
  private var sound: Sound
  /// Rooms that are as loud as the alarm.
  private var loud: Set<String> = []
  /// From when on music of which nothing has come gives way to the tone. One that was opened late needs a moment, too.
  private let limit: LocalTime

  /// - Parameter port: stands still. Its list has the alarm's music, and the tone at its end.
  init(
    _ alarm: Alarm, at due: LocalTime, on port: any GroupPlayer, seed: UInt64, at now: LocalTime
  ) {
    (self.alarm, self.due) = (alarm, due)
    limit = max(due - Self.quietLimit, now + Self.quietLimit)
    player = Player(port, seed: seed)
    sound = player.items.count < 2 ? .tone : .music(quietSince: nil)
    if alarm.riseS > 0 { _ = port.carryOut(.rise(from: due, over: .seconds(of: alarm.riseS))) }
    _ = port.carryOut(.resumeAt(due))
  }

  /// True if it is to begin at `time`: the clock on the wall has been steered meanwhile, but not set.
  func isDue(at time: LocalTime) -> Bool { abs((due - time).count) < Self.steering.count }

  /// True while people hear it.
  var isRinging: Bool { if case .ringing = phase { true } else { false } }

  var hasRung: Bool {
    switch phase {
    case .waiting: false
    case .ringing: true
    case .ending(_, let hasRung): hasRung
    }
  }

  var hasEnded: Bool { endTime != nil }

  private var endTime: LocalTime? {
    if case .ending(let time, _) = phase { time } else { nil }
  }

  /// When its music gives way to the tone, unless something of it comes until then.
  private var toneTime: LocalTime? {
    if case .music(let since?) = sound { since + Self.quietLimit } else { nil }
  }

  var nextDeadline: LocalTime? {
    if hasNews { return LocalTime(nanoseconds: 0) }
    return [endTime, toneTime, isEmpty ? limit : nil].compactMap(\.self).min()
  }

  /// True if nothing of its music has come.
  private var isEmpty: Bool {
    guard case .music = sound, !hasEnded else { return false }
    return !player.port.session.hasBegun && !player.port.session.hasAudio
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
    loud.insert(room)
    tell(room, RoomChange(volume: alarm.volume, muted: false))
  }

  private func tell(_ room: String, _ change: RoomChange) {
    guard let number = rooms[room] else { return }
    for command in (try? change.commands(for: .room(number))) ?? [] {
      _ = player.port.carryOut(command)
    }
  }

  /// The alarm was changed while it rings.
  func change(to changed: Alarm) {
    let isOther = changed.volume != alarm.volume
    alarm = changed
    guard isOther else { return }
    for room in loud.sorted() { tell(room, RoomChange(volume: alarm.volume)) }
  }

  // MARK: - Time

  func note(_ event: SenderEvent) {
    player.note(event)
    if case .position = event { return }
    hasNews = true
  }

  /// Returns false if it rang before.
  func begin() -> Bool {
    guard case .waiting = phase else { return false }
    phase = .ringing
    return true
  }

  /// Lets the tone sound where the music does not come.
  func look(_ status: GroupStatus, at now: LocalTime) {
    hasNews = false
    guard case .music(let quietSince) = sound, !hasEnded else { return }
    let isHeard = status.rooms.contains { $0.status != nil }
    let isQuiet = isRinging && isHeard && [.buffering, .starting].contains(status.state)
    sound = .music(quietSince: isQuiet ? quietSince ?? now : nil)
    let isLate = toneTime.map { $0 <= now } ?? false
    guard isLate || isEmpty && limit <= now, let tone = player.items.last else { return }
    sound = .tone
    _ = player.port.carryOut(.jump(to: tone.id))
  }

  /// The rooms are told how loud they were, and to be quiet: before anything else sounds there.
  ///
  /// - Returns: the rooms that were told.
  func end(at now: LocalTime, restoring debts: [String: RoomChange]) -> [String] {
    guard !hasEnded else { return [] }
    phase = .ending(until: now + Self.farewell, hasRung: hasRung)
    let told = rooms.keys.sorted().filter { debts[$0] != nil && isConnected($0) }
    for room in told { tell(room, debts[room] ?? RoomChange()) }
    _ = player.port.carryOut(.stop)
    return told
  }

  func isOver(at now: LocalTime) -> Bool {
    endTime.map { $0 <= now || player.port.session.isFinished } ?? false
  }
}
