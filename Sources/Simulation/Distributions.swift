package import Clock

/// Distributions. They are the same on every machine, because none depends on a system's mathematical library.
extension SplitMix64 {
  /// Makes a separate generator for a part of the simulation, so that a change in one part leaves the others alone.
  package init(seed: UInt64, part: UInt64) {
    var whole = SplitMix64(seed: seed)
    self.init(seed: whole.next() ^ (part &* 0xD6E8_FEB8_6659_FD93))
    _ = next()
  }

  /// Returns a number in 0..<1.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  package mutating func uniform(_ range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * unit()
  }

  package mutating func chance(_ probability: Double) -> Bool { unit() < probability }

  package mutating func exponential(mean: Double) -> Double { -mean * logarithm(1 - unit()) }

  package mutating func normal(deviation: Double) -> Double {
    let radius = (-2 * logarithm(1 - unit())).squareRoot()
    return deviation * radius * sine(ofTurns: unit())
  }

  /// Returns a heavy-tailed number, at least 0: `(1 - u)^(-1/shape) - 1`.
  package mutating func pareto(shape: Double) -> Double {
    exponentialFunction(-logarithm(1 - unit()) / shape) - 1
  }

  /// Uses the method of Marsaglia and Tsang; `shape` is at least 1.
  package mutating func gamma(shape: Double, scale: Double) -> Double {
    let d = shape - 1.0 / 3
    let c = 1 / (9 * d).squareRoot()
    while true {
      let x = normal(deviation: 1)
      let v = (1 + c * x) * (1 + c * x) * (1 + c * x)
      guard v > 0 else { continue }
      if logarithm(1 - unit()) < 0.5 * x * x + d - d * v + d * logarithm(v) { return scale * d * v }
    }
  }
}

/// Returns the natural logarithm of `x` > 0, to about 1e-15: the exponent separately, and the rest by the series of the
/// inverse hyperbolic tangent.
func logarithm(_ x: Double) -> Double {
  var exponent = Double(x.exponent)
  var significand = x.significand
  if significand > 1.414_213_562_373_095_1 {
    significand /= 2
    exponent += 1
  }
  let z = (significand - 1) / (significand + 1)
  let square = z * z
  var sum = 0.0
  for k in stride(from: 23, through: 1, by: -2) { sum = sum * square + 1 / Double(k) }
  return exponent * 0.693_147_180_559_945_3 + 2 * z * sum
}

/// Returns `e` to the power of `x`, for `x` of moderate size.
func exponentialFunction(_ x: Double) -> Double {
  let n = (x / 0.693_147_180_559_945_3).rounded()
  let rest = x - n * 0.693_147_180_559_945_3
  var sum = 1.0
  for k in stride(from: 14, through: 1, by: -1) { sum = 1 + sum * rest / Double(k) }
  return Double(sign: .plus, exponent: Int(n), significand: sum)
}

/// Returns the sine of `turns` full turns, to about 1e-15.
func sine(ofTurns turns: Double) -> Double {
  var x = turns - turns.rounded()
  if x > 0.25 { x = 0.5 - x }
  if x < -0.25 { x = -0.5 - x }
  let angle = 2 * Double.pi * x
  let square = angle * angle
  var sum = 1.0
  for k in stride(from: 20, through: 2, by: -2) { sum = 1 - sum * square / Double(k * (k + 1)) }
  return angle * sum
}
