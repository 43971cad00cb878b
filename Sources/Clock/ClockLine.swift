/// The line that the clocks are taken to follow: the corridor's middle, drawn towards the regression's line as far
/// as that can be trusted.
///
/// Where noise is light-tailed and alike in both directions, the regression is several times as exact. Where it is
/// not, as under bufferbloat or power save, its bias shows in two ways, and the corridor stands: midpoints move
/// with the length of the round trip, and the two lines differ by more than the corridor's own error.
struct ClockLine: Hashable, Sendable {
  /// Where `intercept` holds: the midpoint of the newest sample.
  var origin: LocalTime
  /// What `intercept` is relative to; offsets themselves do not fit a `Double`.
  var base: Nanoseconds
  /// Group less local time at `origin`, less `base`, in seconds.
  var intercept: Double
  /// Group seconds that pass in a local second, less one, at `origin` and in the long run.
  var slope: Double
  var lastingSlope: Double
  /// The standard deviation of `intercept`, in seconds; `nil` where only the corridor's bounds are known.
  var deviation: Double?
  /// How far back the samples count, in seconds; zero where only the corridor is known.
  var memory = 0.0
  /// How far `intercept` is from the corridor's middle, in seconds.
  var shift = 0.0
  /// What of that was added because the drift changes: an estimate of its own, from a few seconds.
  var ahead = 0.0

  /// The time in seconds over which the present slope gives way to the lasting one, without samples. A slope that
  /// was measured over a few seconds says nothing about the next minutes.
  static let slopeMemory = 10.0

  init(_ corridor: CorridorLine) {
    origin = corridor.origin
    base = corridor.base
    intercept = corridor.intercept
    slope = corridor.slope
    lastingSlope = corridor.slope
  }

  init(
    _ corridor: CorridorLine, refinedBy samples: [TimeSample], and history: MidpointHistory,
    prior: SlopePrior, tuning: ClockTuning
  ) {
    self.init(corridor)
    let found = Self.regression(
      through: samples, and: history, along: corridor, prior: prior, tuning: tuning)
    guard let regression = found else { return }
    memory = regression.memory
    let own = corridor.deviation(of: samples, prior: prior, tuning: tuning)
    let square = own * own
    let distance = regression.intercept
    let tolerated = tuning.toleratedDistance * tuning.toleratedDistance * square
    let bias = max(0, distance * distance - tolerated)
    let other = regression.uncertainty + bias
    let share = square / (square + other)
    shift = share * distance
    intercept += shift
    slope += share * regression.slope
    deviation = (share * other).squareRoot()
  }

  /// With fewer midpoints, their own scatter cannot be told.
  static let leastMidpoints = 6

  /// Between the line through all midpoints and the one through those of the fastest packets: where delays have light tails
  /// the first is the better, where they have heavy ones or one direction is slower on average, the second. Both are right
  /// to some degree, and to change from one to the other would be a step.
  private static func regression(
    through samples: [TimeSample], and history: MidpointHistory, along corridor: CorridorLine,
    prior: SlopePrior, tuning: ClockTuning
  ) -> MidpointRegression? {
    func line(through midpoints: [Midpoint], _ roundTrips: some Sequence<Double>)
      -> MidpointRegression?
    {
      MidpointRegression(
        through: midpoints, weighedBy: MidpointWeights(roundTrips, tuning: tuning),
        relativeTo: corridor, prior: prior, tuning: tuning)
    }
    let (midpoints, fastest) = history.midpoints(
      with: samples, relativeTo: corridor, tuning: tuning)
    let all = line(through: midpoints, samples.lazy.map(\.roundTrip.seconds))
    guard let all else { return nil }
    guard fastest.count >= leastMidpoints,
      let few = line(through: fastest, fastest.lazy.map(\.roundTrip))
    else { return all }
    return all.mixed(with: few)
  }
}

extension ClockLine {
  /// A straight line through what is remembered lags behind a crystal whose rate changes: where `memory` is the time in which
  /// memories fade by a factor of e, its value by the change and `memory` squared, its slope by twice the change and `memory`.
  /// Where clocks are steady and memories long, or midpoints scatter, the `change` in 1/s is noise.
  mutating func catchUp(with change: Double, tuning: ClockTuning) {
    guard let deviation else { return }
    let doubt = max(memory / tuning.changingMemory, deviation / tuning.tolerableDeviation)
    let part = min(max(2 - doubt, 0), 1) * change
    ahead = part * memory * memory
    intercept += ahead
    shift += ahead
    slope += 2 * part * memory
  }
}

extension MidpointRegression {
  /// Of `intercept`, as a variance in s².
  fileprivate var uncertainty: Double { deviation * deviation + asymmetry * asymmetry }

  /// Each as far as it can be trusted. What they err by is not independent, so the mix is hardly better than the two.
  fileprivate func mixed(with other: MidpointRegression) -> MidpointRegression {
    let sum = uncertainty + other.uncertainty
    guard sum > 0 else { return self }
    let share = uncertainty / sum
    func mix(_ value: (MidpointRegression) -> Double) -> Double {
      value(self) + share * (value(other) - value(self))
    }
    var mixed = self
    mixed.intercept = mix(\.intercept)
    mixed.slope = mix(\.slope)
    mixed.deviation = mix { $0.deviation * $0.deviation }.squareRoot()
    mixed.memory = mix(\.memory)
    mixed.asymmetry = mix { $0.asymmetry * $0.asymmetry }.squareRoot()
    return mixed
  }
}

extension CorridorLine {
  /// The standard deviation of `intercept`, in seconds. A corridor that is narrower than half the shortest round
  /// trip by more than the noise explains has been bent by wandering clocks.
  fileprivate func deviation(
    of samples: [TimeSample], prior: SlopePrior, tuning: ClockTuning
  ) -> Double {
    let half = 0.5 * (samples.lazy.map(\.roundTrip).min() ?? .zero).seconds
    let bend = max(0, half - halfMargin - noise)
    let slopeError = prior.isFixed(span: span) ? 0.5 * prior.deviation(span: span) * span : 0
    return tuning.noiseShare * noise + bend + slopeError + tuning.deviationFloor
  }
}

extension ClockLine {
  /// Group less local time at `time`, less `base`, in seconds.
  func relativeOffset(at time: LocalTime) -> Double {
    let seconds = (time - origin).seconds
    let present = seconds / (1 + max(seconds, 0) / Self.slopeMemory)
    return intercept + lastingSlope * seconds + (slope - lastingSlope) * present
  }

  /// Group seconds that pass in a local second at `time`, less one.
  func slope(at time: LocalTime) -> Double {
    let fade = 1 + max((time - origin).seconds, 0) / Self.slopeMemory
    return lastingSlope + (slope - lastingSlope) / (fade * fade)
  }

  /// Group less local time at `time`.
  func offset(at time: LocalTime) -> Nanoseconds {
    base + Nanoseconds(saturating: relativeOffset(at: time) * 1e9)
  }

  /// The same line, relative to another base, so that two lines can be compared.
  func relativeOffset(at time: LocalTime, base other: Nanoseconds) -> Double {
    relativeOffset(at: time) + (base - other).seconds
  }
}
