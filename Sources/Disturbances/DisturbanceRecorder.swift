package import Clock
package import Sender
import WireProtocol

/// Writes down what happens to a household, as lines of a `DisturbanceRecord`. It has no I/O: it is told, and whoever has the
/// file takes lines that stay, and the end that is written anew each time. A fault's line says how long it lasted; until it is
/// over, it stands in the end, so that a daemon that is killed leaves it, too.
package struct DisturbanceRecorder {
  /// The end is written so often: it says how long a daemon that was killed has lived.
  package static let heartbeat = Nanoseconds.seconds(10)
  /// A longer gap between two daemons is a clock on the wall that was wrong, or a night.
  package static let longestGap = Nanoseconds.seconds(86_400)
  /// Bytes that the end takes at most: two lines for each room, and one more.
  private static let endSize = 16 << 10

  package struct Room: Hashable, Sendable {
    package var id: String
    package var name: String

    package init(id: String, name: String) { (self.id, self.name) = (id, name) }
  }

  package struct Group: Hashable, Sendable {
    package var id: String
    package var name: String
    /// True if it plays nothing until an item is chosen, or has not yet begun.
    package var isHalted: Bool
    package var rooms: [Room]

    package init(id: String, name: String, isHalted: Bool, rooms: [Room]) {
      (self.id, self.name, self.isHalted, self.rooms) = (id, name, isHalted, rooms)
    }
  }

  package enum Input {
    /// The groups and their rooms as they are now: at the start, and after each change.
    case groups([Group])
    /// The player of a group has carried it out.
    case command(PlayerCommand, group: String)
    /// Something has happened to a room of a group. `holds`: it has music that this sender or the one before had sent it,
    /// so it was not started again.
    case room(Room, SenderEvent.RoomChange, group: String, holds: Bool)
  }

  /// A room, or a group; those of an earlier daemon have only a name until they are seen again.
  private struct Known {
    var id: String?
    /// Nil until its line is written.
    var name: String?
    /// The group that a room is in.
    var group: Int?
    /// Since when a room cannot be reached, and if it says nothing.
    var away: (since: Double, isSilent: Bool)?
    /// Since when a room has no sound card.
    var cardless: Double?
  }

  private let zero: LocalTime
  private var rooms: [Known] = []
  private var groups: [Known] = []
  private var lines = ""
  private var byteCount: Int
  private var nextEnd: LocalTime
  private var hasNews = true
  /// True once nothing more is recorded: the file has all that it may have.
  package private(set) var isFull = false

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - program: its version.
  ///   - began: when, for people.
  package init(program: String, began: String, at now: LocalTime) {
    (zero, nextEnd, byteCount) = (now, now, 0)
    var record = DisturbanceRecord()
    (record.program, record.began) = (program, began)
    lines = record.text
    byteCount = lines.utf8.count
  }

  /// Continues a file of `kept` bytes, `gap` after it was written last.
  package init(
    continuing record: DisturbanceRecord, kept: Int, after gap: Nanoseconds, at now: LocalTime
  ) {
    let gap = min(max(gap, .zero), Self.longestGap)
    let end = Nanoseconds(Int64((record.end * 1000).rounded()) * 1_000_000)
    // A millisecond later, so that what happens now happens to a sender that has started.
    zero = now + -(end + gap + .milliseconds(1))
    (nextEnd, byteCount) = (now, kept)
    rooms = record.rooms.map { Known(name: $0) }
    groups = record.groups.map { Known(name: $0) }
    for disturbance in record.disturbances { note(disturbance) }
    add(.restartSender(seconds: gap.seconds), at: record.end)
  }

  private mutating func note(_ disturbance: Disturbance) {
    switch disturbance.kind {
    case .join(let room) where rooms.indices.contains(room): rooms[room].group = disturbance.group
    case .leave(let room) where rooms.indices.contains(room): rooms[room].group = nil
    default: break
    }
  }

  package mutating func handle(_ input: Input, at now: LocalTime) {
    guard !isFull else { return }
    let time = seconds(now)
    switch input {
    case .groups(let groups): take(groups, at: time)
    case .command(let command, let group):
      guard let command = Disturbance.Command(command), let number = number(ofGroup: group) else {
        return
      }
      add(.command(command), at: time, group: number)
    case .room(let room, let change, let group, let holds):
      guard let group = number(ofGroup: group), let room = number(of: room) else { return }
      take(change, of: room, in: group, holds: holds, at: time)
    }
  }

  /// False where a group was not in `groups` yet.
  package func knows(_ group: String) -> Bool { number(ofGroup: group) != nil }

  /// When to ask for the lines if nothing else happens first; nil once there are no more.
  package var nextDeadline: LocalTime? { isFull && !hasNews ? nil : nextEnd }

  /// Returns the lines that stay, and the end that follows them; nil if there is nothing to write yet.
  package mutating func take(at now: LocalTime) -> (lines: String, end: String)? {
    guard hasNews || (!isFull && nextEnd <= now) else { return nil }
    defer { (lines, hasNews, nextEnd) = ("", false, now + Self.heartbeat) }
    return (lines, isFull ? "" : end(at: seconds(now)))
  }

  private func end(at time: Double) -> String {
    let open = rooms.indices.flatMap { room in
      [away(room, at: time), cardless(room, at: time)].compactMap(\.self).map(\.description)
    }
    return (open + [DisturbanceRecord.running(time)]).map { $0 + "\n" }.joined()
  }

  private func seconds(_ time: LocalTime) -> Double {
    Double(max(0, (time - zero).count) / 1_000_000) / 1000
  }

  // MARK: - Lines

  private mutating func add(_ kind: Disturbance.Kind, at time: Double, group: Int = 0) {
    add(Disturbance(at: time, kind: kind, group: group).description)
  }

  private mutating func add(_ line: String) {
    guard !isFull else { return }
    let size = line.utf8.count + 1
    isFull = byteCount + size + Self.endSize > DisturbanceRecord.byteLimit
    let line = isFull ? "# the record is full" : line
    lines += line + "\n"
    byteCount += size
    hasNews = true
  }

  // MARK: - Rooms and groups

  private mutating func take(_ given: [Group], at time: Double) {
    var present: Set<Int> = []
    for group in given {
      let isNew = number(ofGroup: group.id) == nil
      guard let number = number(of: group) else { continue }
      if isNew, group.isHalted { add(.command(.halt), at: time, group: number) }
      for room in group.rooms {
        guard let room = self.number(of: room) else { continue }
        present.insert(room)
        join(room, number, at: time)
      }
    }
    for room in rooms.indices where !present.contains(room) { leave(room, at: time) }
  }

  private func number(ofGroup id: String) -> Int? { groups.firstIndex { $0.id == id } }

  private mutating func number(of group: Group) -> Int? {
    let name = DisturbanceRecord.name(group.name)
    let number = Self.number(
      group.id, name, in: &groups, atMost: DisturbanceRecord.groupLimit)
    guard let number, groups[number].name != name else { return number }
    groups[number].name = name
    add(DisturbanceRecord.group(number, name))
    return number
  }

  private mutating func number(of room: Room) -> Int? {
    let name = DisturbanceRecord.name(room.name)
    let number = Self.number(room.id, name, in: &rooms, atMost: DisturbanceRecord.roomLimit)
    guard let number, rooms[number].name != name else { return number }
    rooms[number].name = name
    add(DisturbanceRecord.room(number, name))
    return number
  }

  /// The number of what has this identity, or had this name in an earlier daemon. A new one has no name yet.
  private static func number(
    _ id: String, _ name: String, in known: inout [Known], atMost limit: Int
  ) -> Int? {
    if let number = known.firstIndex(where: { $0.id == id }) { return number }
    if let kept = known.firstIndex(where: { $0.id == nil && $0.name == name }) {
      known[kept].id = id
      return kept
    }
    guard known.count < limit else { return nil }
    known.append(Known(id: id))
    return known.count - 1
  }

  private mutating func join(_ room: Int, _ group: Int, at time: Double) {
    guard rooms[room].group != group else { return }
    leave(room, at: time)
    rooms[room].group = group
    add(.join(room), at: time, group: group)
  }

  private mutating func leave(_ room: Int, at time: Double) {
    guard let group = rooms[room].group else { return }
    isBack(room, at: time)
    hasCard(room, at: time)
    rooms[room].group = nil
    add(.leave(room), at: time, group: group)
  }

  // MARK: - What happens to a room

  private mutating func take(
    _ change: SenderEvent.RoomChange, of room: Int, in group: Int, holds: Bool, at time: Double
  ) {
    switch change {
    case .connected:
      join(room, group, at: time)
      if holds { rooms[room].away?.isSilent = true }
      isBack(room, at: time)
    case .gone:
      // Silence is noticed when it has lasted.
      let silence = change.isSilence ? ProtocolLimits.silence.seconds : 0
      isAway(room, since: max(0, time - silence), isSilent: change.isSilence)
      hasCard(room, at: time)
    case .unreachable, .refused, .notPaired: isAway(room, since: time, isSilent: true)
    case .replaced: leave(room, at: time)
    case .state(.noDevice, _):
      guard rooms[room].cardless == nil else { return }
      (rooms[room].cardless, hasNews) = (time, true)
    case .state: hasCard(room, at: time)
    case .namedTwice, .flushed, .recoded, .weak, .recovered, .choseLatency: break
    }
  }

  /// A later reason does not change when it went.
  private mutating func isAway(_ room: Int, since: Double, isSilent: Bool) {
    guard rooms[room].away == nil else { return }
    (rooms[room].away, hasNews) = ((since, isSilent), true)
  }

  private mutating func isBack(_ room: Int, at time: Double) {
    if let line = away(room, at: time) { add(line.description) }
    rooms[room].away = nil
  }

  private mutating func hasCard(_ room: Int, at time: Double) {
    if let line = cardless(room, at: time) { add(line.description) }
    rooms[room].cardless = nil
  }

  /// A room that says nothing has no network. One that ends its connections and has forgotten its music was started again.
  private func away(_ room: Int, at time: Double) -> Disturbance? {
    rooms[room].away.map { away in
      let seconds = max(0, time - away.since)
      return Disturbance(
        at: away.since,
        kind: away.isSilent
          ? .partition(room, seconds: seconds) : .restart(room, seconds: seconds))
    }
  }

  private func cardless(_ room: Int, at time: Double) -> Disturbance? {
    rooms[room].cardless.map { since in
      Disturbance(at: since, kind: .unplug(room, seconds: max(0, time - since)))
    }
  }
}

extension Disturbance.Command {
  /// Nil for commands that change neither what sounds nor when.
  init?(_ command: PlayerCommand) {
    switch command {
    case .pause, .pauseAt: self = .pause
    case .resume, .resumeAt: self = .resume
    case .seek(let position): self = .seek(to: position)
    case .seekBy(let span): self = .seekBy(span)
    // It is a seek ahead, how far is not known here.
    case .live: self = .seekBy(.seconds(60))
    case .next: self = .next
    case .previous: self = .previous
    case .jump: self = .another
    case .halt: self = .halt
    case .volume, .volumeBy, .mute, .streamVolume, .rise, .delay, .channelMap, .volumeLimit, .sound,
      .volumeCap, .renew, .restart, .effectsAt, .cue, .edit, .effects, .observePosition, .offerClip,
      .beginClip, .withdrawClip, .stop:
      return nil
    }
  }
}
