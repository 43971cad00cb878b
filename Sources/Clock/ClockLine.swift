/// Group time as a function of local time.
struct ClockLine: Hashable, Sendable {
  /// Where `intercept` holds.
  var origin: LocalTime
  /// What `intercept` is relative to; offsets themselves do not fit a `Double`.
  var base: Nanoseconds
  /// Group less local time at `origin`, less `base`, in seconds.
  var intercept: Double
  /// Group seconds that pass in a local second, less one, at `origin` and in the long run: a slope that was measured over
  /// a few seconds says nothing about the next minutes.
  var slope: Double
  var lastingSlope: Double

  /// Group less local time at `time`, less `base`, in seconds.
  func relativeOffset(at time: LocalTime) -> Double {
    let seconds = (time - origin).seconds
    return intercept + lastingSlope * seconds + (slope - lastingSlope) * seconds / fade(at: time)
  }

  /// Group less local time at `time`.
  func offset(at time: LocalTime) -> Nanoseconds {
    base + Nanoseconds(ofSeconds: relativeOffset(at: time))
  }

  /// Group seconds that pass in a local second at `time`, less one.
  func slope(at time: LocalTime) -> Double {
    lastingSlope + (slope - lastingSlope) / (fade(at: time) * fade(at: time))
  }

  private func fade(at time: LocalTime) -> Double {
    1 + max((time - origin).seconds, 0) / Tuning.evidenceTime
  }
}
