import Clock

/// Joins audio of one rate to audio of another without a gap. A converter's filter looks across the joint, so it needs
/// each side on the other's grid: interpolated between the nearest frames of both, by Lagrange's polynomial.
///
/// With twelve frames of the lower rate to either side, a tone of a tenth of that rate comes out 120 dB above what
/// the interpolation adds, and one of a quarter of it 70 dB; only a millisecond or two around the joint is
/// interpolated.
package struct RateJoint {
  /// Frames of the lower rate that are used on either side.
  static let reach = 12

  /// Frames on one grid, interleaved; `first` is the index of the first of them.
  package struct Side {
    let rate: Int
    let first: Int64
    let samples: [Float]

    package init(rate: Int, first: Int64, samples: [Float]) {
      self.rate = rate
      self.first = first
      self.samples = samples
    }

    var flicksPerFrame: Int64 { MediaDuration(frames: 1, at: rate).flicks }
  }

  private let before: Side
  private let after: Side
  private let channelCount: Int
  /// The first frame of `before`'s grid that it does not have.
  private let end: Int64
  /// Times of the frames between which to interpolate, ascending, in flicks from `after`'s first frame. The finer
  /// side is thinned so that its frames lie about as far apart as the other's.
  private var places: [Double] = []
  /// Index of the first sample of each of `places`, in the samples of `before` followed by those of `after`.
  private var indices: [Int] = []

  package init(before: Side, after: Side, channelCount: Int) {
    self.before = before
    self.after = after
    self.channelCount = channelCount
    let counts = (before.samples.count / channelCount, after.samples.count / channelCount)
    end = before.first + Int64(counts.0)
    let coarse = max(before.flicksPerFrame, after.flicksPerFrame)
    let origin = after.first * after.flicksPerFrame
    let step = Self.spacing(of: before, in: coarse)
    for frame in stride(from: counts.0 - 1, through: 0, by: -step).reversed() {
      places.append(Double((before.first + Int64(frame)) * before.flicksPerFrame - origin))
      indices.append(frame * channelCount)
    }
    for frame in stride(from: 0, to: counts.1, by: Self.spacing(of: after, in: coarse)) {
      places.append(Double(Int64(frame) * after.flicksPerFrame))
      indices.append(before.samples.count + frame * channelCount)
    }
  }

  /// Returns the number of frames of `rate` behind the joint that are needed to compute `count` frames of `other`.
  package static func framesNeeded(ofRate rate: Int, forFrames count: Int, ofRate other: Int) -> Int
  {
    let (own, theirs) = (
      MediaDuration(frames: 1, at: rate).flicks, MediaDuration(frames: 1, at: other).flicks
    )
    let span = Int64(count) * theirs + Int64(reach + 2) * max(own, theirs)
    return Int(span / own) + 1
  }

  /// Returns `after` on `before`'s grid: the `count` frames that follow `before`.
  package func following(_ count: Int) -> [Float] {
    frames(from: end, count: count, of: before)
  }

  /// Returns `before` on `after`'s grid: the `count` frames that precede `after`.
  package func preceding(_ count: Int) -> [Float] {
    frames(from: after.first - Int64(count), count: count, of: after)
  }

  private func frames(from first: Int64, count: Int, of side: Side) -> [Float] {
    let origin = after.first * after.flicksPerFrame
    var next = 0
    return (first..<first + Int64(max(count, 0))).flatMap { frame -> [Float] in
      let place = Double(frame * side.flicksPerFrame - origin)
      while next < places.count, places[next] < place { next += 1 }
      return self.frame(at: place, behind: next)
    }
  }

  /// Returns the frame at `place`; `next` is the first of `places` there or behind it. Returns silence outside of them.
  private func frame(at place: Double, behind next: Int) -> [Float] {
    if next < places.count, places[next] == place {
      return (0..<channelCount).map { sample(indices[next] + $0) }
    }
    // Use equally many on both sides: a polynomial with more on one side amplifies noise.
    let half = min(Self.reach, next, places.count - next)
    var sums = [Double](repeating: 0, count: channelCount)
    for node in next - half..<next + half {
      var weight = 1.0
      for other in next - half..<next + half where other != node {
        weight *= (place - places[other]) / (places[node] - places[other])
      }
      for channel in 0..<channelCount {
        sums[channel] += weight * Double(sample(indices[node] + channel))
      }
    }
    return sums.map { Float($0) }
  }

  private func sample(_ index: Int) -> Float {
    let count = before.samples.count
    return index < count ? before.samples[index] : after.samples[index - count]
  }

  private static func spacing(of side: Side, in coarse: Int64) -> Int {
    max(1, Int((Double(coarse) / Double(side.flicksPerFrame) + 0.5)))
  }
}
