import Clock
import Testing
import WireProtocol

@Suite struct RateLimitTests {
  private var limit = RateLimit(perSecond: 10, burst: 3)
  private var now = LocalTime(nanoseconds: 5)

  private mutating func admitted(of count: Int) -> Int {
    (0..<count).count { _ in limit.admits(at: now) }
  }

  @Test mutating func `a burst is admitted, and then as many as the rate allows`() {
    #expect(admitted(of: 10) == 3)
    now = now + .milliseconds(99)
    #expect(admitted(of: 10) == 0)
    now = now + .milliseconds(1)
    #expect(admitted(of: 10) == 1)
    now = now + .milliseconds(200)
    #expect(admitted(of: 10) == 2)
  }

  @Test mutating func `what was not used is not saved beyond a burst`() {
    _ = admitted(of: 1)
    now = now + .seconds(3600)
    #expect(limit.isUnused(at: now))
    #expect(admitted(of: 10) == 3)
    #expect(!limit.isUnused(at: now))
  }
}
