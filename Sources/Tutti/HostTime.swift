internal import Clock
internal import LinuxIO

/// An instant of this host's clock, CLOCK_MONOTONIC_RAW: it runs evenly, whatever is done to the time of day. It stands
/// still while the host is suspended.
public struct HostTime: Hashable, Comparable, Sendable {
  /// Nanoseconds since the clock's origin, about when the host was booted.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Reads the clock. From any thread.
  public static var now: HostTime { HostTime(HostClock.now) }

  /// The same instant on CLOCK_MONOTONIC, which video players and display servers use. That clock is slewed by up to
  /// 500 ppm, so ask again at least once a second. Nil if the two clocks could not be read together because the
  /// processor was too busy.
  public var monotonicNanoseconds: Int64? { HostClock.monotonic(local) }

  public static func < (a: HostTime, b: HostTime) -> Bool { a.nanoseconds < b.nanoseconds }
  public static func + (a: HostTime, b: Duration) -> HostTime {
    HostTime(limited: a.nanoseconds.addingReportingOverflow(b.wholeNanoseconds))
  }
  public static func - (a: HostTime, b: Duration) -> HostTime {
    HostTime(limited: a.nanoseconds.subtractingReportingOverflow(b.wholeNanoseconds))
  }
  public static func - (a: HostTime, b: HostTime) -> Duration {
    .nanoseconds(a.nanoseconds &- b.nanoseconds)
  }

  /// The nearest instant that there is: what overflows upwards has become negative.
  private init(limited result: (partialValue: Int64, overflow: Bool)) {
    let limit: Int64 = result.partialValue < 0 ? .max : .min
    nanoseconds = result.overflow ? limit : result.partialValue
  }

  /// Nine years: the sums of such times do not overflow.
  private static let farthest: Int64 = 1 << 58

  init(_ time: LocalTime) { nanoseconds = time.nanoseconds }
  var local: LocalTime {
    LocalTime(nanoseconds: min(max(nanoseconds, -Self.farthest), Self.farthest))
  }
}

extension Duration {
  /// Rounded toward zero, and limited to the range of an `Int64`: ±292 years.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    guard abs(seconds) < 9_000_000_000 else { return seconds < 0 ? .min : .max }
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
