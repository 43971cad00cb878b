import TestSupport

/// Noise without its highest frequencies, which codecs leave out: any stretch of it is found again to the sample.
struct SoftNoise: Sendable {
  let recording: Recording
  /// One of two equal channels.
  private let sound: [Float]

  init(rate: Int, seconds: Int) {
    let white = Recording(rate: rate, channels: 1, frames: seconds * rate + 8)
    var soft = Recording(rate: rate, frames: 0)
    let samples = (0..<seconds * rate).map { frame in
      white.samples[frame..<frame + 4].reduce(0, +) / 4
    }
    soft.samples = samples.flatMap { [$0, $0] }
    recording = soft
    sound = samples.map { Float($0) / 32_768 }
  }

  /// How many frames later than at `place` the sound from frame `source` on is heard; nil if it is not there.
  func lag(in heard: [Float], at place: Int, from source: Int) -> Int? {
    let best = lagAndLikeness(in: heard, at: place, from: source, width: 2_048, reach: 200)
    return best.flatMap { $0.likeness > 0.5 ? $0.lag : nil }
  }

  /// The lag within `reach` frames with which `width` frames are most alike.
  func lagAndLikeness(
    in heard: [Float], at place: Int, from source: Int, width: Int, reach: Int
  ) -> (lag: Int, likeness: Double)? {
    var best: (lag: Int, likeness: Double)?
    for lag in -reach...reach {
      let first = place + lag
      guard first >= 0, first + width <= heard.count, source + width <= sound.count else {
        continue
      }
      let likeness = Self.likeness(heard[first..<first + width], sound[source..<source + width])
      if likeness > best?.likeness ?? 0 { best = (lag, likeness) }
    }
    return best
  }

  /// A loop over places: iterators are slow where the compiler leaves them generic.
  private static func likeness(_ one: ArraySlice<Float>, _ other: ArraySlice<Float>) -> Double {
    one.withUnsafeBufferPointer { one in
      other.withUnsafeBufferPointer { other in
        var (product, square, otherSquare) = (0.0, 1e-12, 1e-12)
        var place = 0
        while place < one.count {
          let (a, b) = (Double(one[place]), Double(other[place]))
          product += a * b
          square += a * a
          otherSquare += b * b
          place += 1
        }
        return product / (square * otherSquare).squareRoot()
      }
    }
  }
}
