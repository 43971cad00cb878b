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
      entry.problem = group.player.failedItems[item.id]
      entry.reach = item.reach
      return entry
    }
    return QueuePage(
      revision: group.queueRevision, count: items.count,
      index: current.flatMap { id in items.firstIndex { $0.id == id } }, entries: entries)
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
    let place = group.place(status)
    let isResting = group.isResting(status)
    let items = group.items
    let volumes = group.player.volumes(status)
    let sounds = status.presentationTime ?? now
    var state = HouseState.Group(
      id: plan.id, name: plan.name ?? HousePlan.name(ofRooms: members.map(\.name)),
      isNamed: plan.name != nil, roomIds: stereo.shown(plan.rooms),
      state: isResting ? (place?.seconds ?? 0 > 0 ? .paused : .stopped) : .init(status.state),
      detail: Self.detail(of: members), item: item(place, group, status),
      positionS: place?.seconds ?? 0, positionAtMs: Self.milliseconds(sounds), rate: status.rate,
      targetS: isResting ? nil : status.target?.seconds.rounded(to: 3),
      volume: volumes.isEmpty ? Self.volume(of: members) : group.player.level(of: volumes),
      muted: !volumes.isEmpty && members.allSatisfy { $0.muted ?? true },
      repeat: status.repetition, effects: EffectsReport(status.effects),
      queue: .init(
        revision: group.queueRevision, count: items.count,
        index: place.flatMap { place in items.firstIndex { $0.id == place.entry } },
        canUndo: standingMerge(of: group.id)?.sentence ?? group.undo?.sentence))
    state.queue.isShuffled = group.unshuffled != nil && !items.isEmpty
    let buffered = members.compactMap(\.sync?.bufferedS).min()
    if !isResting, status.item != nil, let buffered {
      let end = state.positionS + buffered * status.rate
      state.bufferedUntilS = min(end, status.duration?.seconds ?? end).rounded(to: 3)
    }
    state.sleepAtMs = group.sleep.end.map(Self.milliseconds)
    return state
  }

  /// As it is remembered of rooms that are not there.
  private static func volume(of rooms: [HouseState.Room]) -> Double {
    let known = rooms.compactMap { room in room.volume.map { (room.id, $0) } }
    return GroupVolume().level(of: Dictionary(known, uniquingKeysWith: { $1 }))
  }

  private func item(
    _ place: QueuePlace?, _ group: HouseGroup, _ status: GroupStatus
  ) -> HouseState.Item? {
    guard let place else { return nil }
    let opened = status.item.flatMap { $0.item.id == place.entry ? $0 : nil }
    guard let item = opened?.item ?? group.player.playlist.item(place.entry) else {
      return nil
    }
    let known = group.player.details[place.entry]
    let metadata = opened?.metadata
    var shown = HouseState.Item(
      entryId: place.entry, title: group.title(of: item, metadata?.title),
      isSeekable: opened?.isSeekable ?? true,
      isLive: opened?.supply == .live
        || LiveLocation.isNamed(item.location),
      hasVideo: known?.hasVideo ?? false)
    // A station says what it plays; what the library knows of a file is what its user sees there.
    shown.artist = shown.isLive ? metadata?.artist : known?.artist ?? metadata?.artist
    shown.album = known?.album ?? metadata?.album
    if shown.isLive { shown.title = metadata?.title ?? shown.title }
    (shown.trackId, shown.albumId) = (known?.trackId, known?.albumId)
    shown.artwork = known?.artwork ?? opened.flatMap { _ in cover(of: item) }
    shown.durationS =
      (opened.flatMap { _ in status.duration?.seconds } ?? known?.durationS)?.rounded(to: 3)
    shown.codec = opened?.wire?.codec.title
    shown.codecReason = opened?.wire?.sentence
    shown.isUnchanged = opened?.wire?.isUnchanged
    return shown
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
    }
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
    default: nil
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

extension HouseGroup {
  /// As people call it.
  func title(of item: PlayItem, _ opened: String?) -> String {
    let title = player.details[item.id]?.title ?? opened ?? item.title
    return title ?? ItemName.text(title: nil, artist: nil, location: item.location)
  }
}

extension HouseState.Group.State {
  /// Describes a group that is not at rest.
  fileprivate init(_ state: GroupStatus.State) {
    self =
      switch state {
      case .starting: .starting
      case .playing: .playing
      case .buffering: .buffering
      case .paused: .paused
      case .stopped, .finished: .stopped
      }
  }
}
