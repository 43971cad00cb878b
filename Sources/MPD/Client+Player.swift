import House
import MPDProtocol
import Sender
import Service

extension Client {
  // MARK: - How things are

  mutating func status() async throws {
    let (state, group) = try await view()
    guard let group else { return writeStatusWithoutGroup(state) }
    let queue = try await queue(of: group, state)
    if !group.roomIds.isEmpty { reply.pair("volume", Int(group.volume.rounded())) }
    reply.pair("repeat", group.repeat == .off ? 0 : 1)
    reply.pair("random", group.queue.isShuffled ? 1 : 0)
    reply.pair("single", group.repeat == .one ? 1 : 0)
    reply.pair("consume", 0)
    reply.pair("partition", await household.hub.book.group(group.id)?.slug ?? "default")
    reply.pair("playlist", queue.version)
    reply.pair("playlistlength", queue.ids.count)
    if let seconds = group.effects.crossfadeS { reply.pair("xfade", Int(seconds.rounded())) }
    reply.pair("mixrampdb", 0)
    reply.pair("state", group.state.word.rawValue)
    await writeScan(state)
    if let failed = group.failed {
      if clearedFailure.map({ $0 != (group.id, failed.entryId) }) ?? true {
        reply.pair("error", "\(failed.title): \(failed.problem)")
      }
    } else if clearedFailure?.group == group.id {
      // The same entry may fail again.
      clearedFailure = nil
    }
    writePlace(group, queue, state)
  }

  /// The other clients are still told.
  mutating func clearError() async throws {
    guard let group = try await view().1, let failed = group.failed else { return }
    clearedFailure = (group.id, failed.entryId)
  }

  private mutating func writeStatusWithoutGroup(_ state: HouseState) {
    for key in ["repeat", "random", "single", "consume"] { reply.pair(key, 0) }
    reply.pair("partition", "default")
    reply.pair("playlist", 1)
    reply.pair("playlistlength", 0)
    reply.pair("mixrampdb", 0)
    reply.pair("state", PlayerWord.stop.rawValue)
  }

  private mutating func writeScan(_ state: HouseState) async {
    guard state.library.scan != nil else { return }
    reply.pair("updating_db", max(1, await household.hub.scanNumber))
  }

  private mutating func writePlace(
    _ group: HouseState.Group, _ queue: QueueView, _ state: HouseState
  ) {
    guard let entry = group.item?.entryId, let place = queue.ids.firstIndex(of: entry) else {
      return
    }
    reply.pair("song", place)
    reply.pair("songid", QueueView.number(entry))
    if group.state.word != .stop {
      let elapsed = group.elapsed(at: state.nowMs)
      let duration = group.item?.durationS
      reply.pair("time", "\(Self.whole(elapsed)):\(Self.whole(duration ?? 0))")
      reply.pair("elapsed", seconds: elapsed)
      reply.pair("bitrate", 0)
      if let duration { reply.pair("duration", seconds: duration) }
    }
    let next =
      switch group.repeat {
      case .one: place
      case .all: (place + 1) % queue.ids.count
      case .off: place + 1
      }
    guard queue.ids.indices.contains(next) else { return }
    reply.pair("nextsong", next)
    reply.pair("nextsongid", QueueView.number(queue.ids[next]))
  }

  private static func whole(_ seconds: Double) -> Int { Int(min(max(0, seconds), 1e9).rounded()) }

  mutating func currentSong() async throws {
    let (state, group) = try await view()
    guard let group, let item = group.item else { return }
    let queue = try await queue(of: group, state)
    guard let place = queue.ids.firstIndex(of: item.entryId) else { return }
    var song = queue.songs[place]
    // A station says what it plays.
    if item.isLive {
      song.name = song.name ?? song.title
      song.title = item.title == song.name ? nil : item.title
    } else {
      song.title = song.title ?? item.title
    }
    (song.artist, song.album) = (song.artist ?? item.artist, song.album ?? item.album)
    song.durationS = song.durationS ?? item.durationS
    song.write(to: &reply, tags: tags)
    reply.pair("Pos", place)
    reply.pair("Id", QueueView.number(item.entryId))
  }

