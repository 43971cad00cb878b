import Foundation

/// SplitMix64: a seed gives the same numbers everywhere.
struct RandomSource: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// In 0..<1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }

  mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }

  mutating func normal(deviation: Double) -> Double {
    deviation * (-2 * log(1 - unit())).squareRoot() * cos(2 * Double.pi * unit())
  }

  /// Heavy tailed, at least 0: `(1 - u)^(-1/shape) - 1`.
  mutating func pareto(shape: Double) -> Double { pow(1 - unit(), -1 / shape) - 1 }

  /// By Marsaglia and Tsang; `shape` at least 1.
  mutating func gamma(shape: Double, scale: Double) -> Double {
    let d = shape - 1.0 / 3
    let c = 1 / (9 * d).squareRoot()
    while true {
      let x = normal(deviation: 1)
      let v = (1 + c * x) * (1 + c * x) * (1 + c * x)
      guard v > 0 else { continue }
      if log(1 - unit()) < 0.5 * x * x + d - d * v + d * log(v) { return scale * d * v }
    }
  }
}
