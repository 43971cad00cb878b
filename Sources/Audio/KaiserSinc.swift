/// A low-pass prototype: sinc under a Kaiser window, the impulse response from which the interpolators
/// take their coefficients.
///
/// J. F. Kaiser and R. W. Schafer, "On the use of the I0-sinh window for spectrum analysis", IEEE Trans.
/// ASSP 28 (1980). The core has no C library, hence the functions below.
package struct KaiserSinc: Sendable {
  /// The response is zero at this distance from the centre and beyond, in samples.
  package let halfWidth: Double
  /// Frequency at which the response is 6 dB down, relative to the Nyquist frequency of those samples,
  /// 0...1.
  package let cutoff: Double
  /// The window's shape: larger means lower side lobes and a wider transition band.
  package let beta: Double
  private let inverseCentre: Double

  package init(halfWidth: Double, cutoff: Double, beta: Double) {
    self.halfWidth = halfWidth
    self.cutoff = cutoff
    self.beta = beta
    inverseCentre = 1 / besselI0(beta)
  }

  /// Returns the response `x` samples from the centre.
  package func callAsFunction(_ x: Double) -> Double {
    let relative = x / halfWidth
    let underRoot = 1 - relative * relative
    guard underRoot > 0 else { return 0 }
    let window = besselI0(beta * underRoot.squareRoot()) * inverseCentre
    return window * sinc(x)
  }

  /// Returns `count` coefficients whose centre lies at index `centre`, with a sum of one: unity gain at
  /// 0 Hz.
  package func coefficients(count: Int, centre: Double) -> [Float] {
    let values = (0..<count).map { self(Double($0) - centre) }
    let sum = values.reduce(0, +)
    return values.map { Float($0 / sum) }
  }

  private func sinc(_ x: Double) -> Double {
    guard x.magnitude > 1e-9 else { return cutoff }
    return sineOfHalfTurns(cutoff * x) / (.pi * x)
  }
}

/// Returns sin(πx) for |x| below 2⁵⁰, with an absolute error below 1e-15.
@_noLocks @_noAllocation
package func sineOfHalfTurns(_ x: Double) -> Double {
  let nearest = nearestInteger(x)
  // The rest lies within a quarter turn; the Taylor series ends where its terms fall below 1e-18.
  let angle = (x - nearest) * .pi
  let square = angle * angle
  var term = angle
  var sum = angle
  var order = 2.0
  while order < 24 {
    term *= -square / (order * (order + 1))
    sum += term
    order += 2
  }
  let half = nearest * 0.5
  return half == nearestInteger(half) ? sum : -sum
}

/// Returns the modified Bessel function of the first kind and order zero, for 0...30, to 1e-15 of its
/// value (Abramowitz and Stegun, 9.6.12).
package func besselI0(_ x: Double) -> Double {
  let quarter = x * x * 0.25
  var term = 1.0
  var sum = 1.0
  var order = 1.0
  while term > sum * 1e-17 {
    term *= quarter / (order * order)
    sum += term
    order += 1
  }
  return sum
}

/// Returns the integer nearest to `x`, ties to even, for |x| below 2⁵¹. `Double.rounded()` may not be
/// called on the render path; adding 1.5 · 2⁵² leaves no room for a fraction and rounds in hardware.
@_noLocks @_noAllocation
package func nearestInteger(_ x: Double) -> Double {
  let roomless = 6_755_399_441_055_744.0
  return (x + roomless) - roomless
}
