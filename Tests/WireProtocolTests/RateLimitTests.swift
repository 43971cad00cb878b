import Clock
import Testing
import WireProtocol

@Suite struct RateLimitTests {
  @Test func `hosts beyond the limit are forgotten, the longest silent first`() {
    var limits = HostLimits<Int>(perSecond: 1, burst: 1, hosts: 2)
    let now = LocalTime(nanoseconds: 0)
    let admitted = [1, 2, 1, 3, 1, 2].map { limits.admits($0, at: now) }
    #expect(admitted == [true, true, false, true, false, true])
  }

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
