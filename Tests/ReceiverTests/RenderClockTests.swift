import Clock
import Foundation
import Receiver
import Simulation
import TestSupport
import Testing

struct RenderClockTests {
  @Test func `the filter agrees with the reference on its vectors`() throws {
    var clock = RenderClock(sampleRate: 48_000, device: .coarse, storedDrift: nil)
    for (index, row) in try vectorRows("dac_usb-1ms", in: .module).enumerated() {
      let frame = row[0].rounded(.down)
      _ = clock.observe(
        DeviceFrame(Int64(frame)), fraction: row[0] - frame,
        at: LocalTime(nanoseconds: Int64(row[1])))
      let time = clock.localTime(of: DeviceFrame(Int64(row[2])))
      #expect(abs(time.nanoseconds - Int64(row[4])) <= 10, "row \(index)")
      let stretch = -clock.drift / (1 + clock.drift)
      #expect(abs(stretch * 1e9 - row[5]) <= 3, "row \(index)")
    }
  }

  @Test(arguments: [
    (RenderClock.DeviceClass.fine, 3.0), (.edge, 3), (.coarse, 45),
  ])
  func `after half a minute 99 of 100 predictions are close`(
    device: RenderClock.DeviceClass, microseconds: Double
  ) {
    for seed in 0..<4 as Range<UInt64> {
      var card = CardModel(device, drift: 70e-6, seed: seed)
      var clock = RenderClock(sampleRate: 48_000, device: device, storedDrift: nil)
      var errors: [Double] = []
      while card.now < 150 {
        card.report(to: &clock)
        if card.now > 30 { errors.append(card.predictionError(of: clock) * 1e6) }
      }
      // A constant part is the device's latency, which calibration removes.
      errors.sort()
      let median = errors[errors.count / 2]
      let deviations = errors.map { abs($0 - median) }.sorted()
      #expect(deviations[errors.count * 99 / 100] < microseconds)
      #expect(abs(clock.drift - 70e-6) < 1e-6)
    }
  }

  @Test(arguments: [RenderClock.DeviceClass.fine, .edge])
  func `after half a second the prediction can be used`(device: RenderClock.DeviceClass) {
    for seed in 0..<20 as Range<UInt64> {
      let drift = 100e-6 * (Double(seed) / 9.5 - 1)
      var card = CardModel(device, drift: drift, seed: seed)
      var clock = RenderClock(sampleRate: 48_000, device: device, storedDrift: nil)
      while card.now < 0.5 { card.report(to: &clock) }
      #expect(abs(card.predictionError(of: clock)) < 100e-6)
    }
  }

