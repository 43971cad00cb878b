import Clock
import Sender
import WireProtocol

/// How things are, for the surfaces.
extension HouseSession {
  /// Without its revision.
  func makeState() -> HouseState {
    let now = now
    let statuses = groups.mapValues(\.player.status)
    let rooms = shown(roomIDs.map { room(id: $0, statuses, at: now) })
    var server = HouseState.Server(
      id: configuration.id, name: configuration.name, version: configuration.version)
    server.diskProblem = disk.problem
    (server.second, server.secondProblem) = (second.machine.host, second.problem)
    server.zoneOffsetS = alarms.book.zoneOffset
    server.night = night.shown
    (server.dates, server.fixed) = (setUp.chosen.dates, setUp.fixed.keys)
    var state = HouseState(
      revision: 0, nowMs: Self.milliseconds(now), server: server,
      groups: plan.groups.filter { !$0.isAbandoned }.compactMap { group in
        guard let status = statuses[group.id], let house = groups[group.id] else { return nil }
        return self.group(group, house, status, rooms, at: now)
      },
      rooms: rooms.sorted { ($0.name, $0.id) < ($1.name, $1.id) }, inputs: shownInputs,
      alarms: shownAlarms, library: library)
    state.scenes = scenes.scenes.map(shown)
    return state
  }

  /// All rooms as surfaces see them.
  var shownRooms: [HouseState.Room] {
    let statuses = groups.mapValues(\.player.status)
    return shown(roomIDs.map { room(id: $0, statuses, at: now) })
  }

  /// The names of its rooms as surfaces see them.
  package var roomNames: [String] { shownRooms.map(\.name) }

  package func page(of id: String, offset: Int, limit: Int) throws(Refusal) -> QueuePage {
    let group = try group(id)
    let items = group.items
    let status = group.player.status
    let current = group.place(status)?.entry
    let start = min(max(offset, 0), items.count)
    let entries = items[start..<min(start + max(limit, 0), items.count)].map { item in
      var entry = QueuePage.Entry(
        id: item.id, title: "", uri: item.location, isCurrent: item.id == current)
      let known = group.player.details[item.id]
      let opened = group.player.opened(item, status)
      entry.artist = known?.artist ?? opened?.metadata.artist
      entry.album = known?.album ?? opened?.metadata.album
      entry.title = group.title(of: item, opened?.metadata.title)
      entry.durationS = known?.durationS ?? opened?.duration?.seconds
      (entry.artwork, entry.trackId) = (known?.artwork ?? cover(of: item), known?.trackId)
      entry.problem = group.player.failedItems[item.id]?.problem
      entry.reach = item.reach
      return entry
    }
    return QueuePage(
      revision: group.queueRevision, count: items.count,
      index: current.flatMap { id in items.firstIndex { $0.id == id } }, entries: entries)
  }

  /// Those of these addresses that stand in a queue for the internet alone, or that an undo would bring back so.
  package func narrow(among addresses: Set<String>) -> Set<String> {
    var found: Set<String> = []
    for group in groupsInOrder { found.formUnion(group.narrow(among: addresses)) }
    return found
  }

  static func milliseconds(_ time: LocalTime) -> Double {
    (Double(time.nanoseconds) / 1e6).rounded(to: 3)
  }

  // MARK: - Groups

  private func group(
    _ plan: HousePlan.Group, _ group: HouseGroup, _ status: GroupStatus,
    _ rooms: [HouseState.Room], at now: LocalTime
  ) -> HouseState.Group {
    let members = plan.rooms.compactMap { id in rooms.first { $0.id == id } }
    var state = group.shown(
      name: plan.name ?? HousePlan.name(ofRooms: members.map(\.name)), isNamed: plan.name != nil,
      status, at: now, cover: cover(of:))
    (state.roomIds, state.detail) = (stereo.shown(plan.rooms), Self.detail(of: members))
    if group.player.volumes(status).isEmpty {
      state.volume = Self.volume(of: members)
    } else {
      state.muted = members.allSatisfy { $0.muted ?? true }
    }
    state.queue.canUndo = standingMerge(of: group.id)?.sentence ?? state.queue.canUndo
    let buffered = members.compactMap(\.sync?.bufferedS).min()
    if !group.isResting(status), status.item != nil, let buffered {
      let end = state.positionS + buffered * status.rate
      state.bufferedUntilS = min(end, status.duration?.seconds ?? end).rounded(to: 3)
    }
    return state
  }

  /// As it is remembered of rooms that are not there.
  private static func volume(of rooms: [HouseState.Room]) -> Double {
    let known = rooms.compactMap { room in room.volume.map { (room.id, $0) } }
    return GroupVolume().level(of: Dictionary(known, uniquingKeysWith: { $1 }))
  }

  /// The picture that the program of an input has given.
  private func cover(of item: PlayItem) -> String? {
    guard case .input(let name) = LiveLocation(item.location) else { return nil }
    return inputStates[name]?.cover
  }

