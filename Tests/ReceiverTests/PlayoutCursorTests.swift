import Clock
import Receiver
import TestSupport
import Testing

@Suite struct PlayoutCursorTests {
  /// Local time runs at the true rate; the card's and the group's clocks do not.
  private struct Bench: ~Copyable {
    let cardDrift: Double
    let groupDrift: Double
    let rate = 48_000.0
    var cursor: PlayoutCursor

    init(cardDrift: Double, groupDrift: Double, storedDrift: Double? = nil) {
      self.cardDrift = cardDrift
      self.groupDrift = groupDrift
      cursor = PlayoutCursor(sampleRate: 48_000, device: .fine, storedDrift: storedDrift)
      _ = cursor.adopt(
        ClockEstimate(
          local: LocalTime(nanoseconds: 0), group: GroupTime(nanoseconds: 7_000_000_000),
          drift: groupDrift, errorBound: .zero), isStep: false)
    }

    func seconds(atDevice frame: Double) -> Double { frame / rate / (1 + cardDrift) }

    /// Returns the stream frame that the schedule wants when `frame` is heard, for an anchor of media
    /// time 0 at group time 8 s.
    func scheduled(atDevice frame: Double) -> Double {
      (seconds(atDevice: frame) * (1 + groupDrift) - 1) * rate
    }

    mutating func observe(_ frame: Int64) {
      let nanoseconds = seconds(atDevice: Double(frame)) * 1e9
      cursor.observe(
        DeviceFrame(frame), at: LocalTime(nanoseconds: Int64(nanoseconds.rounded())),
        uncertainty: .zero)
    }
  }

