package import House
import LinuxIO

/// The time zone of this machine, as glibc knows it.
package struct LocalZone: CivilTime {
  package init() {}

  package func offset(at time: WallTime) -> Int64 { HostClock.zoneOffset(atSeconds: time.seconds) }
}
