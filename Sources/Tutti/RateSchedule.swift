/// Maps times to the instants at which they sound, from the decisions that still matter.
struct RateSchedule {
  /// `time` sounds at `hostTime`; from then on time runs at `rate`.
  struct Point {
    var time: PlaybackTime
    var hostTime: HostTime
    var rate: Double

    func time(at now: HostTime) -> PlaybackTime { time + (now - hostTime) * rate }

    func hostTime(of time: PlaybackTime) -> HostTime { hostTime + (time - self.time) * (1 / rate) }
  }

  /// Largest number of changes, more than anybody makes ahead of time; the oldest are forgotten.
  private static let limit = 16

  /// In order of their instants; never empty.
  private var points = [Point(time: .zero, hostTime: HostTime(nanoseconds: 0), rate: 0)]

  /// The last decision.
  var last: Point { points[points.count - 1] }

  /// The instant at which time started to run, or will.
  var startTime: HostTime {
    let standing = points.lastIndex { $0.rate == 0 } ?? -1
    return points[min(standing + 1, points.count - 1)].hostTime
  }

  func time(at now: HostTime) -> PlaybackTime {
    (points.last { $0.hostTime <= now } ?? points[0]).time(at: now)
  }

  /// Returns nil if time stands still for good.
  func hostTime(of time: PlaybackTime) -> HostTime? {
    guard last.rate != 0 else { return nil }
    let running = points.drop { $0.hostTime < startTime }
    let holding = running.last { $0.time <= time } ?? running.first
    return holding?.hostTime(of: time)
  }

  /// Lets time run at `rate` from `instant` on, and drops later decisions.
  mutating func change(to rate: Double, at instant: HostTime) {
    add(Point(time: time(at: instant), hostTime: instant, rate: rate))
  }

  /// Lets time stand still at `time` from `instant` on, and drops later decisions.
  mutating func stand(at time: PlaybackTime, from instant: HostTime) {
    let point = Point(time: time, hostTime: instant, rate: 0)
    // If time never runs, it stands there at once.
    if points.allSatisfy({ $0.rate == 0 }) { points = [point] } else { add(point) }
  }

  private mutating func add(_ point: Point) {
    points.removeAll { $0.hostTime >= point.hostTime }
    points.append(point)
    if points.count > Self.limit { points.removeFirst() }
  }
}
