import Audio

/// Conceals the missing frames of a live stream. It repeats the last period of the sound, fades it to silence before
/// the repetition becomes audible, and cross-fades into the frames that arrive next. Session thread only.
struct Concealer {
  /// Sound that is kept, in seconds: two of the longest periods, which are compared.
  private static let historySeconds = 2 * longest
  /// Bounds of the repeated period, in seconds: tones of 400 to 67 Hz. Shorter periods buzz, and one of several will do.
  private static let shortest = 0.0025
  private static let longest = 0.015
  /// Span of the newest sound that is compared with the sound one period earlier, in seconds.
  private static let compared = 0.005
  /// Concealment keeps full volume for `full` seconds, then fades, and is silent after `silent` seconds.
  private static let full = 0.010
  private static let silent = 0.040
  /// Lengths in seconds: of the joint where a period begins or repeats, and of the cross-fade into the stream.
  private static let seam = 0.002
  private static let crossFade = 0.005

  private let rate: Int
  private let channels: Int
  private var history: [Float] = []
  /// Length of the repeated period in frames: nil while nothing is missing, 0 if there is too little to repeat.
  private var period: Int?
  /// Frames concealed in the current gap.
  private var made = 0

  /// Starts as after a silent gap, so that the first frames are faded in.
  init(_ format: AudioFormat) {
    rate = format.sampleRate
    channels = format.channelCount
    period = 0
    made = frames(Self.silent)
  }

  /// Takes the next frames of the stream. After a gap, cross-fades their beginning with the concealment.
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

  /// Returns `count` frames to play in place of missing ones.
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
          // Bridges the step between the end of the period and its beginning.
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

  /// Returns the period to repeat, in frames, or 0 if there is too little sound to repeat.
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
    // Samples may be so large that nothing can be compared.
    guard about > 0 else { return 0 }
    let near = max(shortest, about - coarse)...min(longest, about + coarse)
    return best(stride(from: near.lowerBound, through: near.upperBound, by: 1), mono, length, 1)
  }

  /// Returns the lag, in frames, at which the end of `mono` most resembles the sound before it.
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
