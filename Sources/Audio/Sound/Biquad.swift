/// A filter of second order: y = b0 x + b1 x' + b2 x'' − a1 y' − a2 y''.
package struct Biquad: Hashable, Sendable {
  package var b0 = 1.0
  package var b1 = 0.0
  package var b2 = 0.0
  package var a1 = 0.0
  package var a2 = 0.0

  @_noLocks @_noAllocation
  package init() {}

  /// `rate` is in Hz. At rates that do not reach the frequency it changes nothing.
  package init(_ band: SoundBand, rate: Int) {
    self.init(band.kind, band.frequency, decibels: band.gain, q: band.q, rate: rate)
  }

  /// The bilinear transform of the analogue prototypes, corner frequencies kept: R. Bristow-Johnson, "Cookbook formulae
  /// for audio EQ biquad filter coefficients". `frequency` and `rate` are in Hz.
  init(_ kind: SoundBand.Kind, _ frequency: Double, decibels: Double, q: Double, rate: Int) {
    self.init()
    let turns = frequency / Double(rate)
    // Beyond that, a peak would be squeezed against half the rate.
    guard turns < 0.48 else { return }
    let cosine = sineOfHalfTurns(2 * turns + 0.5)
    let alpha = sineOfHalfTurns(2 * turns) / (2 * q)
    // 1 − cos, without the digits that the subtraction loses at low frequencies.
    let low = 2 * sineOfHalfTurns(turns) * sineOfHalfTurns(turns)
    let a = gain(ofDecibels: decibels / 2)
    switch kind {
    case .peak:
      self = Self(
        (1 + alpha * a, -2 * cosine, 1 - alpha * a), (1 + alpha / a, -2 * cosine, 1 - alpha / a))
    case .lowPass: self = Self((low / 2, low, low / 2), (1 + alpha, -2 * cosine, 1 - alpha))
    case .highPass:
      let high = 1 + cosine
      self = Self((high / 2, -high, high / 2), (1 + alpha, -2 * cosine, 1 - alpha))
    case .lowShelf: self = Self(shelf: a, cosine, alpha)
    case .highShelf:
      // A shelf at the top is one at the bottom, upside down, with the whole made louder.
      self = Self(shelf: 1 / a, cosine, alpha)
      let whole = a * a
      (b0, b1, b2) = (b0 * whole, b1 * whole, b2 * whole)
    }
  }

  private init(shelf a: Double, _ cosine: Double, _ alpha: Double) {
    let (sum, difference) = (a + 1, a - 1)
    let slope = 2 * a.squareRoot() * alpha
    self.init(
      (
        a * (sum - difference * cosine + slope), 2 * a * (difference - sum * cosine),
        a * (sum - difference * cosine - slope)
      ),
      (
        sum + difference * cosine + slope, -2 * (difference + sum * cosine),
        sum + difference * cosine - slope
      ))
  }

  private init(_ b: (Double, Double, Double), _ a: (Double, Double, Double)) {
    (b0, b1, b2) = (b.0 / a.0, b.1 / a.0, b.2 / a.0)
    (a1, a2) = (a.1 / a.0, a.2 / a.0)
  }

  /// True if no input of finite length makes it sound for ever.
  package var isStable: Bool { a2.magnitude < 1 && a1.magnitude < 1 + a2 }

  /// Returns the square of the gain at a frequency, in turns a frame: 0.5 is half the rate.
  package func power(at turns: Double) -> Double {
    let sine = sineOfHalfTurns(turns)
    let phi = sine * sine
    return Self.power(b0, b1, b2, phi) / Self.power(1, a1, a2, phi)
  }

  /// |c0 + c1 z⁻¹ + c2 z⁻²|² where phi = sin²(ω/2), exact at low frequencies.
  private static func power(_ c0: Double, _ c1: Double, _ c2: Double, _ phi: Double) -> Double {
    let sum = c0 + c1 + c2
    return sum * sum - 4 * (c0 * c1 + 4 * c0 * c2 + c1 * c2) * phi + 16 * c0 * c2 * phi * phi
  }
}
