internal import Clock
internal import Driver
internal import FFmpegSource
internal import LinuxIO
internal import Sender

/// Plays a playlist in any number of rooms, exactly together.
///
/// Created paused: `append` something, then `play`. Every method may be called from any task; commands take effect in the
/// order of their calls, in all rooms on the same sample. A player that is dropped fades out and lets its rooms go;
/// `close` does that and waits.
public final class Player: Sendable {
  /// Which rooms play, and how each sounds.
  public let rooms: RoomGroup
  let media: CustomMedia
  private let hub: EventHub<PlayerEvent>

  /// Opens sockets and starts two threads.
  ///
  /// - Parameters:
  ///   - rooms: where to play; more may be added at any time.
  ///   - settings: what is sent.
  /// - Throws: `TuttiError.invalid` for settings out of range; `unavailable` where a socket or thread is
  ///   refused, or the identity cannot be kept.
  public init(rooms: [Room] = [], settings: OutputSettings = .init()) async throws(TuttiError) {
    let hub = EventHub<PlayerEvent>()
    let media = CustomMedia()
    (self.hub, self.media) = (hub, media)
    let interruption: ReadInterruption
    do {
      interruption = try ReadInterruption()
    } catch {
      throw .unavailable(error.description)
    }
    let engine = try await GroupEngine.start(
      .init(
        settings: settings, items: [], holdsAtCuts: true,
        open: { item, report throws(MediaError) in
          if let source = try media.open(item.location) { return source }
          return try SourceOpener(interruption: interruption, report: report).open(item)
        },
        reads: ReadControl(interruption),
        onEvent: { event, loop in
          if case .playlistChanged = event.change { media.keep(loop.locations) }
          if let event = PlayerEvent(event.change, id: loop.id) { hub.send(event) }
        },
        onRemoval: { hub.forget($0) },
        onTurn: { _ in },
        onEnd: { hub.finish() }))
    self.rooms = RoomGroup(engine: engine)
    for room in rooms { try await self.rooms.add(room) }
  }

  var engine: GroupEngine { rooms.engine }

  /// What happened last to each room, then all that happens from now on: for each caller a sequence of its own, which
  /// ends when the player is closed. A listener that leaves more than 1024 events untaken loses the oldest.
  public var events: AsyncStream<PlayerEvent> { hub.stream() }

  /// Fades out, lets the rooms go and ends the player's threads; returns when that is done, within a second. What is
  /// asked of it afterwards throws `TuttiError.closed`.
  public func close() async { await engine.closeAndWait() }

  // MARK: - Playing

  /// Plays, or goes on: at once if the rooms are ready, else as soon as the first of them has been for two seconds or all
  /// are. At the end of the list: plays it again.
  ///
  /// - Throws: `TuttiError.closed`.
  public func play() async throws(TuttiError) {
    try await engine.answer { loop in
      let session = loop.driver.session
      if session.playhead(at: HostClock.now).item == nil, session.hasBegun,
        let first = session.playlist.first
      {
        loop.driver.carryOut(.jump(to: first.id))
      }
      return loop.driver.carryOut(.resume)
    }
  }

  /// Fades out and stands still, in all rooms on one sample.
  ///
  /// - Throws: `TuttiError.closed`.
  public func pause() async throws(TuttiError) { try await engine.carryOut(.pause) }

  /// To a place in the current item; beyond its end: to the next one. Of many seeks in quick succession the last one
  /// counts.
  ///
  /// - Throws: `TuttiError.notSeekable`; `noSuchItem` where there is no current item; `closed`.
  public func seek(to position: PlaybackTime) async throws(TuttiError) {
    try await engine.carryOut(.seek(to: position.span))
  }

  /// To the next item; at the end of the list the sound ends.
  ///
  /// - Throws: `TuttiError.closed`.
  public func next() async throws(TuttiError) { try await engine.carryOut(.next) }

  /// To the beginning of the item, or of the one before where this one has played for less than three seconds.
  ///
  /// - Throws: `TuttiError.closed`.
  public func previous() async throws(TuttiError) { try await engine.carryOut(.previous) }

  // MARK: - Effects

  /// Plays faster or slower at the same pitch, from the next instant on that all rooms can change. Positions and durations
  /// stay in the item's own time.
  ///
  /// - Parameter rate: 0.25 to 4; 1 is as recorded.
  /// - Throws: `TuttiError.invalid` beyond that range; `notSeekable` where it can only act on the
  ///   items to come; `unavailable` without FFmpeg's filters; `closed`.
  public func setRate(_ rate: Double) async throws(TuttiError) {
    guard Effects.rates.contains(rate) else { throw .invalid("a rate is 0.25 to 4, not \(rate)") }
    try await change { $0.rate = rate }
  }