  mutating func stats() async throws {
    let state = try await state()
    let uptime = (ContinuousClock.now - household.start) / .seconds(1)
    let library = household.library
    let seconds = try await household.playtime.seconds(of: state.library.revision) {
      try await library.songs(.below(""), into: 0.0) { sum, song in
        sum += song.track.durationS ?? 0
      }
    }
    reply.pair("uptime", Int(uptime))
    reply.pair("playtime", 0)
    reply.pair("artists", try await household.library.artists(offset: 0, limit: 1).count)
    reply.pair("albums", state.library.albumCount)
    reply.pair("songs", state.library.trackCount)
    reply.pair("db_playtime", Int(min(seconds, 1e12)))
    reply.pair("db_update", await household.hub.songsTime)
  }

  // MARK: - Transport

  func transport(_ transport: Order.Transport) async throws {
    guard let group = try await view().group else { return }
    _ = try await perform(.transport(group: group.id, transport))
  }

  /// Returns when the state shows the other song. A group that is paused plays it.
  func skip(_ transport: Order.Transport) async throws {
    let (state, group) = try await view()
    guard let group, group.state.word != .stop else { throw Ack.notPlaying }
    let before = transport == .previous ? try await songBefore(group, state) : nil
    // Until a song is heard, the household knows better than its state which one was chosen last.
    if let before, group.elapsed(at: state.nowMs) > 0 { return try await play(before, group) }
    _ = try await perform(.transport(group: group.id, transport))
    let isOther = transport == .next ? group.queue.count > 1 : before != nil
    if isOther { try await settle(after: group) }
    if group.state.word == .pause { try await pause("0") }
  }

  /// The song before one that has played for a while, which the household would begin anew. Nil for a station, which knows
  /// its titles.
  private func songBefore(_ group: HouseState.Group, _ state: HouseState) async throws -> Int? {
    guard let item = group.item, !item.isLive else { return nil }
    let ids = try await queue(of: group, state).ids
    guard let place = ids.firstIndex(of: item.entryId), place > 0 || group.repeat != .off else {
      return nil
    }
    return ids[(place + ids.count - 1) % ids.count]
  }

  func play(_ position: String?) async throws {
    guard let position, position != "-1" else { return try await playOn() }
    let number = try Argument.number(position)
    let (group, queue) = try await queue()
    try await play(try queue.entry(at: number), group)
  }

  func play(id: String?) async throws {
    guard let id, id != "-1" else { return try await playOn() }
    let number = try Argument.number(id)
    let (group, queue) = try await queue()
    try await play(queue.ids[try queue.place(ofSong: number)], group)
  }

  /// How long a client waits at most until the state shows what it has asked for, and how often that is looked for. Rooms
  /// take an instant.
  private static let settling = (limit: 25, step: Duration.milliseconds(20))

  /// Returns when the state is so, as clients ask for it at once. What does not come is not waited for.
  func settle(_ isSo: (HouseState) -> Bool) async throws {
    for _ in 0..<Self.settling.limit {
      if isSo(try await state()) { return }
      try await Task.sleep(for: Self.settling.step)
    }
  }

  /// Returns when the group shows another song than in this state, or has stopped.
  func settle(after group: HouseState.Group) async throws {
    try await settle { state in
      let now = state.groups.first { $0.id == group.id }
      return now?.item?.entryId != group.item?.entryId || now?.state.word == .stop
    }
  }

  private func play(_ entry: Int, _ group: HouseState.Group) async throws {
    try await edit(.play(entry), group)
    try await settle { state in
      let now = state.groups.first { $0.id == group.id }
      return now == nil || now?.item?.entryId == entry
    }
  }

  private func playOn() async throws {
    guard let group = try await view().group, group.queue.count > 0 else { return }
    _ = try await perform(.transport(group: group.id, .play))
  }

