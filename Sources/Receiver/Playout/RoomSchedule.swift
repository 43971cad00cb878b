import Clock

/// Tells which media time sounds in this room at a given local time, from the group's anchors, its clock and the
/// room's delay.
struct RoomSchedule {
  /// Interval of new estimates for the render thread. Within it, even 100 ppm of drift are 10 µs.
  static let clockInterval = Nanoseconds.milliseconds(100)

  /// Delay of this room against the group; may be negative.
  var delay = Nanoseconds.zero
  private(set) var anchors = Anchors()
  private var estimate: ClockEstimate?
  private var clockIsStep = true
  private var nextClockCommand: LocalTime?

  var isKnown: Bool { estimate != nil && !anchors.isEmpty }

  /// Returns the group time whose sound this room plays at `now`.
  func time(at now: LocalTime) -> GroupTime? {
    estimate.map { $0.groupTime(of: now) - delay }
  }

  /// Returns the media time that sounds in this room.
  func playhead(at now: LocalTime) -> MediaTime? { time(at: now).flatMap(anchors.playhead(at:)) }

  /// Returns when a media time sounds in this room, by the anchor in force; nil if time stands still or is not
  /// known.
  func localTime(of time: MediaTime, at now: LocalTime) -> LocalTime? {
    guard let estimate, let group = self.time(at: now) else { return nil }
    let heard = (anchors.inForce(at: group) ?? anchors.first)?.groupTime(of: time)
    return heard.map { estimate.localTime(of: $0 + delay) }
  }

  /// True if media time runs in this room, by the anchors.
  func isRunning(at now: LocalTime) -> Bool { time(at: now).map(anchors.isPlaying(at:)) ?? false }

  /// No sender fills a room longer before it begins: alarms do so ten minutes before.
  private static let longestWait = Nanoseconds.seconds(3_600)

  /// True if media time does not run yet, and an anchor will make it, but not one that lies too far ahead to wait for.
  func isToRun(after now: LocalTime) -> Bool {
    guard let time = time(at: now), !anchors.isPlaying(at: time),
      let next = anchors.next(after: time)
    else { return false }
    return next.rate == .playing && next.groupTime - time <= Self.longestWait
  }

  /// True if time has stood still for `span`, and no anchor will change that.
  func hasStoodStill(for span: Nanoseconds, at now: LocalTime) -> Bool {
    guard let last = anchors.last, last.rate == .paused, let time = time(at: now) else {
      return false
    }
    return last.groupTime + span <= time
  }

  mutating func insert(_ anchor: Anchor) { anchors.insert(anchor) }

  mutating func clockStepped() { clockIsStep = true }

  mutating func forget() {
    anchors.removeAll()
    estimate = nil
    clockIsStep = true
  }

  mutating func deviceOpened() {
    nextClockCommand = nil
    clockIsStep = true
  }

  /// Takes the clock estimate. Returns the command that updates the render thread, if one is due.
  mutating func follow(
    _ clock: ClockEstimate?, hasDevice: Bool, at now: LocalTime
  ) -> RenderCommand? {
    guard let clock else { return nil }
    estimate = clock
    guard hasDevice, clockIsStep || nextClockCommand.map({ $0 <= now }) ?? true else { return nil }
    defer { clockIsStep = false }
    nextClockCommand = now + Self.clockInterval
    return .clock(clock, isStep: clockIsStep)
  }
}
