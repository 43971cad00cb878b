import Clock
import Foundation
import Sender
import TestSupport

@testable import Tutti

/// Time, chance, and the order of events. Everything in it runs on one thread, or waits for it.
final class SimulatedWorld: @unchecked Sendable {
  enum Delay: Double {
    /// Time until the producer begins with an order.
    case ordering = 1
    /// Time that an order takes.
    case producing = 3
    /// Time from one thread to another.
    case calling = 2
  }

  private(set) var now = LocalTime(nanoseconds: 1_000_000_000)
  var renderers: [SimulatedRenderer] = []
  private(set) var feeds: [SimulatedFeed] = []
  private(set) var samples: [(at: LocalTime, renderer: Int, frame: SimulatedFrame?)] = []
  private var random: SplitMix64
  private let slowness: Double
  private var nextSample = LocalTime(nanoseconds: 1_000_000_000)
  private static let sampling = Nanoseconds.milliseconds(7)

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    slowness = Double.random(in: 0.1...1, using: &random)
  }

  var hostTime: HostTime { HostTime(now) }

  func draw<T>(_ body: (inout SplitMix64) -> T) -> T { body(&random) }

  func delay(_ delay: Delay) -> Nanoseconds {
    let isHeldUp = draw { Int.random(in: 0..<40, using: &$0) } == 0
    let longest = isHeldUp ? 30 : delay.rawValue
    return Nanoseconds(
      seconds: draw { Double.random(in: 0...longest, using: &$0) } * slowness / 1e3)
  }

  func start(_ feed: SimulatedFeed) { feeds.append(feed) }
  func end() { (renderers, feeds) = ([], []) }

  func cancelFeeds(of renderer: SimulatedRenderer) {
    feeds.removeAll { $0.renderer === renderer }
  }

  func advance(by span: Nanoseconds) {
    let end = now + span
    var repeats = 0
    while let next = nextEvent, next <= end {
      repeats = next > now ? 0 : repeats + 1
      precondition(repeats < 2_000, "time stands still")
      now = max(now, next)
      step()
    }
    now = end
  }

  private var nextEvent: LocalTime? {
    (renderers.map(\.deadline) + feeds.map(\.due) + [nextSample]).compactMap { $0 }.min()
  }

  private func step() {
    if nextSample <= now {
      for (index, renderer) in renderers.enumerated() {
        samples.append((now, index, renderer.listen(at: now)))
      }
      nextSample = now + Self.sampling
    }
    for feed in feeds { feed.turn(at: now) }
    for renderer in renderers { renderer.turn() }
  }
}

/// A buffer, as the program knows it.
struct SimulatedBuffer {
  var value: Float
  var sampleRate: Int
  var start: PlaybackTime
  var end: PlaybackTime
  var enqueued: LocalTime
  /// The time at which it was flushed.
  var removed: LocalTime?
  var wasCalledLate = false
  /// True for the first buffer of a feed.
  var isFirst = false
}

/// A task of the program that enqueues one buffer after the other, as fast as it is asked to, or a little
/// slower.
final class SimulatedFeed {
  enum Form: CaseIterable { case samples, packets }

  let renderer: SimulatedRenderer
  private(set) var due: LocalTime?
  private let log: SimulatedLog
  private let form: Form
  private let rate: Int
  /// Time from one buffer to the next.
  private let pace: Nanoseconds
  private let tag: Int
  private var next: PlaybackTime
  private var hasBegun = false

  init(
    _ renderer: SimulatedRenderer, from start: PlaybackTime, form: Form, rate: Int,
    pace: Nanoseconds, tag: Int, log: SimulatedLog
  ) {
    (self.renderer, self.form, self.rate, self.pace) = (renderer, form, rate, pace)
    (self.tag, self.log) = (tag, log)
    next = PlaybackTime(frame: start.frameFrom(at: rate), at: rate)
    due = renderer.now
  }

  func turn(at now: LocalTime) {
    guard let due, due <= now else { return }
    self.due = now + (renderer.queue.room > 0 ? pace : .milliseconds(5))
    guard renderer.queue.room > 0 else { return }
    do { try enqueue(at: now) } catch { self.due = nil }
  }

  private func enqueue(at now: LocalTime) throws {
    let value = Float(1 + tag % 7) * 16_384 + Float(next.flicks / PlaybackTime.seconds(0.02).flicks)
    let lateBefore = renderer.lateCount
    let end: PlaybackTime
    switch form {
    case .samples:
      let first = Double(next.frame(at: rate))
      let samples = [Float](unsafeUninitializedCapacity: rate / 50 * 2) { samples, count in
        for frame in 0..<rate / 50 {
          samples[2 * frame] = value
          samples[2 * frame + 1] = SimulatedFrame.tick((first + Double(frame)) / Double(rate))
        }
        count = rate / 50 * 2
      }
      let buffer = try AudioBuffer(samples, format: PCMFormat(sampleRate: rate), at: next)
      end = buffer.endTime
      renderer.enqueued(try renderer.queue.enqueue(buffer), until: end)
    case .packets:
      let parts = [value, SimulatedFrame.tick(next.seconds), Float(rate)]
      let bytes = parts.withUnsafeBytes { Array($0) }
      let buffer = try CompressedBuffer(bytes, format: Self.format(rate), at: next)
      end = buffer.endTime
      renderer.enqueued(try renderer.queue.enqueue(buffer), until: end)
    }
    log.buffers.append(
      .init(
        value: value, sampleRate: rate, start: next, end: end, enqueued: now,
        wasCalledLate: renderer.lateCount > lateBefore, isFirst: !hasBegun))
    (next, hasBegun) = (end, true)
  }

  static let rates = [22_050, 44_100, 48_000, 96_000]

  /// AudioSpecificConfig of AAC-LC in stereo.
  private static func format(_ rate: Int) throws -> CompressedFormat {
    let index = [96_000: 0, 48_000: 3, 44_100: 4, 22_050: 7][rate] ?? 4
    let bits = 2 << 11 | index << 7 | 2 << 3
    return try CompressedFormat(
      .aac, sampleRate: rate, channelCount: 2,
      configuration: [UInt8(bits >> 8), UInt8(bits & 255)])
  }
}

/// A program's knowledge of one renderer.
final class SimulatedLog {
  var buffers: [SimulatedBuffer] = []
  /// Times at which the renderer does not follow the timeline, or is about to leave or join.
  var absences: [Range<LocalTime>] = []

  func flushed(from time: PlaybackTime?, at now: LocalTime) {
    for index in buffers.indices where buffers[index].removed == nil {
      guard let time, buffers[index].start < time else {
        buffers[index].removed = now
        continue
      }
      guard buffers[index].end > time else { continue }
      var rest = buffers[index]
      (rest.start, rest.removed) = (time, now)
      buffers[index].end = time
      buffers.append(rest)
    }
  }
}

extension Nanoseconds {
  init(seconds: Double) { self.init(Int64((seconds * 1e9).rounded())) }
}
