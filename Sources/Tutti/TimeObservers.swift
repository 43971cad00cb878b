internal import Clock
internal import Sender

/// Those who want to know when a place in the item sounds, or where it is every so often. Told by the schedule of the
/// group, so at the instant at which the place is heard.
struct TimeObservers {
  enum Wish {
    /// Flicks, at least those of a millisecond.
    case every(Int64)
    /// In order.
    case places([PlaybackTime])

    static func times(every interval: Duration) -> Wish {
      .every(max(interval, .milliseconds(1)).flicks)
    }

    static func boundaries(_ places: [PlaybackTime]) -> Wish { .places(places.sorted()) }
  }

  /// More than anybody looks at; the sequence of one more is empty.
  static let limit = 1024

  /// Of what is told, this many are kept while nobody takes them, the newest.
  static let untakenLimit = 64

  typealias Listener = AsyncStream<PlaybackTime>.Continuation

  static func stream() -> (AsyncStream<PlaybackTime>, Listener) {
    AsyncStream.makeStream(of: PlaybackTime.self, bufferingPolicy: .bufferingNewest(untakenLimit))
  }

  fileprivate struct Observer {
    let number: Int
    let wish: Wish
    let listener: TimeObservers.Listener
    /// What was told up to here; nil at first.
    var told: PlaybackTime?
  }

  private struct Reading {
    var playhead: Playhead
    var at: LocalTime
  }

  private var observers: [Observer] = []
  private var last: Reading?
  /// Where it was jumped to, until that is told.
  private var landing: PlaybackTime?
  /// When somebody is to be told next, if nothing changes.
  private(set) var deadline: LocalTime?

  var isEmpty: Bool { observers.isEmpty }

  mutating func add(
    _ number: Int, _ wish: Wish, _ listener: Listener
  ) {
    guard observers.count < Self.limit else { return listener.finish() }
    observers.append(Observer(number: number, wish: wish, listener: listener))
  }

  mutating func remove(_ number: Int) {
    observers.removeAll { $0.number == number }
    if observers.isEmpty { (last, deadline) = (nil, nil) }
  }

  mutating func finish() {
    for observer in observers { observer.listener.finish() }
    observers = []
  }

  /// A place that was jumped to is told once time runs from there: until then nothing of it is heard.
  ///
  /// - Parameter time: when a place in the item sounds; nil if it does not.
  mutating func advance(
    to playhead: Playhead, at now: LocalTime, time: (MediaDuration) -> LocalTime?
  ) {
    let position = PlaybackTime(playhead.position)
    if jumped(to: playhead, at: now) { landing = position }
    last = Reading(playhead: playhead, at: now)
    if landing != nil, !playhead.isMoving, playhead.item != nil {
      deadline = time(playhead.position).flatMap { $0 < now ? nil : $0 + Self.rounding }
      return
    }
    var next: PlaybackTime?
    for index in observers.indices {
      observers[index].tell(playhead, landing: landing)
      if let place = observers[index].next(after: position) { next = min(next ?? place, place) }
    }
    landing = nil
    deadline = next.flatMap { time($0.span) }.map {
      max($0 + Self.rounding, now + .milliseconds(1))
    }
  }

  /// Group times are rounded down: so much later it has sounded for certain.
  private static let rounding = Nanoseconds(1)

  /// Whether the position has moved otherwise than by playing on.
  private func jumped(to playhead: Playhead, at now: LocalTime) -> Bool {
    guard let last, last.playhead.item == playhead.item else { return true }
    let moved = Nanoseconds(playhead.position - last.playhead.position)
    // Four times as fast is the most that effects can do.
    return moved < .zero || moved > Nanoseconds(4 * (now - last.at).count) + .milliseconds(1)
  }
}

extension TimeObservers.Observer {
  private static let nearness = Duration.milliseconds(1).flicks

  fileprivate mutating func tell(_ playhead: Playhead, landing: PlaybackTime?) {
    guard playhead.item != nil else {
      told = nil
      return
    }
    // One that came while time stands has nothing to hear yet.
    guard playhead.isMoving || told != nil else { return }
    let position = PlaybackTime(playhead.position)
    let before = landing == nil ? told : nil
    told = max(before ?? position, position)
    switch wish {
    case .every(let interval):
      let step = position.flicks / interval
      if before.map({ $0.flicks / interval < step }) ?? true { listener.yield(position) }
      // Places are of frames: one that is about to reach a step is told for it.
      if before == nil { told = position + Duration(flicks: min(interval / 2, Self.nearness)) }
    case .places(let places):
      for place in places where place <= position {
        if before.map({ place > $0 }) ?? (place >= landing ?? position) { listener.yield(place) }
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
