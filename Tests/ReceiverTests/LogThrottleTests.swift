import Clock
import Testing

@testable import Receiver

/// The lines of a log that a peer or a card could fill.
@Suite struct LogThrottleTests {
  private static func at(_ seconds: Int64) -> LocalTime {
    LocalTime(nanoseconds: 0) + .seconds(seconds)
  }

  @Test func `each kind has so many lines a minute, and the next one says how many were left out`()
  {
    var throttle = LogThrottle()
    let limit = LogThrottle.linesPerMinute
    for _ in 0..<limit { #expect(throttle.admit("late", at: Self.at(1)) == 0) }
    for _ in 0..<7 { #expect(throttle.admit("late", at: Self.at(60)) == nil) }
    #expect(throttle.admit("lost", at: Self.at(60)) == 0)
    #expect(throttle.admit("late", at: Self.at(61)) == 7)
    #expect(throttle.admit("late", at: Self.at(61)) == 0)
  }
}
