import Clock
package import House
import LinuxIO

/// The time zone of this machine, as glibc knows it.
package struct LocalZone: CivilTime {
  package init() {}

  package func offset(at time: WallTime) -> Int64 { HostClock.zoneOffset(atSeconds: time.seconds) }
}

extension LocalZone {
  /// Returns the seconds until clocks show this time of the day next, for a sleep timer.
  ///
  /// - Parameter minute: of the day, 0 to 1439.
  package static func seconds(untilMinute minute: Int) -> Double {
    let now = WallTime(
      nanoseconds: HostClock.now.nanoseconds + (HostClock.wallClockLead ?? .zero).count)
    return (LocalZone().next(minute: minute, after: now) - now).seconds
  }
}
