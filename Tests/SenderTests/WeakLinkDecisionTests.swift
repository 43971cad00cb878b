import Clock
import Testing

@testable import Sender

/// A room's link, judged once a second, as its reports come.
@Suite struct WeakLinkDecisionTests {
  private static let start = LocalTime(nanoseconds: 1_000_000_000)

  private static func after(_ seconds: Int64) -> LocalTime { start + .seconds(seconds) }

  private static func weak() -> WeakLink {
    var link = WeakLink()
    link.judge(isTooSlow: true, lead: .seconds(3), at: start)
    return link
  }

  @Test func `a slow link is weak only once the room has little left`() {
    var link = WeakLink()
    link.judge(isTooSlow: true, lead: .seconds(9), at: Self.start)
    #expect(!link.isWeak && !link.needsSmall)
    link.judge(isTooSlow: false, lead: .seconds(1), at: Self.start)
    #expect(!link.isWeak && !link.needsSmall)
    link.judge(isTooSlow: true, lead: .seconds(7), at: Self.start)
    #expect(link.isWeak && link.needsSmall)
  }

  @Test func `a link that fails its probe is weak, and tried again as others are`() {
    var link = WeakLink()
    link.failed(at: Self.start)
    #expect(link.isWeak)
    link.judge(isTooSlow: false, lead: .seconds(30), at: Self.after(59))
    #expect(link.isWeak)
    link.judge(isTooSlow: false, lead: .seconds(30), at: Self.after(60))
    #expect(!link.isWeak && link.needsSmall)
    // A trial is judged by reports alone.
    link.failed(at: Self.after(61))
    #expect(!link.isWeak)
  }

  @Test func `it is tried again after a minute, while the room has much ahead`() {
    var link = Self.weak()
    link.judge(isTooSlow: false, lead: .seconds(30), at: Self.after(59))
    #expect(link.isWeak)
    link.judge(isTooSlow: false, lead: .seconds(14), at: Self.after(60))
    #expect(link.isWeak)
    link.judge(isTooSlow: false, lead: .seconds(15), at: Self.after(61))
    #expect(!link.isWeak && link.needsSmall)
  }

  @Test func `each trial that fails makes the next one wait twice as long`() {
    var link = Self.weak()
    var now = Self.start
    var pause: Int64 = 60
    for _ in 0..<8 {
      link.judge(isTooSlow: false, lead: .seconds(40), at: now + .seconds(pause - 1))
      #expect(link.isWeak)
      now = now + .seconds(pause)
      link.judge(isTooSlow: false, lead: .seconds(40), at: now)
      #expect(!link.isWeak)
      link.judge(isTooSlow: true, lead: .seconds(20), at: now)
      #expect(link.isWeak)
      pause = min(2 * pause, 1800)
    }
  }

  @Test func `nothing is made for a room that is away for ten minutes`() {
    var link = Self.weak()
    link.isAway(at: Self.after(10))
    link.isAway(at: Self.after(609))
    #expect(link.isWeak && link.needsSmall)
    // It is there for a moment.
    link.judge(isTooSlow: false, lead: .seconds(3), at: Self.after(609))
    link.isAway(at: Self.after(620))
    link.isAway(at: Self.after(1219))
    #expect(link.needsSmall)
    link.isAway(at: Self.after(1220))
    #expect(!link.isWeak && !link.needsSmall)
  }

  @Test func `a trial that lasts ends the second encoding, and makes the link as good as new`() {
    var link = Self.weak()
    link.judge(isTooSlow: false, lead: .seconds(40), at: Self.after(60))
    link.judge(isTooSlow: false, lead: .seconds(40), at: Self.after(659))
    #expect(link.needsSmall)
    link.judge(isTooSlow: false, lead: .seconds(40), at: Self.after(660))
    #expect(!link.needsSmall)
    link.judge(isTooSlow: true, lead: .seconds(3), at: Self.after(700))
    link.judge(isTooSlow: false, lead: .seconds(40), at: Self.after(760))
    #expect(!link.isWeak)
  }
}
