// The core has no C library, hence these functions. Not for the render thread.

/// Returns the gain of a number of dB: 20 dB are 10.
package func gain(ofDecibels decibels: Double) -> Double {
  exponential(decibels * (naturalLogarithm(10) / 20))
}

/// Returns the dB of a gain above 0.
package func decibels(ofGain gain: Double) -> Double {
  20 / naturalLogarithm(10) * naturalLogarithm(gain)
}

/// Returns e to the power of `x`, for |x| below 700, to 1e-15 of its value.
func exponential(_ x: Double) -> Double {
  let halvings = nearestInteger(x / naturalLogarithmOf2)
  let rest = x - halvings * naturalLogarithmOf2
  var (term, sum, order) = (1.0, 1.0, 1.0)
  while term.magnitude > 1e-18, order < 30 {
    term *= rest / order
    sum += term
    order += 1
  }
  return sum * Double(sign: .plus, exponent: Int(halvings), significand: 1)
}

/// Returns the natural logarithm of a number above 0, with an absolute error below 1e-15 near 1.
func naturalLogarithm(_ x: Double) -> Double {
  precondition(x > 0 && x.isFinite)
  let isLarge = x.significand > 1.5
  let mantissa = isLarge ? x.significand / 2 : x.significand
  let exponent = Double(x.exponent) + (isLarge ? 1 : 0)
  let ratio = (mantissa - 1) / (mantissa + 1)
  var (power, sum, order) = (ratio, 0.0, 1.0)
  while power.magnitude > 1e-18, order < 60 {
    sum += power / order
    power *= ratio * ratio
    order += 2
  }
  return 2 * sum + exponent * naturalLogarithmOf2
}

private let naturalLogarithmOf2 = 0.693_147_180_559_945_309_4
