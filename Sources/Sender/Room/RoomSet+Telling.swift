import Clock
import WireProtocol

/// Sends messages to rooms: the group's decisions to all, and to each one what it has missed.
extension RoomSet {
  mutating func tell(_ index: Int, _ message: ControlMessage, at now: LocalTime) {
    guard links[index].connected != nil else { return }
    links[index].connected?.spoke(at: now)
    outputs.append(.send(links[index].id, .control, message.encoded()))
  }

  /// Tells people of a room. A room that was removed meanwhile concerns nobody.
  mutating func tellOf(_ id: RoomID, _ change: SenderEvent.RoomChange) {
    guard let index = index(of: id) else { return }
    outputs.append(.event(.room(.init(id: id, name: links[index].name), change)))
  }

  mutating func tellAll(_ message: ControlMessage, at now: LocalTime) {
    for index in links.indices {
      if case .flush(let flush) = message {
        links[index].connected?.announced.flush(from: flush.from)
      }
      tell(index, message, at: now)
    }
  }

  /// Brings the announcements that each room has into line with what is enqueued.
  mutating func announce(_ announcements: [NowPlaying], at now: LocalTime) {
    for index in links.indices {
      for message in links[index].connected?.announced.replace(with: announcements) ?? [] {
        tell(index, .nowPlaying(message), at: now)
      }
    }
  }

  /// Answers a welcome: tells the room what it has missed, and asks for a connection for its media.
  mutating func admit(_ id: RoomID, telling messages: [ControlMessage], at now: LocalTime) {
    guard let index = index(of: id) else { return }
    for message in messages { tell(index, message, at: now) }
    deliverClips(to: id, at: now)
    outputs.append(.connect(id, .media))
    removeTwins(of: id)
  }

  mutating func set(
    _ rooms: RoomSelection, at now: LocalTime, _ change: (inout RoomSettings) -> Void
  ) throws(CommandRefusal) {
    if case .room(let id) = rooms, self[id] == nil { throw .noSuchRoom(id) }
    for index in links.indices where rooms.contains(links[index].id) {
      guard var settings = links[index].connected?.settings else { continue }
      let before = settings.delay
      change(&settings)
      links[index].connected?.settings = settings
      if settings.delay != before {
        links[index].connected?.excuseStarvation(at: now, delayedBy: settings.delay - before)
      }
      tell(index, .settings(settings), at: now)
    }
  }
}
