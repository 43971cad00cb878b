import Clock
import Glibc
import Testing

@testable import LinuxIO

struct HostClockTests {
  @Test func `local time never runs backwards`() {
    var last = HostClock.now
    for _ in 0..<1000 {
      let now = HostClock.now
      #expect(now >= last)
      last = now
    }
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  @Test func `local time is the kernel's clock that nobody slews`() {
    for _ in 0..<100 {
      let before = Self.read(CLOCK_MONOTONIC_RAW)
      let now = HostClock.now.nanoseconds
      #expect(before <= now && now <= Self.read(CLOCK_MONOTONIC_RAW))
    }
  }

  /// The clock that goes on during a suspend is ahead of the one that stands still by the time of all of them.
  @Test func `the time suspended is what lies between the kernel's clocks with and without it`() {
    for _ in 0..<100 {
      let (first, most) = (Self.read(CLOCK_MONOTONIC), Self.read(CLOCK_BOOTTIME))
      let suspended = HostClock.timeSuspended.count
      let (least, last) = (Self.read(CLOCK_BOOTTIME), Self.read(CLOCK_MONOTONIC))
      // It cannot tell when between its own readings another clock is read.
      let slack = (last - first) / 2 + 1
      #expect(suspended <= most - first + slack && suspended >= least - last - slack)
    }
  }

  @Test func `a stamp of either kernel clock lands between the readings around it`() throws {
    var converter = RealtimeConverter()
    var converted = 0
    for _ in 0..<100 {
      let before = HostClock.now
      let realtime = HostClock.read(CLOCK_REALTIME)
      let monotonic = HostClock.read(CLOCK_MONOTONIC)
      let after = HostClock.now
      let times = [
        converter.localTime(ofRealtime: realtime), HostClock.localTime(ofMonotonic: monotonic),
      ].compactMap(\.self)
      // The thread may have been held up, and meanwhile the clocks drift apart by 1000 ppm at most.
      let slack = Nanoseconds(5_000 + (HostClock.now - before).count / 1_000)
      #expect(times.allSatisfy { $0 >= before - slack && $0 <= after + slack })
      converted += times.count
    }
    #expect(converted > 0)
  }

  @Test func `a step of the wall clock is refused once and then the new base`() {
    var converter = RealtimeConverter()
    #expect(converter.localTime(of: 990, by: pair(other: 1000, local: 0)) != nil)
    let step: Int64 = 1_000_000
    let stepped = pair(other: 2000 + step, local: 1000)
    #expect(converter.localTime(of: 1990 + step, by: stepped) == nil)
    let later = pair(other: 3000 + step, local: 2000)
    #expect(
      converter.localTime(of: 2990 + step, by: later) == LocalTime(nanoseconds: 1990))
  }

  @Test func `slewing of the wall clock is no step`() {
    var converter = RealtimeConverter()
    let second: Int64 = 1_000_000_000
    for index in Int64(1)..<10 {
      let wall = index * second + index * 500_000
      #expect(
        converter.localTime(of: wall - 10, by: pair(other: wall, local: index * second)) != nil)
    }
  }

  /// A time daemon that corrects a crystal's error of 100 ppm makes the clocks drift apart
  /// continuously.
  @Test func `a stamp that has waited is converted as the clocks stood then`() {
    var converter = RealtimeConverter()
    let (turn, wait): (Int64, Int64) = (50_000_000, 48_000_000)
    for index in Int64(1)..<40 {
      let now = index * turn
      let reading = pair(other: now + now / 10_000, local: now)
      let (stamped, next) = (now - wait, pair(other: reading.other + 20_000, local: now + 20_000))
      for reading in [reading, next] {
        let time = converter.localTime(of: stamped + stamped / 10_000, by: reading)
        let error = (time ?? LocalTime(nanoseconds: 0)) - LocalTime(nanoseconds: stamped)
        #expect(index < 2 || error.magnitude <= Nanoseconds(20))
      }
    }
  }

  @Test func `a stamp from the future or long ago is refused`() {
    var converter = RealtimeConverter()
    let now = pair(other: 5_000_000_000, local: 0)
    #expect(converter.localTime(of: 5_000_000_001, by: now) == nil)
    #expect(converter.localTime(of: 2_999_999_999, by: now) == nil)
    #expect(converter.localTime(of: .min, by: now) == nil)
  }

  @Test func `a suspend is reported once, with its length`() {
    var detector = SuspendDetector(base: .seconds(3))
    #expect(detector.suspended(total: .seconds(3) + .milliseconds(1)) == nil)
    #expect(detector.suspended(total: .seconds(8)) == .seconds(5))
    #expect(detector.suspended(total: .seconds(8)) == nil)
  }

  @Test func `a machine that runs is not suspended`() {
    var detector = SuspendDetector()
    #expect(detector.suspendedSinceLastCall() == nil)
  }

  private func pair(other: Int64, local: Int64) -> ClockPair {
    ClockPair(other: other, local: LocalTime(nanoseconds: local))
  }
}
