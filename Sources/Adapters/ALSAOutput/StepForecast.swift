package import Clock

/// Forecasts when a position that moves in steps will move next.
///
/// A move is an instant. A watched move gives the card's clock as exactly as a position that moves frame by frame; a
/// move that is only noticed later gives it to within a step.
package struct StepForecast {
  /// The thread watches for a move from `begin` to `end`.
  package struct Window: Equatable {
    package var begin: LocalTime
    package var end: LocalTime
  }

  /// Added to the window in which a move is expected.
  private static let spare = Nanoseconds.microseconds(10)
  /// No crystal is off by more than one part in this many.
  private static let crystal: Int64 = 3000
  /// A move longer ago than this does not predict the next one, because steps may be uneven.
  private static let longestMemory = Nanoseconds.milliseconds(1000)

  /// Half of the longest time for which the thread polls without a pause, because polling keeps a processor busy.
  private static let mostMargin = Nanoseconds.microseconds(500)
  /// Moves watched with at most this uncertainty are used to measure how even steps are.
  private static let exact = Nanoseconds.microseconds(20)
  /// With each move, the measured unevenness falls by one part in this many.
  private static let fading: Int64 = 32
  /// Largest number of searches for a move within `longestMemory`.
  private static let searches = 4

  /// Length of a step at the nominal rate.
  private let step: Nanoseconds
  private var last: LocalTime?
  /// Uncertainty of `last`.
  private var lastWidth = Nanoseconds(0)
  /// Recent unevenness of steps, beyond the drift of crystals.
  private var unevenness = Nanoseconds(0)
  /// Start of the present search for moves, and number of attempts since.
  private var search: (began: LocalTime, count: Int)?

  package init(step: Nanoseconds) { self.step = step }

  /// Returns the window of the first move at `time` or later. Nil if no move is known, or none exactly enough to tell
  /// the next moves apart and to see one soon.
  package func window(from time: LocalTime) -> Window? {
    guard let last, time - last < Self.longestMemory else { return nil }
    let count = max(1, (max(time - last, .zero).count + step.count - 1) / step.count)
    let span = Nanoseconds(count * step.count)
    let doubt = max(lastWidth, unevenness)
    let margin = Self.spare + doubt + Nanoseconds(span.count / Self.crystal)
    guard margin < min(Nanoseconds(step.count / 2), Self.mostMargin) else { return nil }
    return Window(begin: last + span - margin, end: last + span + margin)
  }

  /// True if the thread may wait for a move at an unknown time, which takes as long as a step: a few times per second
  /// at most.
  package mutating func mayBeSought(at now: LocalTime) -> Bool {
    guard let last = search, now - last.began < Self.longestMemory else {
      search = (began: now, count: 1)
      return true
    }
    search = (began: last.began, count: last.count + 1)
    return last.count < Self.searches
  }

  /// True if a move was seen recently or is expected soon; readings at other times then carry little information.
  package func isPromising(at now: LocalTime) -> Bool {
    if let last, now - last < Self.longestMemory { return true }
    return last == nil && (search?.count ?? 0) < Self.searches
  }

  /// Takes a move of the position by a step at `time`, give or take `width`. Returns its uncertainty as a measurement
  /// of the card's clock. Uneven steps, such as those at the end of a USB transfer, are as uncertain as recent steps
  /// differed from the forecast.
  package mutating func moved(at time: LocalTime, width: Nanoseconds) -> Nanoseconds {
    defer { (last, lastWidth) = (time, width) }
    guard let last, time - last < Self.longestMemory else {
      unevenness = .zero
      return width
    }
    unevenness = Nanoseconds(unevenness.count - unevenness.count / Self.fading)
    if max(width, lastWidth) <= Self.exact {
      let span = (time - last).count
      let offStep = span - (span + step.count / 2) / step.count * step.count
      unevenness = max(unevenness, Nanoseconds(abs(offStep) - span / Self.crystal))
    }
    return max(width, unevenness)
  }
}
