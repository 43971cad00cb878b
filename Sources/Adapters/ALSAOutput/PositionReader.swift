import CALSA
import Clock
import Glibc

/// Reads how far the card is, and when that was so. Output thread only.
struct PositionReader {
  struct Reading {
    var status: PCMDevice.Status
    var code: Int32
    /// When `status` was so, by the host's clock.
    var at: LocalTime
    var uncertainty: Nanoseconds
    /// Whether the time is of use. A thread that lost the CPU within the reading does not know it.
    var isPrecise: Bool
  }

  /// Readings that took longer are of no use whatever is usual on this machine.
  private static let longest = Nanoseconds.microseconds(500)
  /// Readings as short as this are good whatever is usual.
  private static let short = Nanoseconds.microseconds(10)
  /// How far above the usual a reading may be.
  private static let tolerance: Int64 = 3

  private let clock: @Sendable () -> LocalTime
  private let time: DeviceDescription.PositionTime
  /// Half of what a step of the position is worth. A position says that the card has reached it, but not
  /// how long ago: on average half a step.
  private let halfStep: Nanoseconds
  /// How long a reading usually takes: follows short ones at once and long ones slowly.
  private var usual = Self.longest

  init(_ device: DeviceDescription, clock: @escaping @Sendable () -> LocalTime) {
    self.clock = clock
    time = device.positionTime
    let half = Int64(device.positionStep) * 500_000_000 / Int64(device.sampleRate)
    // A driver's stamp tells when the step happened, so that nothing is left of it.
    halfStep = device.positionTime == .reading ? Nanoseconds(half) : .zero
  }

  mutating func read(_ pcm: borrowing PCMDevice) -> Reading {
    let before = clock()
    let (status, code) = pcm.readStatus()
    if status.stamp != 0, time == .driverRaw {
      let stamp = LocalTime(nanoseconds: status.stamp)
      return Reading(
        status: status, code: code, at: stamp, uncertainty: .zero, isPrecise: true)
    }
    let age = status.stamp != 0 && time == .driverMonotonic ? ageOfMonotonic(status.stamp) : 0
    let width = clock() - before
    let isPrecise = judge(width)
    let half = Nanoseconds(width.count / 2)
    let at = age == 0 ? before + half - halfStep : before + half - Nanoseconds(age)
    return Reading(
      status: status, code: code, at: at, uncertainty: half + halfStep, isPrecise: isPrecise)
  }

  /// The two clocks run apart by less than a thousandth, which over the age of a stamp is nothing.
  private func ageOfMonotonic(_ stamp: Int64) -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - stamp
  }

  private mutating func judge(_ width: Nanoseconds) -> Bool {
    let limit = min(max(Nanoseconds(usual.count * Self.tolerance), Self.short), Self.longest)
    if width < usual {
      usual = width
    } else {
      usual = Nanoseconds(usual.count + usual.count / 16 + 1)
    }
    usual = min(usual, Self.longest)
    return width < limit
  }
}
