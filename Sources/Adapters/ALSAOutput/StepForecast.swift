package import Clock

/// When a position that moves in steps will move next.
///
/// A move is an instant. One that is watched tells the card's clock as exactly as a position that moves frame by
/// frame; one that is merely found to have happened, only to a step.
package struct StepForecast {
  /// Moves are watched for from `begin` on, and given up at `end`.
  package struct Window: Equatable {
    package var begin: LocalTime
    package var end: LocalTime
  }

  /// Moves are looked for by at least this much longer than is known to be needed.
  private static let spare = Nanoseconds.microseconds(10)
  /// No crystal is further off than one part in this many.
  private static let crystal: Int64 = 3000
  /// A move this long ago tells nothing of the next one, if steps are not quite even.
  private static let longestMemory = Nanoseconds.milliseconds(1000)

  /// A thread that asks without a pause keeps a processor busy: not for longer than twice this.
  private static let mostMargin = Nanoseconds.microseconds(500)
  /// A move that was watched as exactly as this tells how even steps are.
  private static let exact = Nanoseconds.microseconds(20)
  /// Unevenness fades by this part of itself with each move.
  private static let fading: Int64 = 32
  /// How often a move is sought in that time.
  private static let searches = 4

  /// What a step lasts at the nominal rate.
  private let step: Nanoseconds
  private var last: LocalTime?
  /// How far off `last` may be.
  private var lastWidth = Nanoseconds(0)
  /// How uneven steps were of late, beyond what crystals explain.
  private var unevenness = Nanoseconds(0)
  /// Since when moves have been sought, and how often.
  private var search: (began: LocalTime, count: Int)?

  package init(step: Nanoseconds) { self.step = step }

  /// Around the first move at `time` or later. Nil if no move is known, or none so well that the next ones could be told
  /// from each other and soon be seen.
  package func window(from time: LocalTime) -> Window? {
    guard let last, time - last < Self.longestMemory else { return nil }
    let count = max(1, (max(time - last, .zero).count + step.count - 1) / step.count)
    let span = Nanoseconds(count * step.count)
    let doubt = max(lastWidth, unevenness)
    let margin = Self.spare + doubt + Nanoseconds(span.count / Self.crystal)
    guard margin < min(Nanoseconds(step.count / 2), Self.mostMargin) else { return nil }
    return Window(begin: last + span - margin, end: last + span + margin)
  }

  /// Whether it is time to wait for a move without knowing when it will be, which takes as long as a step: a few times
  /// a second at most.
  package mutating func mayBeSought(at now: LocalTime) -> Bool {
    guard let last = search, now - last.began < Self.longestMemory else {
      search = (began: now, count: 1)
      return true
    }
    search = (began: last.began, count: last.count + 1)
    return last.count < Self.searches
  }

  /// Whether a move was seen of late, or may soon be: what is read at other times says little then.
  package func isPromising(at now: LocalTime) -> Bool {
    if let last, now - last < Self.longestMemory { return true }
    return last == nil && (search?.count ?? 0) < Self.searches
  }

  /// The position moved by a step at `time`, give or take `width`. The uncertainty of that as news of the card's clock:
  /// steps that are not even, such as those at the end of a USB transfer, are off by as much as the last ones were off the
  /// forecast.
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