  /// Plays higher or lower at the same speed.
  ///
  /// - Parameter semitones: -12 to 12, whole or not; 0 is as recorded.
  /// - Throws: `TuttiError.invalid` beyond that range; `unavailable` without FFmpeg's filters; `closed`.
  public func setPitch(_ semitones: Double) async throws(TuttiError) {
    guard Effects.pitches.contains(semitones) else {
      throw .invalid("a pitch is -12 to 12 semitones, not \(semitones)")
    }
    try await change { $0.pitch = semitones }
  }

  /// Brings every item to the same loudness.
  ///
  /// - Parameter loudness: in LUFS, -40 to -5; nil leaves items as they are.
  /// - Throws: `TuttiError.invalid` beyond that range; `unavailable` without FFmpeg's filters; `closed`.
  public func setLoudness(_ loudness: Double?) async throws(TuttiError) {
    if let loudness, !Effects.loudnesses.contains(loudness) {
      throw .invalid("a loudness is -40 to -5 LUFS, not \(loudness)")
    }
    try await change { $0.loudness = loudness }
  }

  /// Filters the sound of all items, in this order; none leaves it as it is.
  ///
  /// - Parameter filters: at most 16.
  /// - Throws: `TuttiError.invalid` for more, and for a value outside its range; `unavailable` without FFmpeg's filters;
  ///   `closed`.
  public func setFilters(_ filters: [SoundFilter]) async throws(TuttiError) {
    guard filters.count <= Effects.filterLimit else {
      throw .invalid("there are at most \(Effects.filterLimit) filters, not \(filters.count)")
    }
    var checked: [Sender.SoundFilter] = []
    for filter in filters { checked.append(try filter.checked()) }
    try await change { [checked] in $0.filters = checked }
  }

  private func change(_ change: @escaping @Sendable (inout Effects) -> Void)
    async throws(TuttiError)
  {
    var wish = Effects()
    change(&wish)
    try wish.check()
    try await engine.answer { loop in
      var effects = loop.driver.session.effects
      change(&effects)
      return loop.driver.carryOut(.effects(effects))
    }
  }

  // MARK: - Time

  /// What sounds now, or is about to; nil before the first item is open and at the end of the list.
  ///
  /// - Throws: `TuttiError.closed`.
  public func currentItem() async throws(TuttiError) -> CurrentItem? {
    try await engine.perform { $0.driver.status().item.map { CurrentItem(.init($0)) } }
  }

  /// Where in the current item the sound is; zero where there is none.
  ///
  /// - Throws: `TuttiError.closed`.
  public func position() async throws(TuttiError) -> PlaybackTime {
    try await engine.perform { loop in
      PlaybackTime(loop.driver.session.playhead(at: HostClock.now).position)
    }
  }

  /// The position each time that it has moved on by `interval`, and where it begins to move after a jump: a sequence that ends
  /// with the player.
  ///
  /// - Parameter interval: in the item's own time; at least a millisecond.
  public func positions(every interval: Duration = .milliseconds(100)) -> AsyncStream<PlaybackTime>
  {
    engine.positions(every: interval)
  }

  /// Each of these places when it sounds, in whatever item is current: a sequence that ends with the player. Places that
  /// are jumped over are not told.
  public func boundaries(at places: [PlaybackTime]) -> AsyncStream<PlaybackTime> {
    engine.boundaries(places)
  }

  /// When a place in the current item sounds in all rooms, or sounded lately, as things stand: pictures shown at that time
  /// are in step with the sound. Ask again after each seek, pause or change of rate, and once a second or so.
  ///
  /// - Returns: nil while nothing plays, and for places that do not come.
  /// - Throws: `TuttiError.closed`.
  public func presentationTime(of position: PlaybackTime) async throws(TuttiError) -> HostTime? {
    try await engine.presentationTime(of: position)
  }

  /// How long after it is asked for a change is heard, in all rooms at once: what is asked for now sounds this much later.
  /// Some tens of milliseconds; it changes as rooms come and go.
  ///
  /// - Throws: `TuttiError.closed`.
  public func outputLatency() async throws(TuttiError) -> Duration {
    try await engine.perform { Duration($0.driver.status().outputLatency) }
  }
}

extension GroupLoop {
  /// What stands in the list, or sounds though it does not any more.
  var locations: Set<String> {
    var locations = Set(driver.session.playlist.items.map(\.location))
    if let item = driver.session.playhead(at: HostClock.now).item {
      locations.insert(item.location)
    }
    return locations
  }
}

extension Effects {
  init(rate: Double) {
    self.init()
    self.rate = rate
  }

  /// - Throws: `TuttiError.unavailable` where FFmpeg, or a filter that they need, is missing; it says what to install. The
  ///   first call loads FFmpeg, which takes some 50 ms.
  func check() throws(TuttiError) {
    guard !changesNothing else { return }
    do {
      try FilteredSource.check(self)
    } catch {
      throw .unavailable(error.description)
    }
  }
}
