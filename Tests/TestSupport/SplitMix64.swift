import Glibc

/// A small seeded generator (S. Vigna's SplitMix64). It gives the same numbers everywhere, so that a failing case
/// can be repeated.
package struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Returns a number of the range, often one of its ends, where mistakes are likely.
  package mutating func pick<Value: FixedWidthInteger>(_ range: ClosedRange<Value>) -> Value {
    switch next() % 8 {
    case 0: range.lowerBound
    case 1: range.upperBound
    default: Value.random(in: range, using: &self)
    }
  }

  package mutating func text(atMost limit: Int) -> String {
    let letters: [Character] = ["a", "Z", "7", " ", "é", "ü", "音", "🎵", "–"]
    var text = ""
    for _ in 0..<Int.random(in: 0...limit, using: &self) {
      let letter = letters.randomElement(using: &self) ?? "a"
      if text.utf8.count + letter.utf8.count <= limit { text.append(letter) }
    }
    return text
  }

  package mutating func element<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }
}

// MARK: - Distributions

extension SplitMix64 {
  /// A number in 0..<1.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  package mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * unit()
  }

  package mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }

  package mutating func normal(deviation: Double) -> Double {
    deviation * (-2 * log(1 - unit())).squareRoot() * cos(2 * Double.pi * unit())
  }

  /// A heavy-tailed number, at least 0: `(1 - u)^(-1/shape) - 1`.
  package mutating func pareto(shape: Double) -> Double { pow(1 - unit(), -1 / shape) - 1 }

  /// A gamma-distributed number, by Marsaglia and Tsang; `shape` must be at least 1.
  package mutating func gamma(shape: Double, scale: Double) -> Double {
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