  /// Says what is amiss, the worst first.
  private static func detail(of rooms: [HouseState.Room]) -> String? {
    let troubles: [(HouseState.Room.State, String)] = [
      (.noDevice, "it has no sound card"), (.taken, "it plays for another sender"),
      (.notPaired, "it is not paired yet"), (.away, "it is away"),
      (.buffering, "its network is slow"),
    ]
    for (state, sentence) in troubles {
      guard let room = rooms.first(where: { $0.state == state }) else { continue }
      return "\(room.name): " + (room.detail ?? sentence)
    }
    return nil
  }

  // MARK: - Rooms

  /// A room by itself, also if it is one of a stereo pair.
  func room(
    id: String, _ statuses: [String: GroupStatus], at now: LocalTime
  ) -> HouseState.Room {
    let record = known.record(id)
    let group = group(ofRoom: id)
    let ring = ring(in: id)
    let status = ring?.player.status ?? group.flatMap { statuses[$0.id] }
    let link = status.flatMap { ring?.room(id, $0) ?? group?.playerRoom(id, $0) }
    let visit = group == nil && ring == nil ? rooms[id]?.visit : nil
    var room = HouseState.Room(
      id: id, name: name(ofRoom: id), state: .free, isPaired: !needsPairing(id),
      isPresent: link?.status != nil || record.map { $0.state != .away } ?? false)
    (room.model, room.groupId) = (record?.model, group?.id)
    take(link?.settings ?? visit?.settings, into: &room)
    if ring?.isRinging != true, let debt = alarms.debts[id] {
      (room.volume, room.muted) = (debt.volume ?? room.volume, debt.muted ?? room.muted)
      if room.isVolumeLimitFixed != true {
        room.volumeLimit = debt.volumeLimit ?? room.volumeLimit
      }
    }
    visit?.promise(&room)
    room.canUnpair = receiver(of: id).map(known.paired.contains) ?? false
    switch state(ofRoom: id, statuses) {
    case .free: room.state = .free
    case .joining: room.state = .starting
    case .away(let detail, let reason):
      (room.state, room.detail, room.reason) = (.away, detail, reason)
    case .taken(let detail, let reason):
      (room.state, room.detail, room.reason) = (.taken, detail, reason)
    case .notPaired: (room.state, room.reason) = (.notPaired, RoomReason(.notPaired))
    case .playing(let live), .noDevice(let live):
      room.state = Self.state(
        of: live, group: status,
        isResting: ring.map { !$0.isRinging }
          ?? group.map { status.map($0.isResting) ?? true } ?? true)
      room.detail = live.detail.isEmpty ? nil : live.detail
      room.reason = Self.reason(of: room.state, live)
      room.sync = RoomSync(live)
      room.smallEncoding = link?.smallEncoding?.name
      noteHeld(id)
    }
    if groups.values.contains(where: { $0.isLeaving(id) }) { noteHeld(id) }
    if room.state == .away {
      room.awaySinceMs = rooms[id]?.seen.map(Self.milliseconds)
    } else {
      noteSeen(id)
    }
    return room
  }

  private static func reason(of state: HouseState.Room.State, _ live: RoomStatus) -> RoomReason? {
    switch state {
    case .noDevice: RoomReason(.noDevice)
    case .buffering where live.state == .starved: RoomReason(.slowNetwork)
    case .free, .starting, .playing, .paused, .buffering, .away, .taken, .notPaired: nil
    }
  }

  private func take(_ settings: RoomSettings?, into room: inout HouseState.Room) {
    if let settings {
      room.volume = Double(settings.volume) / 10
      room.muted = settings.isMuted
      room.delayMs = (settings.delay.seconds * 1000).rounded(to: 3)
      room.channels = "\(settings.channelMap)"
      room.volumeLimit = settings.volumeLimit.map { Double($0.volume) / 10 }
      room.isVolumeLimitFixed = settings.volumeLimit?.isFixed
      room.sound = settings.sound.map { SoundReport($0, hasFIR: settings.hasFIR) }
      var saved = HouseRecord.Room(id: room.id, name: ownName(ofRoom: room.id))
      (saved.volume, saved.muted) = (room.volume, room.muted)
      (saved.delayMs, saved.channels) = (room.delayMs, room.channels)
      (saved.volumeLimit, saved.isVolumeLimitFixed) = (room.volumeLimit, room.isVolumeLimitFixed)
      saved.sound = room.sound
      keep(saved)
    } else if let saved = rooms[room.id]?.saved {
      (room.volume, room.muted) = (saved.volume, saved.muted)
      (room.delayMs, room.channels) = (saved.delayMs, saved.channels)
      (room.volumeLimit, room.isVolumeLimitFixed) = (saved.volumeLimit, saved.isVolumeLimitFixed)
      room.sound = saved.sound
    }
  }

  private static func state(
    of room: RoomStatus, group: GroupStatus?, isResting: Bool
  ) -> HouseState.Room.State {
    switch room.state {
    case .noDevice: .noDevice
    case _ where isResting: .free
    case .playing: .playing
    case .starved: .buffering
    case .paused: group?.state == .buffering ? .buffering : .paused
    case .idle, .priming, .ready: group?.state == .paused ? .paused : .starting
    }
  }
}
