import Clock
import Foundation
import Sender
import Testing

@testable import Tutti

/// Random programs that nobody would write play in simulated time, and the sound is compared with their orders: a time
/// sounds when the synchronizer says so, to the frame, it is the audio enqueued for it, and nothing of it is missing.
@Suite struct RenderTimelinePropertyTests {
  /// One program for each seed. `TUTTI_SEEDS=1000..<6000` chooses others.
  private static var seeds: Range<UInt64> {
    let bounds = (ProcessInfo.processInfo.environment["TUTTI_SEEDS"] ?? "")
      .components(separatedBy: "..<").compactMap { UInt64($0) }
    return bounds.count == 2 ? bounds[0]..<bounds[1] : 0..<60
  }

  @Test(.timeLimit(.minutes(30)))
  func `what is heard is what was enqueued for the time that sounds`() async throws {
    await Self.play(Self.seeds)
  }

  static func play(_ seeds: Range<UInt64>) async {
    var failures = 0
    for seed in seeds where failures < 10 {
      let program = SimulatedProgram(seed: seed)
      await program.run()
      guard let fault = program.fault else { continue }
      failures += 1
      Issue.record("seed \(seed): \(fault)\n\(program.steps.joined(separator: "\n"))")
    }
  }
}

@Suite struct RenderTimelinePropertyLongTests {
  /// Number of programs in each test.
  private static let share: UInt64 = 500

  @Test(.timeLimit(.minutes(60)), arguments: 2..<22 as Range<UInt64>)
  func `ten thousand programs are heard as they were written`(part: UInt64) async {
    await RenderTimelinePropertyTests.play(part * Self.share..<(part + 1) * Self.share)
  }
}

/// A program of a few steps, each of which a player might do.
final class SimulatedProgram: @unchecked Sendable {
  /// The state from `from` on, until the next point.
  private struct Point {
    /// The time of the order. From then until `from`, the previous state may end at any instant.
    var asked: LocalTime
    var from: LocalTime
    var time: PlaybackTime
    var rate: Double
    /// True if time stood still before.
    var isStart = false
  }

  private let world: SimulatedWorld
  private let timeline: SharedTimeline<SimulatedRenderer>
  private var renderers: [SimulatedRenderer] = []
  private var logs: [SimulatedLog] = []
  private var points: [Point] = []
  private var tag = 0
  private(set) var steps: [String] = []
  private(set) var fault: String?

  init(seed: UInt64) {
    let world = SimulatedWorld(seed: seed)
    self.world = world
    timeline = SharedTimeline { world.hostTime }
    let count = world.draw { Int.random(in: 0..<3, using: &$0) == 0 ? 2 : 1 }
    for _ in 0..<count {
      renderers.append(SimulatedRenderer(in: world))
      logs.append(SimulatedLog())
    }
    points = [.init(asked: world.now, from: world.now, time: .zero, rate: 0)]
  }

  /// - Parameter seeks: instead of anything else that a program may do.
  func run(seeks: Int? = nil) async {
    do {
      for renderer in renderers { try await timeline.add(renderer) }
      try await begin()
      for _ in 0..<(seeks ?? 0) {
        try await seekAtOnce()
        world.advance(by: Nanoseconds(seconds: seconds(in: 0.02...0.6)))
      }
      if seeks != nil { return judge() }
      for _ in 0..<number(in: 2...7) {
        try await step()
        world.advance(by: Nanoseconds(seconds: seconds(in: 0.02...1.2)))
      }
    } catch {
      fault = "\(error) at \(told(world.now))"
    }
    if fault == nil { judge() }
  }

  deinit { world.end() }

  // MARK: - Steps

  private func number(in range: ClosedRange<Int>) -> Int {
    world.draw { Int.random(in: range, using: &$0) }
  }

  private func seconds(in range: ClosedRange<Double>) -> Double {
    world.draw { Double.random(in: range, using: &$0) }
  }

  private func told(_ time: LocalTime) -> String {
    String(format: "%.3f", Double(time.nanoseconds) / 1e9)
  }

  private func note(_ step: String) { steps.append("\(told(world.now)) \(step)") }

  private func rest(_ longest: Double) {
    if number(in: 0...1) == 0 { world.advance(by: Nanoseconds(seconds: seconds(in: 0...longest))) }
  }

  private var place: PlaybackTime {
    // Times as programs have them: of frames of some rate, or arbitrary ones.
    let time = PlaybackTime.seconds(seconds(in: 0...90))
    let rate = SimulatedFeed.rates[number(in: 0...3)]
    return number(in: 0...3) == 0 ? time : PlaybackTime(frame: time.frame(at: rate), at: rate)
  }

