/// Group time as a function of local time.
struct ClockLine: Hashable, Sendable {
  /// The local time at which `intercept` holds.
  var origin: LocalTime
  /// The base of `intercept`; offsets themselves do not fit into a `Double`.
  var base: Nanoseconds
  /// Group time minus local time at `origin`, minus `base`, in seconds.
  var intercept: Double
  /// Group seconds per local second, minus one, at `origin` and in the long run: a slope that was measured over a few
  /// seconds says nothing about the next minutes.
  var slope: Double
  var lastingSlope: Double

  /// Returns group time minus local time at `time`, minus `base`, in seconds.
  func relativeOffset(at time: LocalTime) -> Double {
    let seconds = (time - origin).seconds
    return intercept + lastingSlope * seconds + (slope - lastingSlope) * seconds / fade(at: time)
  }

  /// Returns group time minus local time at `time`.
  func offset(at time: LocalTime) -> Nanoseconds {
    base + Nanoseconds(ofSeconds: relativeOffset(at: time))
  }

  /// Returns group seconds per local second at `time`, minus one.
  func slope(at time: LocalTime) -> Double {
    lastingSlope + (slope - lastingSlope) / (fade(at: time) * fade(at: time))
  }

  private func fade(at time: LocalTime) -> Double {
    1 + max((time - origin).seconds, 0) / Tuning.evidenceTime
  }
}
