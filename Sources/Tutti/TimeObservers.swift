internal import Clock
internal import Sender

/// Observers of positions: each position in a list when it sounds, or the position at an interval. They are called by
/// the group's schedule, so at the instant at which a position is heard.
struct TimeObservers {
  enum Wish {
    /// An interval in flicks, at least a millisecond.
    case every(Int64)
    /// Positions, in order.
    case places([PlaybackTime])

    static func times(every interval: Duration) -> Wish {
      .every(max(interval, .milliseconds(1)).flicks)
    }

    static func boundaries(_ places: [PlaybackTime]) -> Wish { .places(places.sorted()) }
  }

  /// Largest number of observers; further ones get an empty sequence.
  static let limit = 1024

  /// Number of untaken values that are kept, the newest.
  static let untakenLimit = 64

  /// The two forms in which a position is told.
  enum Listener: Sendable {
    case times(AsyncStream<PlaybackTime>.Continuation)
    case ticks(AsyncStream<PlaybackTick>.Continuation)

    func tell(_ time: PlaybackTime, hasJumped: Bool) {
      switch self {
      case .times(let listener): listener.yield(time)
      case .ticks(let listener): listener.yield(PlaybackTick(time: time, hasJumped: hasJumped))
      }
    }

    func finish() {
      switch self {
      case .times(let listener): listener.finish()
      case .ticks(let listener): listener.finish()
      }
    }

    func onTermination(_ act: @escaping @Sendable () -> Void) {
      switch self {
      case .times(let listener): listener.onTermination = { _ in act() }
      case .ticks(let listener): listener.onTermination = { _ in act() }
      }
    }
  }

  static func stream() -> (AsyncStream<PlaybackTime>, Listener) {
    let (stream, listener) = AsyncStream.makeStream(
      of: PlaybackTime.self, bufferingPolicy: .bufferingNewest(untakenLimit))
    return (stream, .times(listener))
  }

  static func tickStream() -> (AsyncStream<PlaybackTick>, Listener) {
    let (stream, listener) = AsyncStream.makeStream(
      of: PlaybackTick.self, bufferingPolicy: .bufferingNewest(untakenLimit))
    return (stream, .ticks(listener))
  }

  fileprivate struct Observer {
    let number: Int
    let wish: Wish
    let listener: TimeObservers.Listener
    /// Nothing is reported before this time.
    let beginning: LocalTime
    /// The position at which time stands still; nil once anything was reported.
    var standing: PlaybackTime?
    /// Positions up to this one were reported; nil at first.
    var told: PlaybackTime?
  }

  private struct Reading {
    var playhead: Playhead
    var at: LocalTime
  }

  private var observers: [Observer] = []
  private var last: Reading?
  /// The target of a jump, until it is reported.
  private var landing: PlaybackTime?
  /// Time of the next report, if nothing changes.
  private(set) var deadline: LocalTime?

  var isEmpty: Bool { observers.isEmpty }

  /// - Parameter beginning: nothing is reported before this time.
  mutating func add(
    _ number: Int, _ wish: Wish, _ listener: Listener,
    from beginning: LocalTime = LocalTime(nanoseconds: 0)
  ) {
    guard observers.count < Self.limit else { return listener.finish() }
    observers.append(
      Observer(number: number, wish: wish, listener: listener, beginning: beginning))
  }

  mutating func remove(_ number: Int) {
    observers.removeAll { $0.number == number }
    if observers.isEmpty { (last, deadline) = (nil, nil) }
  }

  mutating func finish() {
    for observer in observers { observer.listener.finish() }
    observers = []
  }

  /// Reports positions. The target of a jump is reported once time runs from there, because nothing of it is heard
  /// before.
  ///
  /// - Parameter time: returns when a position in the item sounds; nil if it does not.
  mutating func advance(
    to playhead: Playhead, at now: LocalTime, time: (MediaDuration) -> LocalTime?
  ) {
    let position = PlaybackTime(playhead.position)
    if jumped(to: playhead, at: now) { landing = position }
    last = Reading(playhead: playhead, at: now)
    let beginning = observers.map(\.beginning).filter { now < $0 }.min()
    let next = tell(playhead, at: now, time: time)
    deadline = [next, beginning].compactMap { $0 }.min()
  }

  /// Returns the time of the next report to those who have begun to listen.
  private mutating func tell(
    _ playhead: Playhead, at now: LocalTime, time: (MediaDuration) -> LocalTime?
  ) -> LocalTime? {
    let position = PlaybackTime(playhead.position)
    if landing != nil, !playhead.isMoving, playhead.item != nil {
      landing = position
      return time(playhead.position).flatMap { $0 < now ? nil : $0 + Self.rounding }
    }
    var next: PlaybackTime?
    for index in observers.indices where observers[index].beginning <= now {
      observers[index].tell(playhead, landing: landing)
      if let place = observers[index].next(after: position) { next = min(next ?? place, place) }
    }
    landing = nil
    return next.flatMap { time($0.span) }.map { max($0 + Self.rounding, now + .milliseconds(1)) }
  }

  /// Group times are rounded down: this much later the position has sounded for certain.
  private static let rounding = Nanoseconds(1)

  /// True if the position has moved otherwise than by playing on.
  private func jumped(to playhead: Playhead, at now: LocalTime) -> Bool {
    guard let last, last.playhead.item == playhead.item else { return true }
    let moved = Nanoseconds(playhead.position - last.playhead.position)
    // Effects can play four times as fast at most.
    return moved < .zero || moved > Nanoseconds(4 * (now - last.at).count) + .milliseconds(1)
  }
}

extension TimeObservers.Observer {
  /// Longer than a frame of any rate.
  private static let nearness = Duration.milliseconds(1).flicks

  fileprivate mutating func tell(_ playhead: Playhead, landing: PlaybackTime?) {
    guard playhead.item != nil else {
      (told, standing) = (nil, nil)
      return
    }
    let position = PlaybackTime(playhead.position)
    // An observer that is added while time stands still has nothing to hear yet.
    guard playhead.isMoving || told != nil else {
      standing = position
      return
    }
    let before = landing == nil ? told : nil
    let first = landing ?? standing ?? position
    standing = nil
    told = max(before ?? position, position)
    switch wish {
    case .every(let interval):
      let step = position.flicks / interval
      if before.map({ $0.flicks / interval < step }) ?? true {
        listener.tell(position, hasJumped: before == nil)
      }
      // Positions are those of frames: a frame just before a step counts for that step.
      if before == nil { told = position + Duration(flicks: min(interval / 2, Self.nearness)) }
    case .places(let places):
      for place in places where place <= position {
        if before.map({ place > $0 }) ?? (place >= first) {
          listener.tell(place, hasJumped: before == nil)
        }
      }
    }
  }

  fileprivate func next(after position: PlaybackTime) -> PlaybackTime? {
    switch wish {
    case .every(let interval):
      PlaybackTime(flicks: (position.flicks / interval + 1) * interval)
    case .places(let places): places.first { $0 > position }
    }
  }
}
