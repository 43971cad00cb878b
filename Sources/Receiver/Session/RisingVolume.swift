import Clock
import WireProtocol

/// The volume that the sender applies to all rooms. It may rise, and does so by the group's clock, whether or not the
/// sender is there.
struct RisingVolume {
  /// The steps of a rise are too small to be heard.
  private static let stepCount: Int64 = 200
  /// Shorter steps would only cost messages to the render thread.
  private static let leastInterval = Nanoseconds.milliseconds(200)

  private(set) var volume: StreamVolume
  /// The part of it that counts while it rises, from 0 to 1.
  private(set) var share: Double
  /// Nil is at once.
  private var nextStep: LocalTime?

  init(_ volume: StreamVolume) {
    self.volume = volume
    share = volume.rise == nil ? 1 : StreamVolume.Rise.least
  }

  var nextDeadline: LocalTime? { volume.rise == nil ? nil : nextStep }

  func isDue(at now: LocalTime) -> Bool {
    volume.rise != nil && nextStep.map { $0 <= now } ?? true
  }

  /// Takes the step that is due. `clock` is nil while the group's time is unknown.
  /// - Returns: True if the volume must be set again.
  mutating func advance(to now: LocalTime, clock: ClockEstimate?) -> Bool {
    guard let rise = volume.rise else { return false }
    guard let clock else {
      nextStep = now + Self.leastInterval
      return false
    }
    share = rise.share(at: clock.groupTime(of: now))
    if share == 1 { volume.rise = nil }
    let next = now + max(Self.leastInterval, Nanoseconds(rise.span.count / Self.stepCount))
    nextStep = max(next, clock.localTime(of: rise.begin))
    return true
  }
}