  /// Without an argument, the other of both. A group that is stopped stays so.
  func pause(_ text: String?) async throws {
    let wanted = try text.map(Argument.flag)
    guard let group = try await view().group, group.state.word != .stop else { return }
    let isPaused = group.state.word == .pause
    guard wanted ?? !isPaused != isPaused else { return }
    _ = try await perform(.transport(group: group.id, isPaused ? .play : .pause))
  }

  // MARK: - Seeking

  func seek(position: String, to time: String) async throws {
    let (number, seconds) = (try Argument.number(position), try Argument.seconds(time))
    let (group, queue) = try await queue()
    try await seek(try queue.entry(at: number), to: seconds, group)
  }

  func seek(id: String, to time: String) async throws {
    let (number, seconds) = (try Argument.number(id), try Argument.seconds(time))
    let (group, queue) = try await queue()
    try await seek(queue.ids[try queue.place(ofSong: number)], to: seconds, group)
  }

  /// Also plays what was stopped.
  private func seek(_ entry: Int, to seconds: Double, _ group: HouseState.Group) async throws {
    if group.item?.entryId != entry || group.state.word == .stop {
      try await play(entry, group)
    }
    _ = try await perform(.seek(group: group.id, seconds: max(0, seconds), isRelative: false))
  }

  /// To a place of the current song, or by a step with a sign.
  func seekCurrent(_ text: String) async throws {
    let seconds = try Argument.seconds(text)
    guard let group = try await view().group, group.state.word != .stop, let item = group.item
    else { throw Ack.notPlaying }
    guard item.isSeekable else { throw Ack(.unknown, "Not seekable") }
    let isRelative = text.hasPrefix("+") || text.hasPrefix("-")
    _ = try await perform(.seek(group: group.id, seconds: seconds, isRelative: isRelative))
  }

  // MARK: - Volume and options

  mutating func getVolume() async throws {
    guard let group = try await view().group, !group.roomIds.isEmpty else { return }
    reply.pair("volume", Int(group.volume.rounded()))
  }

  func setVolume(_ text: String) async throws {
    try await setVolume(Double(try Argument.number(text, most: 100)))
  }

  func changeVolume(_ text: String) async throws {
    let step = try Argument.signed(text)
    guard (-100...100).contains(step) else { throw Ack.argument("Invalid volume value") }
    let group = try await group().group
    try await setVolume(min(max(group.volume.rounded() + Double(step), 0), 100))
  }

  /// Clients are told even if nothing changes: they wait for that.
  private func setVolume(_ volume: Double) async throws {
    let group = try await group().group
    _ = try await perform(
      .change(group: group.id, Order.GroupChange(rooms: RoomChange(volume: volume))))
    await household.hub.tell(group: group.id, .mixer)
  }

  func setRepeat(_ text: String) async throws {
    let repeats = try Argument.flag(text)
    let group = try await group().group
    guard repeats != (group.repeat != .off) else { return }
    try await change(Order.GroupChange(repeat: repeats ? .all : .off))
  }

  func setCrossfade(_ text: String) async throws {
    let seconds = Double(try Argument.number(text))
    guard Effects.crossfades.contains(seconds) else {
      throw Ack(.argument, "Songs fade into each other for 0 to 12 seconds.")
    }
    try await change(Order.GroupChange(effects: EffectsChange(crossfade: seconds)))
  }

  /// A household repeats one song or all. It does not stop after one.
  func setSingle(_ text: String) async throws {
    let isSingle = text == "oneshot" ? true : try Argument.flag(text)
    let group = try await group().group
    guard isSingle else {
      if group.repeat == .one { try await change(Order.GroupChange(repeat: .all)) }
      return
    }
    guard group.repeat != .off, text != "oneshot" else {
      throw Ack(.unknown, "One song can be repeated, but not played alone: send repeat 1 first.")
    }
    try await change(Order.GroupChange(repeat: .one))
  }

  /// A household shuffles its queue instead of choosing at random, and can bring back the order before.
  func setRandom(_ text: String) async throws {
    let isWanted = try Argument.flag(text)
    let group = try await group().group
    guard group.queue.isShuffled != isWanted else { return }
    try await edit(isWanted ? .shuffle : .unshuffle, group)
  }
}
