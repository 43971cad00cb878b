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
    if isBeyondCap(index) { try? set(.room(id), at: now) { _ in } }
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
      let before = settings
      change(&settings)
      settings.limitVolume()
      settings.volume = min(settings.volume, volumeCap)
      links[index].connected?.told(settings, at: now)
      if settings.delay != before.delay {
        links[index].connected?.excuseStarvation(at: now, delayedBy: settings.delay - before.delay)
      }
      // The limit that a room has is no news for it.
      if settings.volumeLimit == before.volumeLimit { settings.volumeLimit = nil }
      tell(index, .settings(settings), at: now)
    }
  }

  /// Changes nothing if one of the rooms cannot take it.
  mutating func set(
    _ change: SoundChange, of rooms: RoomSelection, at now: LocalTime
  ) throws(CommandRefusal) {
    if case .room(let id) = rooms, self[id] == nil { throw .noSuchRoom(id) }
    for link in links where rooms.contains(link.id) {
      guard let settings = link.connected?.settings else { continue }
      guard settings.sound != nil else { throw .keepsNoSound(link.name) }
      if change.usesFIR == true, !settings.hasFIR { throw .hasNoFIR(link.name) }
    }
    for index in links.indices where rooms.contains(links[index].id) {
      guard var settings = links[index].connected?.settings, var sound = settings.sound else {
        continue
      }
      change.apply(to: &sound)
      settings.sound = sound
      links[index].connected?.told(settings, at: now)
      tell(index, .sound(sound), at: now)
    }
  }

  mutating func setVolumeCap(_ cap: UInt16, at now: LocalTime) {
    volumeCap = cap
    for index in links.indices where isBeyondCap(index) {
      try? set(.room(links[index].id), at: now) { _ in }
    }
  }

  private func isBeyondCap(_ index: Int) -> Bool {
    links[index].connected.map { $0.settings.volume > volumeCap } ?? false
  }

  /// Limits nothing if one of the rooms cannot be limited.
  mutating func set(
    volumeLimit limit: UInt16, of rooms: RoomSelection, at now: LocalTime
  ) throws(CommandRefusal) {
    for link in links where rooms.contains(link.id) {
      guard let settings = link.connected?.settings else { continue }
      guard let known = settings.volumeLimit else { throw .keepsNoVolumeLimit(link.name) }
      guard !known.isFixed else { throw .volumeLimitIsFixed(link.name) }
    }
    let range = ProtocolLimits.volumeLimit
    let limit = min(max(limit, range.lowerBound), range.upperBound)
    try set(rooms, at: now) { $0.volumeLimit = VolumeLimit(limit) }
  }
}
