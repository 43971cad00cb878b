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
    /// How far off `at` may be, not counting the steps of the position.
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
  /// how long ago: on average half a step. A driver's stamp does say it.
  private let halfStep: Nanoseconds
  private let isExact: Bool
  /// Two frames.
  private let watchTime: Nanoseconds
  /// How long a reading usually takes: follows short ones at once and long ones slowly.
  private var usual = Self.longest

  init(_ device: DeviceDescription, clock: @escaping @Sendable () -> LocalTime) {
    self.clock = clock
    time = device.positionTime
    halfStep = Nanoseconds(Int64(device.positionStep) * 500_000_000 / Int64(device.sampleRate))
    isExact = device.hasExactPosition
    watchTime = Nanoseconds(2_000_000_000 / Int64(device.sampleRate))
  }

  /// A driver's stamp and position belong together. A plugin has no such stamp: it is asked once more for
  /// the position alone, the shortest of its calls, between two readings of the clock. Against a plugin
  /// that plays by a known clock this leaves 0.29 frames rms, which is the frame's own width; the stamps
  /// that alsa-lib makes up leave outliers.
  mutating func read(_ pcm: borrowing PCMDevice) -> Reading {
    switch time {
    case .driverRaw:
      let (status, code) = pcm.readStatus()
      let at = LocalTime(nanoseconds: status.stamp)
      return Reading(
        status: status, code: code, at: at, uncertainty: .zero, isPrecise: status.stamp != 0)
    case .driverMonotonic:
      let before = clock()
      let (status, code) = pcm.readStatus()
      let age = ageOfMonotonic(status.stamp)
      let width = clock() - before
      return Reading(
        status: status, code: code, at: before + width - Nanoseconds(age), uncertainty: width,
        isPrecise: status.stamp != 0 && judge(width))
    case .reading:
      var (status, code) = pcm.readStatus()
      if isExact, let reading = watchStep(pcm, status: status, code: code) { return reading }
      let before = clock()
      let isKnown = pcm.readDelay(&status.delay)
      let width = clock() - before
      let half = Nanoseconds(width.count / 2)
      return Reading(
        status: status, code: code, at: before + half - halfStep, uncertainty: half,
        isPrecise: isKnown && judge(width))
    }
  }

  /// Watches the position until it moves: that instant is known to the length of two calls, where a single reading
  /// leaves the width of a frame. Nil if it does not move within a frame or two, or this thread lost the CPU.
  private func watchStep(_ pcm: borrowing PCMDevice, status: PCMDevice.Status, code: Int32)
    -> Reading?
  {
    var status = status
    var before = clock()
    guard code >= 0, pcm.readDelay(&status.delay) else { return nil }
    var between = clock()
    let first = status.delay
    let limit = before + watchTime
    while between < limit {
      guard pcm.readDelay(&status.delay) else { return nil }
      let after = clock()
      if status.delay != first {
        let half = Nanoseconds((after - before).count / 2)
        guard first - status.delay == 1, half < Self.short else { return nil }
        return Reading(
          status: status, code: code, at: before + half, uncertainty: half, isPrecise: true)
      }
      (before, between) = (between, after)
    }
    return nil
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
