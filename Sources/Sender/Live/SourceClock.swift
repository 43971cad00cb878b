package import Clock

/// How many frames a source has made by which local time.
package enum SourceClock: Sendable {
  /// A card that records: it says how many frames it has taken, and when that was so.
  case card(RenderClock)
  /// A program with a clock of its own.
  case pipe(PipeClock)
  /// A program that writes as fast as it is read: we say how fast that is.
  case paced(PacedClock)

  /// Whether `frame(at:)` means something.
  var isSettled: Bool {
    switch self {
    case .card(let clock): clock.isSettled
    case .pipe(let clock): clock.isSettled
    case .paced: true
    }
  }

  /// Seconds of audio in a second of local time, less one.
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

  /// Frames come at other times from now on, but as fast as before.
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
}

/// A frame that is due at one time, and all others at their nominal rate.
package struct PacedClock: Sendable {
  package var sampleRate: Int
  package var time: LocalTime
  package var frame: Double

  func frame(at time: LocalTime) -> Double {
    frame + (time - self.time).seconds * Double(sampleRate)
  }
}
