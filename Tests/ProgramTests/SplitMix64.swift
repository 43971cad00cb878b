/// A small generator with a seed, so that a failing case can be run again.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Often one of the ends, where mistakes live.
  mutating func pick<Value: FixedWidthInteger>(_ range: ClosedRange<Value>) -> Value {
    switch next() % 8 {
    case 0: range.lowerBound
    case 1: range.upperBound
    default: Value.random(in: range, using: &self)
    }
  }

  mutating func text(atMost limit: Int) -> String {
    let letters: [Character] = ["a", "Z", "7", " ", "é", "ü", "音", "🎵", "–"]
    var text = ""
    for _ in 0..<Int.random(in: 0...limit, using: &self) {
      let letter = letters.randomElement(using: &self) ?? "a"
      if text.utf8.count + letter.utf8.count <= limit { text.append(letter) }
    }
    return text
  }

  mutating func element<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }
}
