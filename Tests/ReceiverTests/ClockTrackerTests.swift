import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct ClockTrackerTests {
  private static func tracker() -> ClockTracker {
    ClockTracker(
      clockID: 7, port: 9, storedDrift: nil, seed: 1, at: LocalTime(nanoseconds: 0))
  }

  /// Runs until `end`, with a clock ten seconds ahead and a path of 100 µs each way.
  private static func run(
    _ tracker: inout ClockTracker, from start: Int64 = 0, to end: Int64, clockID: UInt64 = 7,
    isIdle: Bool = false
  ) -> (requests: Int, changes: [ClockTracker.Change]) {
    var (requests, changes) = (0, [ClockTracker.Change]())
    var now = LocalTime(nanoseconds: start * 1_000_000)
    let last = LocalTime(nanoseconds: end * 1_000_000)
    while now <= last {
      if let change = tracker.advance(to: now) { changes.append(change) }
      if let request = tracker.request(session: 3, at: now, isIdle: isIdle) {
        requests += 1
        let arrival = GroupTime(nanoseconds: now.nanoseconds + 10_000_100_000)
        let answer = TimeAnswer(
          clockID: clockID, sequence: request.sequence, requestSentAt: request.sentAt,
          receivedAt: arrival, sentAt: arrival, previous: nil)
        if let change = tracker.answered(answer, receivedAt: now + .microseconds(200)) {
          changes.append(change)
        }
      }
      now = max(now + Nanoseconds(1), tracker.nextDeadline(asks: true) ?? last)
    }
    return (requests, changes)
  }

  /// Simulates somebody who delays answers: the offset would move by half of the delay.
  @Test func `round trips many times the usual are dropped once the clock is locked`() throws {
    var tracker = Self.tracker()
    _ = Self.run(&tracker, to: 500)
    let locked = tracker.estimate(at: LocalTime(nanoseconds: 500_000_000))
    let before = try #require(locked)
    var now = LocalTime(nanoseconds: 501_000_000)
    for _ in 0..<100 {
      now = now + .milliseconds(10)
      guard let request = tracker.request(session: 3, at: now, isIdle: false) else { continue }
      let arrival = GroupTime(nanoseconds: now.nanoseconds + 10_000_100_000)
      let answer = TimeAnswer(
        clockID: 7, sequence: request.sequence, requestSentAt: request.sentAt,
        receivedAt: arrival, sentAt: arrival, previous: nil)
      _ = tracker.answered(answer, receivedAt: now + .milliseconds(400))
    }
    #expect(tracker.roundTrip < .milliseconds(1))
    let delayed = tracker.estimate(at: now)
    let after = try #require(delayed)
    let moved = after.groupTime(of: now) - before.groupTime(of: now)
    #expect(abs(moved.count) < 10_000)
  }

  @Test func `the clock locks within half a second, and once`() {
    var tracker = Self.tracker()
    let changes = Self.run(&tracker, to: 500).changes
    #expect(tracker.isLocked)
    #expect(changes.count == 1)
    let estimate = tracker.estimate(at: LocalTime(nanoseconds: 500_000_000))
    let group = estimate?.groupTime(of: LocalTime(nanoseconds: 0))
    #expect(group.map { abs($0.nanoseconds - 10_000_000_000) < 200_000 } == true)
  }

  @Test func `answers of another clock are not heard`() {
    var tracker = Self.tracker()
    _ = Self.run(&tracker, to: 2000, clockID: 8)
    #expect(!tracker.isLocked)
  }

  @Test func `requests are dense at first and rest when nothing plays`() {
    var tracker = Self.tracker()
    #expect(Self.run(&tracker, to: 1000).requests >= 32)
    _ = Self.run(&tracker, from: 1001, to: 40_000)
    let idle = Self.run(&tracker, from: 40_001, to: 50_000, isIdle: true).requests
    #expect((5...15).contains(idle))
    let awake = Self.run(&tracker, from: 50_001, to: 51_000).requests
    #expect(awake >= 3)
  }

  @Test func `a clock that is not heard of is lost, once`() {
    var tracker = Self.tracker()
    _ = Self.run(&tracker, to: 5000)
    let later = LocalTime(nanoseconds: 1_000_000_000_000)
    // The newest sample still waits for its stamp, and is taken first.
    _ = tracker.advance(to: later)
    let losses = (0..<3).filter { _ in
      if case .lost? = tracker.advance(to: later) { true } else { false }
    }
    #expect(losses.count == 1)
  }

  @Test func `after a sleep of the machine the clock is learnt anew`() {
    var tracker = Self.tracker()
    _ = Self.run(&tracker, to: 5000)
    tracker.suspended(at: LocalTime(nanoseconds: 5_000_000_000))
    #expect(!tracker.isLocked)
    _ = Self.run(&tracker, from: 5001, to: 5600)
    #expect(tracker.isLocked)
  }
}