  private func begin() async throws {
    let start = number(in: 0...1) == 0 ? PlaybackTime.zero : place
    feedAll(from: start)
    rest(0.5)
    try await setRate(1, time: start)
  }

  private func step() async throws {
    switch number(in: 0...11) {
    case 0...2: try await seek(whileStanding: true)
    case 3: try await standAndSeek()
    case 4...5: try await seek(whileStanding: false)
    case 6: try await changeRate()
    case 7: try await pauseAndGoOn()
    case 8: flushFrom()
    case 9: flushAndJoin()
    case 10: try await jumpAhead()
    default: try await leaveAndJoin()
    }
  }

  /// Seeks as the documentation says, or without stopping.
  private func seek(whileStanding: Bool) async throws {
    let rate = timeline.rate == 0 ? 1 : timeline.rate
    if whileStanding { try await setRate(0) }
    rest(0.3)
    let target = place
    flushAll()
    rest(0.3)
    feedAll(from: target)
    rest(0.3)
    try await setRate(rate, time: target)
  }

  /// In one step, while time runs or stands, and to any rate.
  private func seekAtOnce() async throws {
    let (target, asked) = (place, world.now)
    for renderer in renderers { world.cancelFeeds(of: renderer) }
    let ends = try await timeline.seek(to: target).local
    note("seek(to: \(target.seconds)) -> \(told(ends))")
    for log in logs { log.flushed(from: nil, at: world.now) }
    while points.count > 1, let last = points.last, last.from > ends { points.removeLast() }
    points.append(.init(asked: asked, from: ends, time: target, rate: 0))
    rest(0.3)
    feedAll(from: target)
    rest(0.3)
    try await setRate([0.5, 1, 1, 1.25, 2][number(in: 0...4)])
  }

  private func standAndSeek() async throws {
    try await setRate(0)
    flushAll()
    let target = place
    try await setRate(0, time: target)
    feedAll(from: target)
    rest(0.3)
    try await setRate(number(in: 0...1) == 0 ? 1 : 2)
  }

  private func changeRate() async throws {
    let rate = [0.5, 1, 1.25, 2][number(in: 0...3)]
    if timeline.rate != rate { try await setRate(rate) }
  }

  private func pauseAndGoOn() async throws {
    let rate = timeline.rate == 0 ? 1 : timeline.rate
    try await setRate(0)
    rest(0.5)
    let wish =
      number(in: 0...1) == 0 ? nil : world.hostTime + .seconds(seconds(in: 0...0.8))
    try await setRate(rate, wish: wish)
  }

  /// Replaces the end of the enqueued audio.
  private func flushFrom() {
    let time = timeline.currentTime + .seconds(seconds(in: -0.1...4))
    for (renderer, log) in zip(renderers, logs) {
      world.cancelFeeds(of: renderer)
      let from = renderer.flush(from: time)
      log.flushed(from: min(time, from), at: world.now)
      note("flush(from: \(time.seconds)) -> \(from.seconds)")
      feed(renderer, log, from: from)
    }
  }

  /// Flushes while time runs, and enqueues new audio ahead of it.
  private func flushAndJoin() {
    flushAll()
    feedAll(from: timeline.currentTime + .seconds(seconds(in: 0.2...2)))
  }

  private func jumpAhead() async throws {
    guard timeline.rate != 0 else { return }
    try await setRate(
      timeline.rate, time: timeline.currentTime + .seconds(seconds(in: 0.3...4)))
  }

  private func leaveAndJoin() async throws {
    guard renderers.count > 1 else { return }
    let left = world.now
    note("remove")
    _ = try await timeline.remove(renderers[1], at: nil)
    rest(1)
    try await timeline.add(renderers[1])
    note("added")
    logs[1].absences.append(left..<world.now + .milliseconds(800))
  }

  // MARK: - What the library is asked for

  private func setRate(
    _ rate: Double, time: PlaybackTime? = nil, wish: HostTime? = nil
  ) async throws {
    let asked = world.now
    let before = points[points.count - 1]
    let instant = try await timeline.setRate(rate, time: time, notBefore: wish).local
    note("setRate(\(rate), \(time?.seconds.description ?? "-")) -> \(told(instant))")
    // Later points are dropped. If one of them was a start, time stands at its place.
    var stands: PlaybackTime?
    while points.count > 1, let last = points.last, last.from > instant {
      if last.isStart { stands = stands ?? last.time }
      points.removeLast()
    }
    let there = stands ?? self.time(of: points[points.count - 1], at: instant)
    points.append(
      .init(
        asked: asked, from: instant, time: time ?? there, rate: rate,
        isStart: time != nil || before.rate == 0))
  }

  private func time(of point: Point, at time: LocalTime) -> PlaybackTime {
    point.time + (HostTime(time) - HostTime(point.from)) * point.rate
  }

