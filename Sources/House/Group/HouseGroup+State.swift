package import Clock
package import Sender

/// A group as surfaces see it.
extension HouseGroup {
  /// As far as the group knows itself: without its rooms, which the household knows.
  ///
  /// - Parameter cover: the picture of an item that no library has.
  package func shown(
    name: String, isNamed: Bool, _ status: GroupStatus, at now: LocalTime,
    cover: (PlayItem) -> String? = { _ in nil }
  ) -> HouseState.Group {
    let place = place(status)
    let isResting = isResting(status)
    let items = items
    let volumes = player.volumes(status)
    let sounds = status.presentationTime ?? now
    var state = HouseState.Group(
      id: id, name: name, isNamed: isNamed, roomIds: [],
      state: isResting ? (place?.seconds ?? 0 > 0 ? .paused : .stopped) : .init(status.state),
      item: place.flatMap { item($0, status, cover) },
      positionS: place?.seconds ?? 0, positionAtMs: HouseSession.milliseconds(sounds),
      rate: status.rate, targetS: isResting ? nil : status.target?.seconds.rounded(to: 3),
      volume: volumes.isEmpty ? 0 : player.level(of: volumes), muted: false,
      repeat: status.repetition, effects: EffectsReport(status.effects),
      queue: .init(
        revision: queueRevision, count: items.count,
        index: place.flatMap { place in items.firstIndex { $0.id == place.entry } },
        canUndo: undo?.sentence))
    state.queue.isShuffled = unshuffled != nil && !items.isEmpty
    if !isResting {
      state.keptFromS = status.kept?.from.seconds.rounded(to: 3)
      state.liveS = status.kept?.live.seconds.rounded(to: 3)
    }
    state.failed = failed
    state.sleepAtMs = sleep.end.map(HouseSession.milliseconds)
    return state
  }

  package var failed: FailedItem? {
    guard let id = player.lastFailed, let item = player.playlist.item(id),
      let error = player.failedItems[id]
    else { return nil }
    return FailedItem(entryId: id, title: title(of: item, nil), problem: error.problem)
  }

  private func item(
    _ place: QueuePlace, _ status: GroupStatus, _ cover: (PlayItem) -> String?
  ) -> HouseState.Item? {
    let opened = status.item.flatMap { $0.item.id == place.entry ? $0 : nil }
    guard let item = opened?.item ?? player.playlist.item(place.entry) else { return nil }
    let known = player.details[place.entry]
    let metadata = opened?.metadata
    var shown = HouseState.Item(
      entryId: place.entry, title: title(of: item, metadata?.title),
      isSeekable: opened?.isSeekable ?? true,
      isLive: opened?.supply == .live || LiveLocation.isNamed(item.location),
      hasVideo: known?.hasVideo ?? false)
    // A station says what it plays; what the library knows of a file is what its user sees there.
    shown.artist = shown.isLive ? metadata?.artist : known?.artist ?? metadata?.artist
    shown.album = known?.album ?? metadata?.album
    if shown.isLive { shown.title = metadata?.title ?? shown.title }
    (shown.trackId, shown.albumId) = (known?.trackId, known?.albumId)
    shown.artwork = known?.artwork ?? opened.flatMap { _ in cover(item) }
    shown.durationS =
      (opened.flatMap { _ in status.duration?.seconds } ?? known?.durationS)?.rounded(to: 3)
    shown.codec = opened?.wire?.codec.title
    shown.codecReason = opened?.wire?.sentence
    shown.isUnchanged = opened?.wire?.isUnchanged
    return shown
  }

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
