import Clock
import Diagnosis
import Glibc
import HostFacts
import LinuxIO

/// The checks that both programs make of their machine.
extension Checkup {
  /// Time for which the wall clock is watched.
  private static let watch = Nanoseconds.milliseconds(1200)

  package static func state(_ directory: String) -> Check {
    Check(
      "state",
      ifSilent: .wrong(
        "state", "the disk of \(directory) does not answer", cure: "see: dmesg, df \(directory)")
    ) { [StateProbe.look(at: directory).finding] }
  }

  package static func clock() -> Check {
    Check(
      "clock",
      ifSilent: .notice("clock", "could not be read in time", cure: "is the machine overloaded?")
    ) {
      let (first, begun) = (HostClock.wallClockLead, HostClock.now)
      poll(nil, 0, Int32(watch.count / 1_000_000))
      let change = HostClock.wallClockLead.flatMap { last in first.map { last - $0 } } ?? .zero
      return [
        ClockFacts(
          source: SystemFiles().clockSource(), change: change, span: HostClock.now - begun
        ).finding
      ]
    }
  }

  package static func interfaces() -> Check {
    Check(
      "network",
      ifSilent: .notice("network", "the interfaces do not answer", cure: "see: dmesg, ip link")
    ) { SystemFiles().interfaces().findings }
  }
}