  private func flushAll() {
    for (renderer, log) in zip(renderers, logs) {
      world.cancelFeeds(of: renderer)
      let from = renderer.flush()
      log.flushed(from: nil, at: world.now)
      note("flush -> \(from.seconds)")
    }
  }

  private func feedAll(from start: PlaybackTime) {
    for (renderer, log) in zip(renderers, logs) { feed(renderer, log, from: start) }
  }

  private func feed(_ renderer: SimulatedRenderer, _ log: SimulatedLog, from start: PlaybackTime) {
    tag += 1
    let form = SimulatedFeed.Form.allCases[number(in: 0...1)]
    let rate = SimulatedFeed.rates[number(in: 0...3)]
    let pace = Nanoseconds(seconds: number(in: 0...2) == 0 ? 0.004 : 0.000_2)
    note(
      "feed \(form) \(rate) from \(start.seconds) each \(pace.count / 1000) µs, tag \(tag % 7 + 1)")
    world.start(
      SimulatedFeed(
        renderer, from: start, form: form, rate: rate, pace: pace, tag: tag, log: log))
  }

  // MARK: - What was to be heard

  /// The delay until an order takes effect: the horizon of the room, calls, and half a dozen orders.
  private static let heldUp = Nanoseconds.milliseconds(70)
  private static let slack = Nanoseconds.milliseconds(200)
  /// Seconds: the rounding of ticks.
  private static let rounding = 2 / SimulatedFrame.ticks

  private func judge() {
    for sample in world.samples where fault == nil {
      judge(sample.frame, at: sample.at, in: logs[sample.renderer])
    }
    for renderer in renderers where fault == nil { fault = renderer.ear.faults.first }
  }

  private func judge(_ frame: SimulatedFrame?, at time: LocalTime, in log: SimulatedLog) {
    let index = points.lastIndex { $0.from <= time } ?? 0
    let point = points[index]
    let next = index + 1 < points.count ? points[index + 1] : nil
    // A stop or a jump that was ordered.
    let mayEnd = next.map { $0.asked <= time } ?? false
    let there = self.time(of: point, at: time)
    let width = Duration.milliseconds(3) * max(1, point.rate)
    if let frame {
      judge(frame, at: time, of: point, there, width, log)
    } else if point.rate != 0, !mayEnd, !log.absences.contains(where: { $0.contains(time) }) {
      let missing = log.buffers.last {
        $0.start + width < there && there < $0.end - width && $0.enqueued + Self.slack < time
          && $0.removed.map { $0 > time } ?? true
      }
      if let missing { fault = "\(told(time)): \(there.seconds) is silent, \(missing)" }
    }
  }

  private func judge(
    _ frame: SimulatedFrame, at time: LocalTime, of point: Point, _ there: PlaybackTime,
    _ width: Duration, _ log: SimulatedLog
  ) {
    let value = frame.value
    // At another rate everything is converted to one sample rate. That rounds values, and blurs the joint of two
    // formats.
    let error: Float = point.rate == 1 ? 0 : 1
    let isBlurred =
      point.rate != 1
      && log.buffers.contains {
        $0.isFirst && abs(($0.start - there) / .milliseconds(1)) < 25 * max(1, point.rate)
      }
    if isBlurred { return }
    let isHere = { (buffer: SimulatedBuffer) in
      abs(buffer.value - value) <= error && buffer.start - width <= there
        && there < buffer.end + width
        && buffer.enqueued <= time
        && buffer.removed.map { time < $0 + Self.slack } ?? true
    }
    guard point.rate != 0 else {
      // A call that is delayed stops its renderer later by as much.
      if time < point.from + Self.heldUp { return }
      fault = "\(told(time)): \(value) sounds though time stands still"
      return
    }
    guard let heard = log.buffers.last(where: isHere) else {
      let tag = Int(value) / 16_384
      let place = Double(Int(value) % 16_384) / 50
      fault = "\(told(time)): \(place) of feed \(tag) sounds, not \(there.seconds)"
      return
    }
    let off = there.seconds - frame.time
    // Rooms play frames at whole frames of media time, and what is enqueued begins at a whole frame of its own. Where audio was
    // cut in between, these differ by less than a frame, either way; and a frame sounds until the next.
    let (length, blur) = (1 / Double(heard.sampleRate), width / .seconds(1))
    let earliest: Double = point.rate == 1 ? -length : -blur
    let latest: Double = point.rate == 1 ? 2 * length : blur
    if off < earliest - Self.rounding || off > latest + Self.rounding {
      fault = "\(told(time)): \(frame.time) sounds, \(off * 1e6) µs from \(there.seconds)"
    }
    if heard.wasCalledLate {
      fault = "\(told(time)): \(heard.start.seconds) sounds, and was said to be late"
    }
  }
}
