package import Clock

extension SplitMix64 {
  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Often one of the ends, where mistakes live.
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
