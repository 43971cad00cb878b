internal import Clock
internal import Driver
internal import FFmpegSource
internal import LinuxIO
internal import Sender

/// Plays a playlist in any number of rooms, exactly together.
///
/// A player is created paused: `append` items, then `play`. Every method may be called from any task; commands take
/// effect in the order of their calls, in all rooms on the same sample. A command returns when it is heard, and says
/// since when; or why nothing is heard of it: see ``Outcome``. A player that is dropped fades out and releases its
/// rooms; `close` does that and waits.
public final class Player: Sendable {
  /// The rooms in which it plays, with their settings.
  public let rooms: RoomGroup
  let media: CustomMedia
  let streamVolume = VolumeBox()
  private let hub: EventHub<PlayerEvent>

  /// Opens sockets and starts two threads.
  ///
  /// - Parameters:
  ///   - rooms: where to play; more may be added at any time.
  ///   - settings: codec, identity and name.
  /// - Throws: `TuttiError.invalid` for settings out of range; `unavailable` if a socket or thread is refused, or the
  ///   identity cannot be stored; `roomUnavailable` as `rooms.add`.
  public init(rooms: [Room] = [], settings: OutputSettings = .init()) async throws(TuttiError) {
    let hub = EventHub<PlayerEvent>()
    let media = CustomMedia()
    (self.hub, self.media) = (hub, media)
    let wish = LatencyWish()
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
          let opener = MediaOpener(interruption: interruption, wish: wish, report: report)
          if let own = try media.media(at: item.location) { return try opener.open(own) }
          return try opener.open(item)
        },
        reads: ReadControl(interruption),
        onEvent: { event, loop in
          if case .group(.playlistChanged) = event.change { media.keep(loop.keptItems) }
          if let event = PlayerEvent(event.change, media, id: loop.id) { hub.send(event) }
        },
        onRemoval: { hub.forget($0) },
        onTurn: { _ in },
        onLatency: { wish.hold($0) },
        onEnd: { hub.finish() }))
    self.rooms = RoomGroup(engine: engine)
    for room in rooms { try await self.rooms.add(room) }
  }

  var engine: GroupEngine { rooms.engine }

  /// The last event of each room, then all events from now on. Each caller gets a sequence of its own, which ends when
  /// the player is closed. A listener that leaves more than 1024 events untaken loses the oldest.
  public var events: AsyncStream<PlayerEvent> { hub.stream() }

  /// Fades out, releases the rooms and ends the player's threads. Returns when that is done, within a second. Later
  /// calls throw `TuttiError.closed`.
  public func close() async { await engine.closeAndWait() }

  // MARK: - Playing

  /// Starts or resumes playback: at once if the rooms are ready, else when all of them are, or the first of them has
  /// been for two seconds. At the end of the list, plays it again.
  ///
  /// - Parameter limit: the longest wait for rooms and audio. After it the player still starts as soon as it can.
  /// - Returns: `heard` since its sound began; `superseded` by a pause; `silent` if the list is empty; `pending` after
  ///   the limit.
  /// - Throws: `TuttiError.cancelled` with the task, which takes nothing back; `closed`.
  @discardableResult
  public func play(within limit: Duration = usualLimit) async throws(TuttiError) -> Outcome {
    try await engine.hear(.start, within: limit) { loop in
      _ = Self.prepare(loop)
      return loop.carryOut(.resume)
    }
  }

  /// The longest wait of a command that gives none: ten seconds.
  public static let usualLimit = Duration.seconds(10)

  /// Starts or resumes playback at an instant, in all rooms on one sample, and waits until that is decided: something else,
  /// such as a picture, can begin at the returned instant.
  ///
  /// - Parameters:
  ///   - hostTime: when the sound is to begin; if that is too near, as soon as all rooms can.
  ///   - deadline: until when it waits for rooms and audio; nil waits for as long as it takes.
  /// - Returns: when it really begins.
  /// - Throws: `TuttiError.notReady` at the deadline, and then it plays nothing; `noSuchItem` for an empty list;
  ///   `cancelled` with the task; `closed`.
  @discardableResult
  public func play(
    atHostTime hostTime: HostTime, deadline: HostTime? = nil
  ) async throws(TuttiError) -> HostTime {
    guard try await engine.perform(Self.prepare) else { throw .noSuchItem }
    if let running = try await engine.perform(Self.start) { return running }
    // The rooms fill while the player stands still.
    try await engine.waitUntil({ $0.session.isPrimed }, deadline: deadline)
    return try await engine.perform { loop in
      loop.carryOut(.resumeAt(hostTime.local))
      loop.hearings.began(.start)
      return Self.start(loop) ?? hostTime
    }
  }

  /// At the end of the list, goes to its beginning. Returns false if the list is empty.
  private static func prepare(_ loop: GroupLoop) -> Bool {
    let session = loop.session
    guard let first = session.playlist.first else { return false }
    if session.playhead(at: loop.now).item == nil, session.hasBegun {
      loop.carryOut(.jump(to: first.id))
    }
    return true
  }

  private static func start(_ loop: GroupLoop) -> HostTime? {
    loop.session.running(at: loop.now).map { HostTime($0.time) }
  }

  /// Fades out and pauses, in all rooms on one sample, as soon as all of them can.
  ///
  /// - Returns: `heard` since the sound ended; `silent` if there was none; `superseded` by a start.
  /// - Throws: `TuttiError.cancelled` with the task, which takes nothing back; `closed`.
  @discardableResult
  public func pause(within limit: Duration = usualLimit) async throws(TuttiError) -> Outcome {
    try await engine.hear(.pause, within: limit) { $0.carryOut(.pause) }
  }

  /// Fades out and pauses at an instant, in all rooms on one sample. Returns when that is decided, and does not wait for
  /// the end of the sound.
  ///
  /// - Parameter hostTime: when the sound is to end; if that is too near, as soon as all rooms can.
  /// - Returns: when it really ends; the instant of the call if nothing sounds.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func pause(atHostTime hostTime: HostTime) async throws(TuttiError) -> HostTime {
    try await engine.perform { loop in
      loop.carryOut(.pauseAt(hostTime.local))
      loop.hearings.began(.pause)
      return loop.session.standing.map(HostTime.init) ?? .now
    }
  }

  /// Seeks in the current item; beyond its end, plays the next one. Of several seeks in quick succession only the last
  /// one counts.
  ///
  /// - Parameter limit: the longest wait for the source and the rooms. After it the seek is still carried out.
  /// - Returns: `heard` since the position sounds; `silent` if the player is paused, and begins there; `superseded` by a
  ///   later seek or skip; `pending` after the limit.
  /// - Throws: `TuttiError.notSeekable`; `noSuchItem` if there is no current item; `cancelled` with the task, which takes
  ///   nothing back; `closed`.
  @discardableResult
  public func seek(
    to position: PlaybackTime, within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    try await engine.hear(.place, within: limit) { $0.carryOut(.seek(to: position.span)) }
  }

  /// Plays the next item; at the end of the list the sound ends.
  ///
  /// - Returns: as `seek`; `heard` since the sound ended, at the end of the list.
  /// - Throws: `TuttiError.cancelled` with the task, which takes nothing back; `closed`.
  @discardableResult
  public func next(within limit: Duration = usualLimit) async throws(TuttiError) -> Outcome {
    try await engine.hear(.place, within: limit) { $0.carryOut(.next) }
  }

  /// Goes to the beginning of the item, or of the one before if this one has played for less than three seconds.
  ///
  /// - Returns: as `seek`.
  /// - Throws: `TuttiError.cancelled` with the task, which takes nothing back; `closed`.
  @discardableResult
  public func previous(within limit: Duration = usualLimit) async throws(TuttiError) -> Outcome {
    try await engine.hear(.place, within: limit) { $0.carryOut(.previous) }
  }

  // MARK: - Effects

  // Each returns when its effect is heard: `superseded` by the next change of rate, pitch, loudness, crossfade or filters, and
  // otherwise as `seek`.

  /// Plays faster or slower at the same pitch, from the next instant that all rooms can still change. Positions and
  /// durations stay in the item's own time.
  ///
  /// - Parameter rate: 0.25 to 4; 1 is as recorded.
  /// - Throws: `TuttiError.invalid` outside that range; `notSeekable` if the current item can only be played from its
  ///   beginning: then nothing changes, for later items either; `unavailable` without FFmpeg's filters; `closed`.
  @discardableResult
  public func setRate(
    _ rate: Double, within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    guard Effects.rates.contains(rate) else { throw .invalid("a rate is 0.25 to 4, not \(rate)") }
    return try await change(within: limit) { $0.rate = rate }
  }

  /// Plays higher or lower at the same speed.
  ///
  /// - Parameter semitones: -12 to 12, also fractions; 0 is as recorded.
  /// - Throws: `TuttiError.invalid` outside that range; `unavailable` without FFmpeg's filters; `closed`.
  @discardableResult
  public func setPitch(
    _ semitones: Double, within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    try Effects.check(pitch: semitones)
    return try await change(within: limit) { $0.pitch = semitones }
  }

  /// Brings every item to the same loudness.
  ///
  /// - Parameter loudness: in LUFS, -40 to -5; nil leaves items unchanged.
  /// - Throws: `TuttiError.invalid` outside that range; `unavailable` without FFmpeg's filters; `closed`.
  @discardableResult
  public func setLoudness(
    _ loudness: Double?, within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    if let loudness, !Effects.loudnesses.contains(loudness) {
      throw .invalid("a loudness is -40 to -5 LUFS, not \(loudness)")
    }
    return try await change(within: limit) { $0.loudness = loudness }
  }

  /// Lets each item fade out while the next one fades in. Tracks that follow each other on an album, and items whose
  /// length is not known, follow without a gap. The next item counts as the current one from where it fades in.
  ///
  /// - Parameter span: 0 to 12 s; of short items, at most half of their length. 0 is no fade.
  /// - Throws: `TuttiError.invalid` outside that range; `closed`.
  @discardableResult
  public func setCrossfade(
    _ span: Duration, within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    let seconds = span / .seconds(1)
    guard Effects.crossfades.contains(seconds) else {
      throw .invalid("a crossfade is 0 to 12 s, not \(seconds) s")
    }
    return try await change(within: limit) { $0.crossfade = seconds }
  }

  /// Filters the sound of all items, in this order; an empty array leaves it unchanged.
  ///
  /// - Parameter filters: at most 16.
  /// - Throws: `TuttiError.invalid` for more, and for a value outside its range; `unavailable` without FFmpeg's
  ///   filters; `closed`.
  @discardableResult
  public func setFilters(
    _ filters: [SoundFilter], within limit: Duration = usualLimit
  ) async throws(TuttiError) -> Outcome {
    let checked = try Effects.checked(filters)
    return try await change(within: limit) { $0.filters = checked }
  }

  private func change(
    within limit: Duration, _ change: @escaping @Sendable (inout Effects) -> Void
  ) async throws(TuttiError) -> Outcome {
    var wish = Effects()
    change(&wish)
    try wish.check()
    return try await engine.hear(.effects, within: limit) { loop in
      var effects = loop.driver.session.effects
      change(&effects)
      return loop.driver.carryOut(.effects(effects))
    }
  }

  // MARK: - Time

  /// Returns the item that sounds now, or is about to; nil before the first item is open and at the end of the list.
  ///
  /// - Throws: `TuttiError.closed`.
  public func currentItem() async throws(TuttiError) -> CurrentItem? {
    try await engine.perform { [media] loop in
      let status = loop.driver.status()
      return status.item.map { CurrentItem($0, media, arrived: status.arrived) }
    }
  }

  /// Returns the position of the sound in the current item; zero if there is none.
  ///
  /// - Throws: `TuttiError.closed`.
  public func position() async throws(TuttiError) -> PlaybackTime {
    try await engine.perform { loop in
      PlaybackTime(loop.driver.session.playhead(at: HostClock.now).position)
    }
  }

  /// Returns a sequence of positions: one each time that the position has advanced by `interval`, and one where it
  /// starts after a jump. It ends with the player.
  ///
  /// - Parameter interval: in the item's own time; at least a millisecond.
  public func positions(every interval: Duration = .milliseconds(100)) -> AsyncStream<PlaybackTime>
  {
    engine.positions(every: interval)
  }

  /// Returns the same sequence, and whether the position has jumped there.
  public func ticks(every interval: Duration = .milliseconds(100)) -> AsyncStream<PlaybackTick> {
    engine.ticks(every: interval)
  }

  /// Returns a sequence of these positions, each at the time when it sounds, in any current item. It ends with the
  /// player. Positions that are jumped over are left out.
  public func boundaries(at places: [PlaybackTime]) -> AsyncStream<PlaybackTime> {
    engine.boundaries(places)
  }

  /// Returns the time at which a position in the current item sounds in all rooms, or sounded lately, as things stand:
  /// pictures shown at that time are in step with the sound. Ask again after each seek, pause or change of rate, and
  /// about once a second.
  ///
  /// - Returns: nil while nothing plays, and for positions that do not come.
  /// - Throws: `TuttiError.closed`.
  public func presentationTime(of position: PlaybackTime) async throws(TuttiError) -> HostTime? {
    try await engine.presentationTime(of: position)
  }

  /// Returns the time from a command to its sound, in all rooms at once. Some tens of milliseconds; it changes as rooms
  /// come and go.
  ///
  /// - Throws: `TuttiError.closed`.
  public func outputLatency() async throws(TuttiError) -> Duration {
    try await engine.perform { Duration($0.driver.status().outputLatency) }
  }
}

extension GroupLoop {
  /// The items in the list, and the item that still sounds.
  var keptItems: [PlayItem] {
    let sounding = driver.session.playhead(at: HostClock.now).item
    return driver.session.playlist.items + [sounding].compactMap { $0 }
  }
}

extension Effects {
  init(rate: Double) {
    self.init()
    self.rate = rate
  }

  /// - Throws: `TuttiError.unavailable` if FFmpeg, or a necessary filter, is missing; it says what to install. The
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
