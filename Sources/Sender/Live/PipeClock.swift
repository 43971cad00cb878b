package import Clock

/// Estimates the clock of a program that writes audio into a pipe from the times at which its data come: often late,
/// but never early.
///
/// Each read says how many frames have come so far. The clock is the line that has no read above it and is closest to
/// the reads of the last two minutes: one edge of their upper convex hull (S. Moon, P. Skelly, D. Towsley: Estimation
/// and removal of clock skew from network delay measurements, INFOCOM 1999).
package struct PipeClock: Sendable {
  /// Seconds of audio that the program writes per second of local time, minus one.
  package private(set) var drift = 0.0

  private let sampleRate: Double
  /// The time at which `x` is zero, and the number of frames that had come by then.
  private var origin: (time: LocalTime, frame: Int64)?
  /// The least late read of each slot. The last slot is not complete.
  private var points: [Point] = []
  /// Lead of the line at `origin`, in seconds.
  private var height = 0.0
  private var newest = 0.0
  private var burstCount = 0

  /// Number of reads that are kept; bounded by `window` and `slot`.
  package var pointCount: Int { points.count }

  /// One read.
  private struct Point {
    /// Seconds since the origin.
    var x: Double
    /// Seconds of audio that have come, minus `x`.
    var y: Double
  }

  /// Time for which one point stands. Seconds.
  private static let slot = 0.5
  /// Age of the oldest point. Seconds: long enough for a slope to a few ppm, short enough for a machine that warms up.
  private static let window = 120.0
  /// Shortest span of the points that gives a slope. Seconds: at 200 ppm, less than a millisecond of audio.
  private static let leastSpan = 4.0
  /// From this span and this many bursts on, the slope is known well enough to be limited to that of two bad crystals.
  /// Seconds, and bursts.
  private static let longSpan = 60.0
  private static let manyBursts = 20
  private static let widestDrift = 1000e-6
  private static let widestSettledDrift = 300e-6
  /// Reads that are closer together belong to one burst. Seconds.
  private static let burstGap = 2e-3
  /// Time after which the first bursts have shown where the line is. Seconds.
  private static let settlingTime = 0.1

  /// `sampleRate` in Hz, above zero.
  package init(sampleRate: Int) { self.sampleRate = Double(sampleRate) }

  /// True if `frame(at:)` is meaningful.
  package var isSettled: Bool { burstCount >= 2 && newest >= Self.settlingTime }

  /// Records that `frameCount` frames had come in total by `time`.
  package mutating func observe(_ frameCount: Int64, at time: LocalTime) {
    guard let origin else {
      origin = (time, frameCount)
      points = [Point(x: 0, y: 0)]
      (height, newest, burstCount) = (0, 0, 1)
      return
    }
    let x = (time - origin.time).seconds
    guard x >= newest else { return }
    if x - newest >= Self.burstGap { burstCount = min(burstCount + 1, Self.manyBursts) }
    newest = x
    let point = Point(x: x, y: Double(frameCount - origin.frame) / sampleRate - x)
    if let last = points.last, Self.slotNumber(of: last) == Self.slotNumber(of: point) {
      if excess(of: point) > excess(of: last) { points[points.count - 1] = point }
    } else {
      fit()
      points.append(point)
    }
    height = max(height, excess(of: point))
  }

  /// Returns the number of frames that the program had written by `time`, with a fraction. Meaningless before the first
  /// read.
  package func frame(at time: LocalTime) -> Double {
    guard let origin else { return 0 }
    let x = (time - origin.time).seconds
    return Double(origin.frame) + sampleRate * (x + height + drift * x)
  }

  /// The program has paused: its frames now come later, by an unknown time. Its drift is kept.
  package mutating func rephase() {
    origin = nil
    points = []
    (height, newest, burstCount) = (0, 0, 0)
  }

  // MARK: - The line

  private static func slotNumber(of point: Point) -> Double { (point.x / slot).rounded(.down) }

  /// Returns how far the point is above a line of the present slope through the origin.
  private func excess(of point: Point) -> Double { point.y - drift * point.x }

  private mutating func fit() {
    let oldest = newest - Self.window
    points.removeFirst(points.prefix { $0.x < oldest }.count)
    guard let first = points.first, let last = points.last else { return }
    let span = last.x - first.x
    if span >= Self.leastSpan {
      let isSettled = span >= Self.longSpan && burstCount >= Self.manyBursts
      let limit = isSettled ? Self.widestSettledDrift : Self.widestDrift
      drift = min(max(slopeOfClosestLine(), -limit), limit)
    }
    height = points.map(excess).max() ?? height
  }

  /// Returns the slope of the upper hull's edge above the middle of all points. Of all lines with no point above them,
  /// this one has the smallest mean distance.
  private func slopeOfClosestLine() -> Double {
    let middle = points.reduce(0) { $0 + $1.x } / Double(points.count)
    let hull = upperHull()
    guard let right = hull.firstIndex(where: { $0.x >= middle }), right > 0 else { return drift }
    let (a, b) = (hull[right - 1], hull[right])
    return (b.y - a.y) / (b.x - a.x)
  }

  /// Returns the hull, found by Andrew's monotone chain. The points are in the order of `x`, and no two have the same.
  private func upperHull() -> [Point] {
    var hull: [Point] = []
    for point in points {
      while hull.count >= 2 {
        let (last, before) = (hull[hull.count - 1], hull[hull.count - 2])
        let turn =
          (last.x - before.x) * (point.y - before.y) - (point.x - before.x) * (last.y - before.y)
        if turn < 0 { break }
        hull.removeLast()
      }
      hull.append(point)
    }
    return hull
  }
}
