package import Clock

/// A crystal, which counts seconds that are a little longer or shorter than true ones, and vary. It counts from the
/// beginning of the simulation.
package struct Oscillator: Sendable {
  /// The errors of a crystal. All rates are dimensionless: 1e-6 is one ppm.
  package struct Quality: Sendable {
    /// Relative error of the rate at the start; positive is fast.
    package var drift: Double
    /// Random walk of the rate, per square root of a second.
    package var walk = 1.5e-9
    /// Amplitude of a slow sine, as of a heating.
    package var swing = 0.3e-6
    /// Period of the sine, in seconds.
    package var swingPeriod = 1800.0
    /// Change of the rate with a new temperature, from `rampStart` on.
    package var ramp = 0.0
    package var rampStart = 0.0
    /// Time constant of that change, in seconds.
    package var rampTime = 60.0

    package init(drift: Double) { self.drift = drift }

    /// Exact and constant.
    package static let ideal: Quality = {
      var quality = Quality(drift: 0)
      quality.walk = 0
      quality.swing = 0
      return quality
    }()
  }

  private let quality: Quality
  private var random: SplitMix64
  private var walked = 0.0
  private let phase: Double
  /// The crystal's time minus true time in seconds, at each whole true second.
  private var leads = [0.0]

  package init(_ quality: Quality, random: SplitMix64) {
    self.quality = quality
    self.random = random
    phase = self.random.unit()
  }

  /// Returns the crystal's seconds that have passed at `time`, in true seconds ≥ 0.
  package mutating func elapsed(at time: Double) -> Double { time + lead(at: time) }

  /// Returns the true time at which `elapsed` seconds of the crystal have passed.
  package mutating func time(ofElapsed elapsed: Double) -> Double {
    var time = elapsed
    // Each step multiplies the error by the drift, so three leave less than a picosecond.
    for _ in 0..<4 { time = elapsed - lead(at: max(0, time)) }
    return time
  }

  private mutating func lead(at time: Double) -> Double {
    let index = Int(max(0, time))
    while leads.count < index + 2 { extend() }
    let part = time - Double(index)
    return leads[index] + (leads[index + 1] - leads[index]) * part
  }

  private mutating func extend() {
    let second = Double(leads.count - 1)
    if quality.walk > 0 { walked += random.normal(deviation: quality.walk) }
    var rate = quality.drift + walked
    if quality.swing != 0 {
      rate += quality.swing * sine(ofTurns: second / quality.swingPeriod + phase)
    }
    if quality.ramp != 0, second >= quality.rampStart {
      let warmth = 1 - exponentialFunction(-(second - quality.rampStart) / quality.rampTime)
      rate += quality.ramp * warmth
    }
    leads.append((leads.last ?? 0) + rate)
  }
}