  @Test func `the clock settles after three observations and 30 ms`() {
    var clock = RenderClock(sampleRate: 48_000, device: .edge, storedDrift: nil)
    #expect(!clock.isSettled)
    for index in 0..<4 as Range<Int64> {
      #expect(!clock.isSettled)
      #expect(
        clock.observe(DeviceFrame(index * 480), at: LocalTime(nanoseconds: index * 10_000_000))
          == true)
    }
    #expect(clock.isSettled)
    clock.rephase()
    #expect(!clock.isSettled)
  }

  @Test func `frames and times are inverse to each other`() {
    var card = CardModel(.edge, drift: -40e-6, seed: 1)
    var clock = RenderClock(sampleRate: 44_100, device: .edge, storedDrift: nil)
    while card.now < 2 { card.report(to: &clock) }
    for frame in stride(from: Int64(0), to: 400_000, by: 7777) {
      let time = clock.localTime(of: DeviceFrame(frame))
      #expect(abs(clock.frame(at: time) - Double(frame)) < 1e-3)
    }
  }

  @Test func `an observation without a new position is not used`() {
    var clock = RenderClock(sampleRate: 48_000, device: .edge, storedDrift: nil)
    #expect(clock.observe(DeviceFrame(480), at: LocalTime(nanoseconds: 10_000_000)) == true)
    let before = clock.localTime(of: DeviceFrame(0))
    for late in [300, 5_000_000] as [Int64] {
      let time = LocalTime(nanoseconds: 10_000_000 + late)
      #expect(clock.observe(DeviceFrame(480), at: time) == false)
    }
    #expect(clock.localTime(of: DeviceFrame(0)) == before)
    #expect(clock.observedSeconds == 0)
  }

  @Test func `an outlier is ignored and twenty are believed`() {
    var clock = RenderClock(sampleRate: 48_000, device: .edge, storedDrift: 0)
    for index in 0..<200 as Range<Int64> {
      _ = clock.observe(DeviceFrame(index * 480), at: LocalTime(nanoseconds: index * 10_000_000))
    }
    for index in 200..<219 as Range<Int64> {
      let late = LocalTime(nanoseconds: index * 10_000_000 + 5_000_000)
      #expect(clock.observe(DeviceFrame(index * 480), at: late) == false)
    }
    let time = clock.localTime(of: DeviceFrame(480 * 219))
    #expect((time - LocalTime(nanoseconds: 2_190_000_000)).magnitude < .microseconds(1))
    let late = LocalTime(nanoseconds: 2_195_000_000)
    #expect(clock.observe(DeviceFrame(480 * 219), at: late) == true)
    #expect(clock.localTime(of: DeviceFrame(480 * 219)) == late)
    #expect(!clock.isSettled)
  }

  @Test func `a card that is less exact than its kind is believed less, and not lost`() {
    var clock = RenderClock(sampleRate: 48_000, device: .exact, storedDrift: nil)
    var errors: [Nanoseconds] = []
    for index in 0..<3000 as Range<Int64> {
      // Steps of 256 frames, read at arbitrary times.
      let time = LocalTime(nanoseconds: index * 9_770_000)
      let frame = index * 9_770_000 * 48 / 1_000_000
      _ = clock.observe(DeviceFrame(frame / 256 * 256), at: time)
      guard index > 1500 else { continue }
      #expect(clock.isSettled)
      errors.append((clock.localTime(of: DeviceFrame(frame)) - time).magnitude)
    }
    #expect(errors.max() ?? .zero < .milliseconds(6))
    #expect(clock.drift.magnitude < 1e-3)
  }

  @Test(arguments: [RenderClock.DeviceClass.fine, .edge])
  func `steps of a clock, one soon after the other, are no scatter`(device: RenderClock.DeviceClass)
  {
    var card = CardModel(device, drift: 40e-6, seed: 6)
    var clock = RenderClock(sampleRate: 48_000, device: device, storedDrift: nil)
    while card.now < 9 { card.report(to: &clock) }
    for (end, step) in [(10.7, 21), (18.0, 9), (30.0, 31)] as [(Double, Int64)] {
      card.stepped += Double(step) / 1_000
      while card.now < end { card.report(to: &clock) }
    }
    #expect(clock.isSettled && abs(clock.drift - 40e-6) < 2e-6)
    // A fine card counts in steps of two frames.
    #expect(abs(card.predictionError(of: clock)) < 45e-6)
  }

  @Test func `a position that starts again is believed after twenty reports`() {
    var clock = RenderClock(sampleRate: 48_000, device: .edge, storedDrift: 0)
    for index in 0..<50 as Range<Int64> {
      _ = clock.observe(
        DeviceFrame(1_000_000 + index * 480), at: LocalTime(nanoseconds: index * 10_000_000))
    }
    var accepted = 0
    for index in 50..<80 as Range<Int64> {
      let time = LocalTime(nanoseconds: index * 10_000_000)
      if clock.observe(DeviceFrame((index - 50) * 480), at: time) { accepted += 1 }
    }
    #expect(accepted == 11)
    #expect(clock.isSettled)
  }

  @Test func `after a rephase the drift is kept and the phase is new`() {
    var card = CardModel(.edge, drift: 80e-6, seed: 2)
    var clock = RenderClock(sampleRate: 48_000, device: .edge, storedDrift: nil)
    while card.now < 20 { card.report(to: &clock) }
    clock.rephase()
    #expect(abs(clock.drift - 80e-6) < 1e-6)
    let time = LocalTime(nanoseconds: 50_000_000_000)
    #expect(clock.observe(DeviceFrame(3), at: time) == true)
    #expect(clock.localTime(of: DeviceFrame(3)) == time)
  }

  @Test func `a stored drift counts from the first observation`() {
    var clock = RenderClock(sampleRate: 48_000, device: .edge, storedDrift: 50e-6)
    _ = clock.observe(DeviceFrame(0), at: LocalTime(nanoseconds: 0))
    let time = clock.localTime(of: DeviceFrame(48_000))
    #expect((time - LocalTime(nanoseconds: 999_950_002)).magnitude <= Nanoseconds(2))
    for ignored in [Double.nan, .infinity, 0.5] {
      #expect(RenderClock(sampleRate: 48_000, device: .edge, storedDrift: ignored).drift == 0)
    }
  }

  @Test func `an uncertain observation moves the clock less`() {
    func moved(by uncertainty: Nanoseconds) -> Nanoseconds {
      var clock = RenderClock(sampleRate: 48_000, device: .fine, storedDrift: 0)
      for index in 0..<100 as Range<Int64> {
        _ = clock.observe(
          DeviceFrame(index * 480), at: LocalTime(nanoseconds: index * 10_000_000),
          uncertainty: .microseconds(10))
      }
      let expected = clock.localTime(of: DeviceFrame(48_000))
      _ = clock.observe(
        DeviceFrame(48_000), at: expected + .microseconds(20), uncertainty: uncertainty)
      return clock.localTime(of: DeviceFrame(48_000)) - expected
    }
    #expect(moved(by: .zero) > moved(by: .microseconds(100)))
    #expect(moved(by: .microseconds(100)) > .zero)
  }

  @Test func `no report traps`() {
    var clock = RenderClock(sampleRate: 48_000, device: .fine, storedDrift: nil)
    let edges: [Int64] = [0, 480, 1 << 40, -(1 << 40), .max, .min]
    for _ in 0..<3 {
      for frame in edges {
        for time in edges {
          for _ in 0..<25 {
            _ = clock.observe(DeviceFrame(frame), at: LocalTime(nanoseconds: time))
          }
          for frame in edges { _ = clock.localTime(of: DeviceFrame(frame)) }
          for time in edges { _ = clock.frame(at: LocalTime(nanoseconds: time)) }
        }
      }
    }
  }
}

