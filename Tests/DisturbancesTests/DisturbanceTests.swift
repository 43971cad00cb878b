import Clock
import Disturbances
import TestSupport
import Testing

@Suite struct DisturbanceTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `each kind is read as it was written`(seed: UInt64) {
    for disturbance in DrawnDisturbances.all(seed) {
      #expect(Disturbance(disturbance.description) == disturbance, "\(disturbance)")
    }
  }

  @Test func `lines are sentences`() {
    let lines = [
      "12.3 s: room 2 has no network for 4.2 s", "5 s: somebody seeks to 20 s",
      "5 s: somebody seeks by -10.25 s in group 2", "0.007 s: somebody pauses",
      "28 s: the clock of room 1 steps by 0.02 s",
      "3 s: the receiver of room 1 is killed, and starts again after 0.25 s",
      "9 s: the sender is killed, and starts again after 3600 s", "1 s: room 3 joins in group 1",
      "7 s: the link of room 0 carries 12000 bytes a second for 3 s",
      "20 s: daemon 1 cannot reach rooms [0,2] nor the other for 3 s",
      "20 s: daemon 0 cannot reach rooms [] for 3 s",
    ]
    #expect(lines.map { Disturbance($0)?.description } == lines)
  }

  @Test func `numbers have milliseconds at most`() {
    let drawn = Disturbance(at: 12.345678, kind: .partition(1, seconds: 0.0004999))
    #expect(drawn.description == "12.346 s: room 1 has no network for 0 s")
    #expect(drawn.asWritten == Disturbance(at: 12.346, kind: .partition(1, seconds: 0)))
    let slow = Disturbance(at: 1, kind: .slowLink(1, rate: 10_000.9, seconds: 1))
    #expect(slow.asWritten.kind == .slowLink(1, rate: 10_000, seconds: 1))
    let endless = Disturbance(at: 1, kind: .restartSender(seconds: .infinity))
    #expect(endless.asWritten.kind == .restartSender(seconds: Disturbance.longest))
  }

  @Test(arguments: [
    "", "5 s:", "somebody pauses", "5 s somebody pauses", "-5 s: somebody pauses",
    "5 s: somebody paused", "5 s: room 1 sleeps for s", "5 s: room x sleeps for 3 s",
    "5 s: room -1 sleeps for 3 s", "5 s: room 1 sleeps for -3 s", "5 s: room 1 sleeps for 3.0001 s",
    "5 s: room 1 sleeps for 1e9 s", "5 s: room 1 sleeps for 36000001 s",
    "5 s: room 1 sleeps for 3 s in group 1", "5 s: somebody pauses in group",
    "5. s: somebody pauses",
    "5 s: room 9999999999 joins", "5 s: daemon 1 cannot reach rooms 0,2 for 3 s",
    "5 s: daemon 1 cannot reach rooms [0,,2] for 3 s", "nan s: somebody pauses",
    ".5 s: somebody pauses",
    "5 s: somebody seeks to \u{0661} s",
  ])
  func `other texts are no lines`(text: String) {
    #expect(Disturbance(text) == nil)
  }
}
