import Clock
import Sender
import WireProtocol

/// Announcements: which rooms hear them, when they begin, and who waits for whom.
extension HouseSession {
  /// Announcements that sound or wait: more than a household makes at once.
  package static let announcementLimit = 8

  /// Takes an announcement. It begins once all its rooms have it, and waits for those before it in the same rooms.
  func announce(_ wish: AnnouncementWish, _ id: RequestID) {
    do throws(Refusal) {
      for room in wish.rooms { try check(room: room) }
      guard !isOver else { return refuse(id) }
      guard announcements.count(where: \.isUnderWay) < Self.announcementLimit else {
        throw .notYet("too many announcements wait for their turn; try again in a minute")
      }
      let rooms = wish.rooms.isEmpty ? roomIDs.filter(isThere) : wish.rooms
      guard !rooms.isEmpty else { throw .unavailable("no room is there that could be heard") }
      let announcement = Announcement(wish, in: rooms, for: id)
      announcements.append(announcement)
      beginAnnouncements()
      guard announcement.isWaiting else { return }
      answer(announcement, said: "waits until the announcement before it has ended")
    } catch {
      emit(.answer(id, .failure(error)))
    }
  }

  /// True if an announcement for everybody should try it.
  private func isThere(_ room: String) -> Bool {
    switch state(ofRoom: room) {
    case .free, .playing, .joining, .noDevice: true
    case .away, .taken, .notPaired: false
    }
  }

  // MARK: - What is due

  func lookAtAnnouncements() {
    for announcement in announcements {
      switch announcement.look(at: now) {
      case .nothing: break
      case .begun: answerOutcome(of: announcement)
      case .ended:
        answerOutcome(of: announcement)
        if let visitor = announcement.takeVisitor() { close(visitor) }
        beginAnnouncements()
      }
    }
    announcements.removeAll(where: \.isOver)
  }

  var nextAnnouncement: LocalTime? { announcements.compactMap(\.nextDeadline).min() }

  /// The household ends. What has begun in rooms of groups that play on is heard to its end.
  func endAnnouncements() {
    for announcement in announcements {
      if let id = announcement.takeRequest() { refuse(id) }
    }
  }

  /// The players that visit rooms of no group. They are this session's no more.
  func takeVisitorsOfAnnouncements() -> [any GroupPlayer] {
    defer { announcements = [] }
    return announcements.compactMap { $0.takeVisitor() }
  }

  /// Begins those for whose rooms none waits or sounds before them.
  private func beginAnnouncements() {
    var taken: Set<String> = []
    for announcement in announcements where announcement.isUnderWay {
      if announcement.isWaiting, taken.isDisjoint(with: announcement.rooms) {
        send(announcement)
      }
      taken.formUnion(announcement.rooms)
    }
  }

  // MARK: - Sending

  private func send(_ announcement: Announcement) {
    var parts: [String: [String: RoomID]] = [:]
    var free: [String] = []
    for room in announcement.rooms {
      if let ring = ring(in: room) {
        if let number = ring.rooms[room], ring.isConnected(room) {
          parts[ring.alarm.id, default: [:]][room] = number
        } else {
          announcement.miss(room, obstacle(in: room))
        }
      } else if let group = group(ofRoom: room) {
        if let number = group.rooms[room]?.number, group.isConnected(room) {
          parts[group.id, default: [:]][room] = number
        } else {
          announcement.miss(room, obstacle(in: room))
        }
      } else if isVisitable(room) {
        free.append(room)
      } else {
        announcement.miss(room, obstacle(in: room))
      }
    }
    for id in parts.keys.sorted() {
      let ring = alarms.all.first { $0.alarm.id == id }
      guard let player = ring?.player.port ?? groups[id]?.player.port, let rooms = parts[id] else {
        continue
      }
      // While an alarm waits there, it is as loud as the rooms are afterwards.
      let isWaiting = ring.map { !$0.isRinging } ?? false
      offer(
        announcement, by: player, rooms,
        at: isWaiting ? alarms.debts.compactMapValues(\.volume) : [:])
    }
    visit(free, with: announcement)
    announcement.sent(at: now)
  }

  /// - Parameter levels: how loud it is in rooms that are not to be as loud as they are.
  private func offer(
    _ announcement: Announcement, by player: any GroupPlayer, _ rooms: [String: RoomID],
    at levels: [String: Double]
  ) {
    for (room, number) in rooms.sorted(by: { $0.key < $1.key }) where levels[room] != nil {
      announcement.offer(by: player, [room: number], cap: night.volumeCap, at: levels[room])
    }
    let rest = rooms.filter { levels[$0.key] == nil }
    if !rest.isEmpty { announcement.offer(by: player, rest, cap: night.volumeCap) }
  }

  private func isVisitable(_ room: String) -> Bool {
    // Nobody says of a room that is known by its address alone how it is.
    if Self.isAddress(room), known.record(room) == nil { return true }
    return state(ofRoom: room) == .free
  }

  private func visit(_ free: [String], with announcement: Announcement) {
    guard !free.isEmpty else { return }
    do throws(Refusal) {
      let player = try players.open(.visit)
      announcement.visit(free, by: player)
      var rooms: [String: RoomID] = [:]
      for room in free {
        letGo(room)
        self.rooms[room]?.visit?.leave(at: now)
        if let record = known.record(room) {
          rooms[room] = player.addRoom(record, takesOver: false)
        } else {
          let (host, port) = try RoomWish.address(room)
          rooms[room] = player.addRoom(host: host, port: port, takesOver: false)
        }
      }
      let cap = night.volumeCap
      // Nobody has turned down a room of no group when night began.
      let loud = rooms.keys.filter { self.rooms[$0]?.saved?.volume ?? 0 > cap }
      offer(
        announcement, by: player, rooms,
        at: Dictionary(loud.map { ($0, cap) }, uniquingKeysWith: { $1 }))
    } catch {
      for room in free { announcement.miss(room, error.description) }
    }
  }

  private func obstacle(in room: String) -> String {
    switch state(ofRoom: room) {
    case .notPaired: "is not paired yet; pair it first"
    case .taken: "is playing something of another sender"
    case .free, .joining: "is not reached yet; try again in a moment"
    case .playing, .away, .noDevice: "is switched off or out of reach"
    }
  }

  // MARK: - Answers

  private func answerOutcome(of announcement: Announcement) {
    guard announcement.takeOutcome() else { return }
    let missed = announcement.rooms.compactMap { room in
      announcement.missed[room].map { "\(nameByItself(room)) \($0)" }
    }
    guard announcement.request != nil else {
      // Who asked was told that it waits, and asks no more.
      if !missed.isEmpty { warn("an announcement was missed: \(missed.joined(separator: "; "))") }
      return
    }
    guard !announcement.heard.isEmpty else {
      let reason = missed.isEmpty ? "no room is there" : missed.joined(separator: "; ")
      return answer(announcement, .failure(.unavailable(reason)))
    }
    let heard = names(ofRooms: announcement.rooms.filter(announcement.heard.contains))
      .joined(separator: ", ")
    answer(announcement, said: ([heard + ": announced"] + missed).joined(separator: "\n"))
  }

  private func answer(_ announcement: Announcement, said: String) {
    let state = publish()
    answer(announcement, .success(Done(said: said).answer(state)))
  }

  private func answer(_ announcement: Announcement, _ result: Result<Answer, Refusal>) {
    if let id = announcement.takeRequest() { emit(.answer(id, result)) }
  }
}
