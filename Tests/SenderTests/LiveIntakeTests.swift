import Audio
import Clock
import Foundation
import Sender
import Testing

/// Tests with a source of 8000 Hz that gives a sine in bursts of 10 ms, and with blocks of 10 ms.
@Suite struct LiveIntakeTests {
  private let intake: LiveIntake
  private let allowance = Nanoseconds.milliseconds(50)

  init() { intake = Self.makeIntake() }

  private static func makeIntake(keepsBacklog: Bool = false) -> LiveIntake {
    LiveIntake(
      .init(
        format: AudioFormat(sampleRate: 8_000, channelCount: 1), blockFrames: 80,
        allowance: .milliseconds(50), keepsBacklog: keepsBacklog),
      clock: .pipe(PipeClock(sampleRate: 8_000)), at: time(0))
  }

  private static func sample(_ place: Double) -> Float { Float(0.5 * sin(place * 0.2)) }

  private static func time(_ milliseconds: Int) -> LocalTime {
    LocalTime(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  private func give(_ frames: Int, at milliseconds: Int) {
    let first = intake.receivedFrames
    intake.arrived(
      (0..<frames).map { Self.sample(Double(first) + Double($0)) }, at: Self.time(milliseconds))
  }

  private func take(at milliseconds: Int) -> [LiveBlock] {
    var blocks: [LiveBlock] = []
    while let block = intake.nextBlock(at: Self.time(milliseconds)) { blocks.append(block) }
    return blocks
  }

  /// Gives and takes, every 10 ms.
  private func run(_ milliseconds: Range<Int>) -> [LiveBlock] {
    stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 10).flatMap { now in
      give(80, at: now)
      return take(at: now)
    }
  }

  private func largestStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst()).map { abs($1 - $0) }.max() ?? 0
  }

  @Test func `blocks follow each other on the clock, and begin with silence`() {
    let blocks = run(0..<1000)
    #expect(blocks.count > 80)
    for (index, block) in blocks.enumerated() {
      #expect(block.frames.count == 80)
      #expect(block.due == Self.time(10 * index))
    }
    #expect(blocks.first?.hasHole == true)
    #expect(blocks.dropFirst(20).allSatisfy { !$0.hasHole })
    #expect(intake.figures.holes == 0)
  }

  @Test func `where nobody has asked for a while, it goes on with what is due now`() {
    _ = run(0..<500)
    for now in stride(from: 500, to: 5000, by: 10) { give(80, at: now) }
    intake.skip(to: Self.time(5000))
    let blocks = run(5000..<6000)
    #expect(blocks.first?.due == Self.time(5000))
    #expect(blocks.filter(\.hasHole).count < 5)
    #expect(abs(Double(intake.receivedFrames) - intake.position) < 160)
  }

  @Test func `what comes out is what the source gave, at the place that its clock says`() throws {
    let blocks = run(0..<2000)
    let last = try #require(blocks.last)
    let end = intake.position
    for (index, sample) in last.frames.enumerated() {
      let place = end - Double(80 - index)
      #expect(abs(sample - Self.sample(place)) < 1e-4)
    }
  }

  @Test func `a time without audio is silence between two fades`() {
    let before = run(0..<500)
    var blocks = before
    for now in stride(from: 500, to: 900, by: 10) { blocks += take(at: now) }
    // The audio that the program has made meanwhile arrives at once.
    give(40 * 80, at: 900)
    blocks += take(at: 900)
    blocks += run(910..<1200)
    let samples = blocks.flatMap(\.frames)
    #expect(intake.figures.holes == 1)
    #expect(blocks.filter(\.hasHole).count > 30)
    // The sine moves by 0.1 from frame to frame.
    #expect(largestStep(Array(samples.dropFirst(80))) < 0.15)
    #expect(samples.suffix(200).contains { abs($0) > 0.4 })
    // The position is the same as without the interruption.
    let made = Double(1200 - 10) * 8 + 80
    #expect(abs(intake.position - (made - 80)) < 90)
    #expect(intake.figures.silentFrames >= 40 * 80 - 1200)
  }

  @Test func `a program that paused is heard again, at the same latency`() {
    _ = run(0..<500)
    for now in stride(from: 500, to: 3500, by: 10) { _ = take(at: now) }
    // The program continues where it was: 3 s later than before.
    let blocks = run(3500..<5000)
    #expect(blocks.suffix(50).allSatisfy { !$0.hasHole })
    #expect(abs(Double(intake.receivedFrames) - intake.position) < 160)
    #expect(intake.figures.holes == 1)
  }

  @Test func `late audio within the allowance is no hole`() {
    _ = run(0..<500)
    for now in stride(from: 500, to: 540, by: 10) { #expect(take(at: now).count <= 1) }
    give(5 * 80, at: 540)
    let blocks = take(at: 540) + run(550..<700)
    #expect(blocks.allSatisfy { !$0.hasHole })
    #expect(intake.figures.holes == 0)
  }

  @Test func `a new writer is a new clock`() {
    _ = run(0..<500)
    intake.sourceChanged(to: .pipe(PipeClock(sampleRate: 8_000)))
    guard case .pipe(let clock) = intake.clock else {
      Issue.record("it is no pipe any more")
      return
    }
    #expect(!clock.isSettled)
    let blocks = run(2000..<2500)
    #expect(blocks.suffix(20).allSatisfy { !$0.hasHole })
  }

  @Test func `a second program that writes minutes at once is heard at once`() {
    _ = run(0..<500)
    intake.sourceChanged(to: .pipe(PipeClock(sampleRate: 8_000)))
    for now in 500..<600 { give(8_000, at: now) }
    _ = take(at: 600)
    intake.pace()
    var blocks: [LiveBlock] = []
    for now in stride(from: 610, to: 1600, by: 10) {
      give(intake.wantedFrames(at: Self.time(now), lead: .milliseconds(10)) ?? 0, at: now)
      blocks += take(at: now)
    }
    #expect(blocks.filter(\.hasHole).count < 20)
    #expect(blocks.last?.hasHole == false)
  }

  @Test func `while there is sound the delay grows by 2000 ppm and shrinks by 300`() {
    _ = run(0..<1000)
    let before = Double(intake.receivedFrames) - intake.position
    intake.delayGoal = .milliseconds(3)
    let blocks = run(1000..<1750)
    #expect((intake.delay - .microseconds(1500)).magnitude < .microseconds(40))
    _ = run(1750..<6000)
    #expect(intake.delay == .milliseconds(3))
    let after = Double(intake.receivedFrames) - intake.position
    #expect(abs(after - before - 24) < 2)
    intake.delayGoal = .zero
    _ = run(6000..<11_000)
    #expect((intake.delay - .microseconds(1500)).magnitude < .microseconds(40))
    #expect(largestStep(blocks.flatMap(\.frames)) < 0.15)
    #expect(intake.figures.jumps == 0)
  }

  @Test func `in silence the delay changes in one step`() {
    for now in stride(from: 0, to: 1000, by: 10) {
      intake.arrived([Float](repeating: 0, count: 80), at: Self.time(now))
      _ = take(at: now)
    }
    intake.delayGoal = .milliseconds(30)
    intake.arrived([Float](repeating: 0, count: 80), at: Self.time(1000))
    #expect(!take(at: 1000).isEmpty)
    #expect(intake.delay == .milliseconds(30))
  }

  @Test func `a delay whose frames have not come yet is no hole`() {
    intake.delayGoal = .milliseconds(40)
    func quiet(_ milliseconds: Range<Int>) {
      for now in stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 10) {
        intake.arrived([Float](repeating: 0, count: 80), at: Self.time(now))
        _ = take(at: now)
      }
    }
    quiet(0..<1000)
    intake.delayGoal = .milliseconds(-40)
    quiet(1000..<2000)
    #expect(intake.figures.holes == 0)
    #expect(intake.delay < .milliseconds(40))
  }

  @Test func `a source that is read as fast as is wished loses nothing, and gives what is wanted`()
  {
    let intake = Self.makeIntake(keepsBacklog: true)
    intake.arrived((0..<800).map { Self.sample(Double($0)) }, at: Self.time(0))
    intake.pace()
    var frames: [Float] = []
    for now in stride(from: 0, to: 1000, by: 10) {
      let wanted = intake.wantedFrames(at: Self.time(now), lead: .milliseconds(20)) ?? 0
      let first = intake.receivedFrames
      intake.arrived(
        (0..<wanted).map { Self.sample(Double(first) + Double($0)) }, at: Self.time(now))
      while let block = intake.nextBlock(at: Self.time(now)) { frames += block.frames }
    }
    #expect(intake.figures.holes == 0)
    #expect((900...1100).contains(frames.count / 8))
    for (index, sample) in frames.enumerated().dropFirst(80) {
      #expect(abs(sample - Self.sample(Double(index))) < 1e-4)
    }
  }

  @Test func `no more of a source is kept than its bound`() {
    intake.arrived([Float](repeating: 0, count: 8_000 * 60), at: Self.time(0))
    #expect(intake.keptFrames <= LiveIntake.keptSeconds * 8_000 * 9 / 8)
    #expect(intake.receivedFrames == 8_000 * 60)
    _ = run(10..<5000)
    #expect(intake.keptFrames <= LiveIntake.keptSeconds * 8_000 * 9 / 8)
  }
}
