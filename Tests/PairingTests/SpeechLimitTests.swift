import Clock
import Pairing
import Testing

/// Tests of how often a PIN is said.
@Suite struct SpeechLimitTests {
  private static func at(_ seconds: Int64) -> LocalTime {
    LocalTime(nanoseconds: 0) + .seconds(seconds)
  }

  @Test func `three times in any hour, and never while it still speaks`() {
    var limit = SpeechLimit()
    #expect(limit.wait(at: Self.at(0)) == .zero)
    limit.count(at: Self.at(0))
    #expect(limit.wait(at: Self.at(10)) == .seconds(15))
    limit.count(at: Self.at(25))
    limit.count(at: Self.at(100))
    #expect(limit.wait(at: Self.at(200)) == .seconds(3400))
    #expect(limit.wait(at: Self.at(3600)) == .zero)
    limit.count(at: Self.at(3600))
    // The second of the first three was at 25 s.
    #expect(limit.wait(at: Self.at(3624)) == .seconds(1))
    #expect(limit.wait(at: Self.at(3625)) == .zero)
  }
}
