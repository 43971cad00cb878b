import Clock
import Sender
import WireProtocol

/// Rooms that play nothing, and are told how loud they are to be, or show people which they are.
extension HouseSession {
  /// Rooms that are told something at a time: more than a household sets at once.
  package static let roomVisitLimit = 8

  private var visitCount: Int { rooms.values.count { $0.visit != nil } }

  func tell(_ change: RoomChange, to room: String) throws(Refusal) {
    if rooms[room]?.visit?.tell(change, at: now) ?? false { return }
    let record = try present(room, "switch it on, then set it")
    guard visitCount < Self.roomVisitLimit, rooms[room]?.visit == nil else {
      throw .notYet("other rooms are being set just now; try again in a second")
    }
    let visit = RoomVisit(to: record, try players.open(.visit), at: now)
    _ = visit.tell(change, at: now)
    rooms[room, default: HouseRoom()].visit = visit
  }

  /// Both rooms of a stereo pair show themselves, or the one that can.
  func identify(_ room: String) throws(Refusal) {
    try check(room: room)
    let rooms = stereo.whole([room])
    let results = rooms.map { room in
      Result { () throws(Refusal) in try identifyOne(room) }
    }
    guard !results.contains(where: { (try? $0.get()) != nil }) else { return }
    try results[0].get()
  }

  private func identifyOne(_ room: String) throws(Refusal) {
    guard rooms[room]?.sign == nil else { return }
    guard ring(in: room) == nil else {
      throw .unavailable("an alarm rings in \(name(ofRoom: room)), or is about to")
    }
    let group = group(ofRoom: room)
    if let group, group.sounds, let link = group.playerRoom(room, group.player.status),
      let settings = link.settings
    {
      rooms[room, default: HouseRoom()].sign = RoomSign(
        blinking: link.id, of: group.player.port, wasMuted: settings.isMuted, at: now)
      return
    }
    let record = try present(room, "switch it on first")
    let player = try players.open(.sign)
    group?.remove(room)
    _ = player.addRoom(record, takesOver: false)
    rooms[room, default: HouseRoom()].sign = RoomSign(player, at: now)
  }

  /// Throws unless this household can visit the room.
  private func present(_ room: String, _ advice: String) throws(Refusal) -> RoomRecord {
    let name = name(ofRoom: room)
    guard !needsPairing(room) else {
      throw .unavailable("\(name) is not paired yet; pair it first")
    }
    guard !isTaken(room) else {
      throw .unavailable("\(name) is playing something of another sender")
    }
    guard let record = known.record(room), record.state != .away else {
      throw .unavailable("\(name) is switched off or out of reach; \(advice)")
    }
    letGo(room)
    return record
  }

  private var guests: [(key: String, value: HouseRoom)] {
    rooms.filter { $0.value.visit != nil || $0.value.sign != nil }.sorted { $0.key < $1.key }
  }

  func lookAtGuests() {
    for (id, room) in guests {
      if let visit = room.visit, visit.look(at: now) {
        rooms[id]?.visit = nil
        alarms.left.remove(id)
        close(visit.player)
      }
      if let sign = room.sign, sign.nextDeadline <= now || sign.isOver { look(at: sign, in: id) }
    }
  }

  /// The room goes back to its group when all was heard.
  private func look(at sign: RoomSign, in room: String) {
    // Each step shows at once; it would be over before the next look.
    desk.hasNews = true
    guard sign.look(at: now) else { return }
    rooms[room]?.sign = nil
    if let player = sign.end() { close(player) }
    guard let group = plan.group(ofRoom: room)?.id, groups[group]?.rooms[room] == nil else {
      return
    }
    connect(room, in: group, takes: false)
  }

  /// The household ends.
  func endGuests() {
    for (id, room) in guests {
      if let visit = room.visit { close(visit.player) }
      if let player = room.sign?.end() { close(player) }
      rooms[id]?.visit = nil
      rooms[id]?.sign = nil
    }
  }
}

extension HouseGroup {
  /// True if its rooms make a sound now.
  fileprivate var sounds: Bool { !isResting && player.status.state == .playing }
}