/// A sound card with a crystal of its own, and the way in which it reports its position.
private struct CardModel {
  private(set) var now = 0.02
  /// How far the local clock was set forward, in seconds.
  var stepped = 0.0
  private let device: RenderClock.DeviceClass
  private let drift: Double
  private var random: SplitMix64

  init(_ device: RenderClock.DeviceClass, drift: Double, seed: UInt64) {
    self.device = device
    self.drift = drift
    random = SplitMix64(seed: seed)
  }

  private func frames(at time: Double) -> Double { time * 48_000 * (1 + drift) }
  private func time(of frames: Double) -> Double { frames / 48_000 / (1 + drift) }

  /// Returns how much too late `clock` expects the frame that is consumed 80 ms from now.
  func predictionError(of clock: RenderClock) -> Double {
    let frame = (frames(at: now) + 3840).rounded(.down)
    let expected = clock.localTime(of: DeviceFrame(Int64(frame)))
    return Double(expected.nanoseconds) * 1e-9 - time(of: frame) - stepped
  }

  /// Reports a position like the output loop, and sleeps for about 10 ms.
  mutating func report(to clock: inout RenderClock) {
    var frame: Double
    var stamp: Double
    switch device {
    case .exact:
      frame = frames(at: now).rounded(.up)
      stamp = time(of: frame) + random.uniform(-1e-6...1e-6)
    case .fine:
      frame = (frames(at: now) / 2).rounded(.down) * 2
      stamp = now + random.gamma(shape: 2, scale: 1e-6)
    case .edge:
      frame = (frames(at: now) / 480).rounded(.down) * 480
      stamp = time(of: frame) + random.gamma(shape: 2, scale: 4e-6)
      if random.unit() < 0.01 { stamp += random.exponential(mean: 80e-6) }
    case .coarse:
      frame = (frames(at: now) / 48).rounded(.down) * 48
      stamp = now + random.gamma(shape: 2, scale: 2e-6)
    }
    let whole = frame.rounded(.down)
    _ = clock.observe(
      DeviceFrame(Int64(whole)), fraction: frame - whole,
      at: LocalTime(nanoseconds: Int64(((stamp + stepped) * 1e9).rounded())))
    now += 0.01 * (1 + random.normal(deviation: 0.02))
  }
}
