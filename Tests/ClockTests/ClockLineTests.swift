import Simulation
import Testing

@testable import Clock

/// The accuracy of the estimate on networks whose delays are independent from packet to packet.
struct ClockLineTests {
  @Test(arguments: [
    (PathQuality.even, ClockRoom.Wander.none, 2.5, 6.0), (.even, .slowSine, 3.7, 11),
    (.even, .walk, 3.7, 11), (.even, .quickSine, 3.7, 11), (.radio, .none, 15, 45),
    (.farRadio, .none, 60, 150),
  ])
  func `after twenty seconds the estimate is exact`(
    path: PathQuality, wander: ClockRoom.Wander, usual: Double, worst: Double
  ) {
    var errors: [Double] = []
    for seed in 0..<12 as Range<UInt64> {
      for look in ClockRoom(path, wander: wander, seconds: 60, seed: seed).looks
      where look.time > 20 {
        errors.append(abs(look.error))
      }
    }
    errors.sort()
    let square = errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)
    #expect(square.squareRoot() < usual)
    #expect(errors[errors.count * 99 / 100] < worst)
  }

  @Test(arguments: [(PathQuality.even, 0.2, 50.0), (.radio, 1.25, 200)])
  func `soon after the first probe the estimate is good enough to play by`(
    path: PathQuality, seconds: Double, microseconds: Double
  ) {
    for seed in 0..<40 as Range<UInt64> {
      let looks = ClockRoom(path, seconds: 4, seed: seed).looks.filter(\.isLocked)
      #expect((looks.first?.time ?? .infinity) <= seconds + 1e-6)
      for look in looks { #expect(abs(look.error) < microseconds) }
    }
  }

  @Test func `a constant asymmetry shifts by half of it and disturbs nothing else`() {
    for seed in 0..<6 as Range<UInt64> {
      for look in ClockRoom(.asymmetric, seconds: 40, seed: seed).looks where look.time > 20 {
        #expect(abs(look.error + 2000) < 15)
      }
    }
  }

  @Test(
    arguments: [PathQuality.even, .radio, .farRadio, .asymmetric, .busyMachines].map {
      ($0, ClockRoom.Wander.none)
    } + [(.even, .slowSine), (.even, .walk), (.even, .quickSine), (.radio, .walk)])
  func `the error stays within its bound in more than 99 of 100 cases`(
    path: PathQuality, wander: ClockRoom.Wander
  ) {
    var beyond = 0
    var count = 0
    for seed in 0..<12 as Range<UInt64> {
      for look in ClockRoom(path, wander: wander, seconds: 40, seed: seed).looks where look.isLocked
      {
        let error = look.error + (path.down.delay - path.up.delay).microseconds / 2
        count += 1
        if abs(error) > look.estimate.errorBound.seconds * 1e6 { beyond += 1 }
      }
    }
    #expect(count > 5000)
    #expect(beyond * 100 < count)
  }

  /// Answers take longer than requests on average. That shifts the mean of all midpoints, but hardly the fastest ones.
  /// Rooms that switched from one to the other would differ by that shift.
  @Test func `where machines are slow to pass packets on, rooms err alike`() {
    let rooms = (0..<8 as Range<UInt64>).map {
      ClockRoom(.busyMachines, seconds: 60, seed: $0).looks.filter { $0.time > 20 }
    }
    let spreads = rooms[0].indices.map { index in
      let errors = rooms.map { $0[index].error }
      return (errors.max() ?? 0) - (errors.min() ?? 0)
    }
    #expect(spreads.sorted()[spreads.count * 99 / 100] < 4)
  }

  @Test func `without samples the slope returns to its lasting value`() {
    let start = LocalTime(nanoseconds: 5_000_000_000)
    let line = ClockLine(
      origin: start, base: .zero, intercept: 0, slope: 5e-6, lastingSlope: 1e-6)
    #expect(line.slope(at: start) == 5e-6)
    #expect(abs(line.slope(at: start + .seconds(2000)) - 1e-6) < 1e-9)
    // The limit allows 4 ppm more for the time constant.
    let drifted = line.relativeOffset(at: start + .seconds(100_000))
    #expect(abs(drifted - 0.1 - 4e-6 * Tuning.evidenceTime) < 1e-7)
    #expect(abs(line.relativeOffset(at: start - .seconds(1)) + 5e-6) < 1e-12)
  }
}