  @Test(arguments: [(60e-6, -35e-6), (-45e-6, 20e-6)])
  func `playback stays on schedule although no two clocks agree`(
    cardDrift: Double, groupDrift: Double
  ) {
    var bench = Bench(cardDrift: cardDrift, groupDrift: groupDrift)
    _ = bench.cursor.schedule(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 8_000_000_000), rate: .playing))
    var worst = 0.0
    var previousEnd: StreamPosition?
    while bench.cursor.next < 48_000 * 60 {
      bench.observe(max(0, bench.cursor.next - 3840))
      let run = bench.cursor.nextRun(atMost: 480)
      guard let sound = run.sound else { continue }
      if let previousEnd { #expect(sound.position == previousEnd) }
      previousEnd = sound.position.advanced(by: Double(run.count) * sound.step)
      let position = Double(sound.position.frame) + sound.position.fraction
      let error = position - bench.scheduled(atDevice: Double(run.first))
      if run.first > 48_000 * 20 { worst = max(worst, abs(error)) }
    }
    // A twentieth of a frame is one microsecond.
    #expect(worst < 0.05)
    #expect(bench.cursor.replacementCount == 0)
  }

  @Test func `a small error fades slowly, and a larger one soon`() {
    /// Returns the part of the error that is left after 8 s.
    func rest(of microseconds: Double) -> Double {
      var bench = Bench(cardDrift: 0, groupDrift: 0)
      var estimate = ClockEstimate(
        local: LocalTime(nanoseconds: 0), group: GroupTime(nanoseconds: 7_000_000_000), drift: 0,
        errorBound: .zero)
      _ = bench.cursor.adopt(estimate, isStep: false)
      _ = bench.cursor.schedule(
        Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 8_000_000_000), rate: .playing))
      var last = 0.0
      while bench.cursor.next < 48_000 * 128 {
        bench.observe(max(0, bench.cursor.next - 3840))
        if bench.cursor.next == 48_000 * 120 {
          estimate.group = estimate.group + Nanoseconds(Int64(microseconds * 1000))
          _ = bench.cursor.adopt(estimate, isStep: false)
        }
        let run = bench.cursor.nextRun(atMost: 480)
        guard let sound = run.sound else { continue }
        let position = Double(sound.position.frame) + sound.position.fraction
        last = (bench.scheduled(atDevice: Double(run.first)) - position) / 48e-3 + microseconds
      }
      return last / microseconds
    }
    #expect((0.2...0.9).contains(rest(of: 3)))
    #expect(abs(rest(of: 18)) < 0.2)
  }

  /// Returns the steps of runs of 10 ms from 20 s on. Each 100 ms `change` sets another estimate, by
  /// its number.
  private func steps(
    seconds: Int64, _ change: (Int64, inout ClockEstimate) -> Void
  ) -> [(step: Double, error: Double)] {
    var bench = Bench(cardDrift: 0, groupDrift: 0)
    let truth = ClockEstimate(
      local: LocalTime(nanoseconds: 0), group: GroupTime(nanoseconds: 7_000_000_000), drift: 0,
      errorBound: .zero)
    _ = bench.cursor.schedule(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 8_000_000_000), rate: .playing))
    var steps: [(step: Double, error: Double)] = []
    while bench.cursor.next < 48_000 * seconds {
      bench.observe(max(0, bench.cursor.next - 3840))
      if bench.cursor.next % 4800 == 0 {
        var estimate = truth
        change(bench.cursor.next / 4800, &estimate)
        _ = bench.cursor.adopt(estimate, isStep: false)
      }
      let run = bench.cursor.nextRun(atMost: 480)
      guard let sound = run.sound, run.first >= 48_000 * 20 else { continue }
      let position = Double(sound.position.frame) + sound.position.fraction
      steps.append((sound.step, (position - bench.scheduled(atDevice: Double(run.first))) / 48_000))
    }
    return steps
  }

  @Test func `the rate is constant for about a second at a time, whatever the clock's noise`() {
    var random = SplitMix64(seed: 5)
    let steps = steps(seconds: 60) { _, estimate in
      // Errors of up to 1 µs.
      estimate.group = estimate.group + Nanoseconds(Int64(random.next() % 2001) - 1000)
    }
    let changes = zip(steps, steps.dropFirst()).count { $0.0.step != $0.1.step }
    // Forty seconds have a hundred runs each. The rate changes rarely, but it does change.
    #expect((30...80).contains(changes))
  }

  @Test func `what is written ahead is rendered again where that makes a difference`() {
    var bench = Bench(cardDrift: 0, groupDrift: 0)
    var estimate = ClockEstimate(
      local: LocalTime(nanoseconds: 0), group: GroupTime(nanoseconds: 7_000_000_000), drift: 0,
      errorBound: .zero)
    _ = bench.cursor.adopt(estimate, isStep: false)
    _ = bench.cursor.schedule(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 8_000_000_000), rate: .playing))
    var again = 0
    var told = Int64(48_000 * 120)
    while bench.cursor.next < 48_000 * 122 {
      let heard = bench.cursor.next - 3840
      if heard > bench.cursor.oldestFrame { bench.observe(heard) }
      // An error of 45 µs from here on, which is reported every 100 ms.
      if bench.cursor.next == told {
        told += 4800
        estimate.group = GroupTime(nanoseconds: 7_000_045_000)
        let first = bench.cursor.adopt(estimate, isStep: false)
        if first < bench.cursor.next {
          again += 1
          bench.cursor.rewind(to: first)
        }
      }
      _ = bench.cursor.nextRun(atMost: Int(480 - bench.cursor.next % 480))
    }
    #expect(told >= 48_000 * 122)
    #expect(bench.cursor.replacementCount == 0)
    // The rate was set two or three times.
    #expect((1...6).contains(again))
  }

  @Test(arguments: [5, -5])
  func `an estimate that is wrong by milliseconds for a tenth of a second is taken back`(
    milliseconds: Int64
  ) {
    let steps = steps(seconds: 30) { number, estimate in
      // Just below the largest error that is steered away.
      if number == 220 { estimate.group = estimate.group + .microseconds(milliseconds * 999) }
    }
    let worst = steps.map(\.error.magnitude).max() ?? .infinity
    // Steering at 1000 ppm for 100 ms.
    #expect(worst > 20e-6)
    #expect(worst < 105e-6)
    #expect((steps.last?.error.magnitude ?? .infinity) < 5e-6)
  }

  /// Lets the cursor follow an anchor until it has rendered `seconds`.
  private func follow(until seconds: Int64, in bench: inout Bench) {
    _ = bench.cursor.schedule(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 8_000_000_000), rate: .playing))
    while bench.cursor.next < 48_000 * seconds {
      bench.observe(max(0, bench.cursor.next - 3840))
      _ = bench.cursor.nextRun(atMost: 480)
    }
  }

  @Test func `a pause that is known long before changes nothing until its fade`() throws {
    var bench = Bench(cardDrift: 0, groupDrift: 0)
    follow(until: 10, in: &bench)
    _ = bench.cursor.schedule(
      Anchor(
        mediaTime: .zero + .seconds(59), groupTime: GroupTime(nanoseconds: 67_000_000_000),
        rate: .paused))
    var ends: [(first: Int64, left: Int64)] = []
    while bench.cursor.next < 48_000 * 61 {
      bench.observe(max(0, bench.cursor.next - 3840))
      let run = bench.cursor.nextRun(atMost: 480)
      if let left = run.sound?.framesToEnd { ends.append((run.first, left)) }
    }
    let fade = try #require(ends.first { $0.left < .max })
    #expect(fade.left == bench.cursor.fadeFrames)
    #expect(abs(fade.first + fade.left - 48_000 * 60) <= 1)
  }

  @Test func `a schedule that comes late and is milliseconds off is jumped to`() throws {
    var bench = Bench(cardDrift: 0, groupDrift: 0)
    follow(until: 10, in: &bench)
    // Two milliseconds further on than the one that it follows.
    _ = bench.cursor.schedule(
      Anchor(
        mediaTime: .zero + .milliseconds(8_002), groupTime: GroupTime(nanoseconds: 16_000_000_000),
        rate: .playing))
    var error: Double?
    while bench.cursor.next < 48_000 * 10 + 9_600 {
      bench.observe(max(0, bench.cursor.next - 3840))
      let run = bench.cursor.nextRun(atMost: 480)
      guard let sound = run.sound else { continue }
      let position = Double(sound.position.frame) + sound.position.fraction
      error = position - bench.scheduled(atDevice: Double(run.first)) - 96
    }
    #expect(abs(try #require(error)) < 1)
  }

  @Test(arguments: [1.0, -0.5])
  func `a broken estimate of the clock asks for no more than a hundredth more or less`(
    drift: Double
  ) {
    var bench = Bench(cardDrift: 0, groupDrift: 0)
    follow(until: 10, in: &bench)
    _ = bench.cursor.adopt(
      ClockEstimate(
        local: LocalTime(nanoseconds: 10_000_000_000),
        group: GroupTime(nanoseconds: 17_000_000_000), drift: drift, errorBound: .zero),
      isStep: false)
    var steps: [Double] = []
    while bench.cursor.next < 48_000 * 12 {
      bench.observe(max(0, bench.cursor.next - 3840))
      if let sound = bench.cursor.nextRun(atMost: 480).sound { steps.append(sound.step) }
    }
    #expect(!steps.isEmpty)
    // And a thousandth to steer by.
    #expect(steps.allSatisfy { abs($0 - 1) < 0.0111 })
  }

  @Test func `clocks that differ by more than a hundredth begin at a hundredth`() throws {
    // The largest drifts that are believed.
    var bench = Bench(cardDrift: -499e-6, groupDrift: 0.0099, storedDrift: -499e-6)
    _ = bench.cursor.schedule(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 8_000_000_000), rate: .playing))
    var step: Double?
    while step == nil, bench.cursor.next < 48_000 * 4 {
      bench.observe(max(0, bench.cursor.next - 3840))
      step = bench.cursor.nextRun(atMost: 480).sound?.step
    }
    // Together they ask for 1.0104. A start between two frames is steered, too.
    #expect(abs(try #require(step) - 1.01) < 2e-4, "\(String(describing: step))")
  }

  @Test func `a rewind restores the position exactly`() {
    var bench = Bench(cardDrift: 30e-6, groupDrift: 0)
    _ = bench.cursor.schedule(
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 7_000_000_000), rate: .playing))
    while bench.cursor.next < 48_000 {
      bench.observe(max(0, bench.cursor.next - 3840))
      _ = bench.cursor.nextRun(atMost: 480)
    }
    let before = bench.cursor.soundingPosition
    bench.cursor.rewind(to: bench.cursor.next - 2000)
    while bench.cursor.next < 48_000 {
      _ = bench.cursor.nextRun(atMost: Int(48_000 - bench.cursor.next))
    }
    let after = bench.cursor.soundingPosition
    #expect(before != nil)
    if let before, let after { #expect(abs(after - before) < 0.01) }
  }

  @Test func `an anchor beyond all times is ignored`() {
    var bench = Bench(cardDrift: 0, groupDrift: 0)
    for extreme in [Int64.max, .min] {
      _ = bench.cursor.schedule(
        Anchor(
          mediaTime: MediaTime(flicks: extreme), groupTime: GroupTime(nanoseconds: extreme),
          rate: .playing))
    }
    #expect(bench.cursor.anchors.count == 0)
  }
}
