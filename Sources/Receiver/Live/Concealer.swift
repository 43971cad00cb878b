import Audio

/// Makes up what a live stream lacks: repeats the last period of the sound, faded to silence before anybody hears that it is
/// one, and leads over to what comes then. Session thread only.
struct Concealer {
  private static let historySeconds = 0.030
  /// Of the period that is looked for.
  private static let shortest = 0.0025
  private static let longest = 0.015
  /// How long the last sound must resemble what was a period before it.
  private static let compared = 0.005
  /// Unchanged for so long, then fainter, and then silent.
  private static let full = 0.010
  private static let silent = 0.040
  /// Joints: where it begins or repeats, and where the stream comes back.
  private static let seam = 0.002
  private static let crossFade = 0.005

  private let rate: Int
  private let channels: Int
  private var history: [Float] = []
  /// In frames; nil while nothing is missing.
  private var period: Int?
  /// Frames that were made up since something was missing.
  private var made = 0

  /// Begins as if before silence: what comes first is faded in.
  init(_ format: AudioFormat) {
    rate = format.sampleRate
    channels = format.channelCount
    period = 0
    made = frames(Self.silent)
  }

  /// The stream goes on with these frames: what was made up goes over into them.
  mutating func goOn(_ samples: inout [Float]) {
    if period != nil {
      let count = min(frames(Self.crossFade), samples.count / channels)
      let rest = makeUp(count)
      for frame in 0..<count {
        let share = Float(frame + 1) / Float(count)
        for place in frame * channels..<(frame + 1) * channels {
          samples[place] = samples[place] * share + rest[place] * (1 - share)
        }
      }
      (period, made) = (nil, 0)
    }
    history = (history + samples).suffix(frames(Self.historySeconds) * channels)
  }

  /// So many frames in the place of those that are missing.
  mutating func makeUp(_ count: Int) -> [Float] {
    let period = self.period ?? bestPeriod()
    self.period = period
    defer { made += count }
    guard period > 0 else { return [Float](repeating: 0, count: count * channels) }
    let start = history.count - period * channels
    let seam = frames(Self.seam)
    var samples: [Float] = []
    samples.reserveCapacity(count * channels)
    for frame in made..<made + count {
      let place = frame % period
      let gain = gain(at: frame)
      for channel in 0..<channels {
        var sample = history[start + place * channels + channel]
        if place < seam {
          // Where the end of the period and its beginning do not meet, they are brought together.
          let step =
            history[history.count - channels + channel] - history[start - channels + channel]
          sample += step * (1 - Float(place + 1) / Float(seam + 1))
        }
        samples.append(sample * gain)
      }
    }
    return samples
  }

  private func gain(at frame: Int) -> Float {
    let time = Double(frame) / Double(rate)
    return Float(min(1, max(0, (Self.silent - time) / (Self.silent - Self.full))))
  }

  /// Zero where there is too little to repeat.
  private func bestPeriod() -> Int {
    let length = frames(Self.compared)
    let count = history.count / channels
    let longest = min(frames(Self.longest), count - length - 1)
    let shortest = frames(Self.shortest)
    guard longest > shortest, shortest > 0 else { return 0 }
    let mono = (0..<count).map { frame in
      (0..<channels).reduce(Float(0)) { $0 + history[frame * channels + $1] }
    }
    let coarse = max(1, rate / 12_000)
    let about = best(stride(from: shortest, through: longest, by: coarse), mono, length, coarse)
    let near = max(shortest, about - coarse)...min(longest, about + coarse)
    return best(stride(from: near.lowerBound, through: near.upperBound, by: 1), mono, length, 1)
  }

  /// The lag at which the end of `mono` resembles what was before it most.
  private func best(
    _ lags: StrideThrough<Int>, _ mono: [Float], _ length: Int, _ step: Int
  ) -> Int {
    var found = (lag: 0, likeness: -Float.infinity)
    let start = mono.count - length
    for lag in lags {
      var (product, energy): (Float, Float) = (0, 1e-9)
      for place in stride(from: start, to: mono.count, by: step) {
        product += mono[place] * mono[place - lag]
        energy += mono[place - lag] * mono[place - lag]
      }
      let likeness = product / energy.squareRoot()
      if likeness > found.likeness { found = (lag, likeness) }
    }
    return found.lag
  }

  private func frames(_ seconds: Double) -> Int { Int(seconds * Double(rate)) }
}
