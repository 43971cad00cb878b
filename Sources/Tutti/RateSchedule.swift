/// Which time sounds when: what has been decided, as far as it still matters.
struct RateSchedule {
  /// `time` sounds at `hostTime`; from then on time runs at `rate`.
  struct Point {
    var time: PlaybackTime
    var hostTime: HostTime
    var rate: Double

    func time(at now: HostTime) -> PlaybackTime { time + (now - hostTime) * rate }

    func hostTime(of time: PlaybackTime) -> HostTime { hostTime + (time - self.time) * (1 / rate) }
  }

  /// More changes than anybody makes ahead of time; the oldest are forgotten.
  private static let limit = 16

  /// In order of their instants; never none.
  private var points = [Point(time: .zero, hostTime: HostTime(nanoseconds: 0), rate: 0)]

  /// What was decided last.
  var last: Point { points[points.count - 1] }

  /// When time began to run, or is to.
  var startTime: HostTime {
    let standing = points.lastIndex { $0.rate == 0 } ?? -1
    return points[min(standing + 1, points.count - 1)].hostTime
  }

  func time(at now: HostTime) -> PlaybackTime {
    (points.last { $0.hostTime <= now } ?? points[0]).time(at: now)
  }

  /// Nil while it stands still for good.
  func hostTime(of time: PlaybackTime) -> HostTime? {
    guard last.rate != 0 else { return nil }
    let running = points.drop { $0.hostTime < startTime }
    let holding = running.last { $0.time <= time } ?? running.first
    return holding?.hostTime(of: time)
  }

  /// From `instant` on, time runs at `rate`; what was decided for later is not.
  mutating func change(to rate: Double, at instant: HostTime) {
    add(Point(time: time(at: instant), hostTime: instant, rate: rate))
  }

  /// `time` stands still, from `instant` on; what was decided for later is not.
  mutating func stand(at time: PlaybackTime, from instant: HostTime) {
    let point = Point(time: time, hostTime: instant, rate: 0)
    // What stands there stands here at once.
    if points.allSatisfy({ $0.rate == 0 }) { points = [point] } else { add(point) }
  }

  private mutating func add(_ point: Point) {
    points.removeAll { $0.hostTime >= point.hostTime }
    points.append(point)
    if points.count > Self.limit { points.removeFirst() }
  }
}
