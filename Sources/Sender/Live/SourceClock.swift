package import Clock

/// Tells how many frames a source has made by a local time.
package enum SourceClock: Sendable {
  /// A card that records: it reports how many frames it has taken, and when.
  case card(RenderClock)
  /// A program with a clock of its own.
  case pipe(PipeClock)
  /// A program that writes as fast as it is read: the reader sets the pace.
  case paced(PacedClock)

  /// True if `frame(at:)` is meaningful.
  var isSettled: Bool {
    switch self {
    case .card(let clock): clock.isSettled
    case .pipe(let clock): clock.isSettled
    case .paced: true
    }
  }

  /// Seconds of audio per second of local time, minus one.
  var drift: Double {
    switch self {
    case .card(let clock): clock.drift
    case .pipe(let clock): clock.drift
    case .paced: 0
    }
  }

  func frame(at time: LocalTime) -> Double {
    switch self {
    case .card(let clock): clock.frame(at: time)
    case .pipe(let clock): clock.frame(at: time)
    case .paced(let clock): clock.frame(at: time)
    }
  }

  /// Frames come at other times from now on, but at the same rate as before.
  mutating func rephase() {
    switch self {
    case .card(var clock):
      clock.rephase()
      self = .card(clock)
    case .pipe(var clock):
      clock.rephase()
      self = .pipe(clock)
    case .paced: break
    }
  }

  /// Nothing came for this long. A program that writes as fast as it is read goes on where it was, however long it paused.
  mutating func waited(_ span: Nanoseconds) {
    guard case .paced(var clock) = self else { return }
    clock.time = clock.time + span
    self = .paced(clock)
  }
}

/// A clock on which one frame is due at a set time, and all others follow at their nominal rate.
package struct PacedClock: Sendable {
  package var sampleRate: Int
  package var time: LocalTime
  package var frame: Double

  func frame(at time: LocalTime) -> Double {
    frame + (time - self.time).seconds * Double(sampleRate)
  }
}
