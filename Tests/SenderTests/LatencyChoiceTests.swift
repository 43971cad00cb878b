import Clock
import Testing
import WireProtocol

@testable import Sender

struct LatencyChoiceTests {
  private static let (study, loft) = (RoomID(1), RoomID(2))

  /// Reports of two rooms, every half second.
  private struct Bed {
    var choice = LatencyChoice(
      startingAt: .milliseconds(100), at: LocalTime(nanoseconds: 0))
    var now = LocalTime(nanoseconds: 0)
    var decisions: [(seconds: Double, LatencyChoice.Decision)] = []

    /// Reports the latencies that the slowest packets of the two rooms need, in milliseconds; negative if a
    /// packet never comes.
    mutating func report(_ needs: [(RoomID, Double)]) {
      now = now + .milliseconds(500)
      for (room, need) in needs {
        let held = choice.latency
        let margin = need < 0 ? held : held - Nanoseconds(Int64(need * 1e6))
        let report = LiveReport(
          received: 100, concealed: need < 0 || margin < .zero ? 1 : 0, leastMargin: margin)
        if let decision = choice.reported(report, by: room, at: held, now: now) {
          decisions.append((Double(now.nanoseconds) / 1e9, decision))
        }
      }
    }

    mutating func run(seconds: Int, study: Double, loft: Double) {
      for _ in 0..<2 * seconds {
        report([(LatencyChoiceTests.study, study), (LatencyChoiceTests.loft, loft)])
      }
    }
  }

  @Test func `it comes down one level a minute, to what the slowest room needs`() {
    var bed = Bed()
    bed.run(seconds: 1200, study: 10, loft: 33)
    #expect(bed.choice.latency == .milliseconds(40))
    #expect(bed.decisions.map(\.1.latency.count) == [80, 65, 50, 40].map { $0 * 1_000_000 })
    #expect(bed.decisions.allSatisfy { $0.1.room == Self.loft })
    #expect(bed.decisions.first.map { $0.0 >= 120 } == true)
    for (one, next) in zip(bed.decisions, bed.decisions.dropFirst()) {
      #expect(next.0 - one.0 >= 60)
    }
  }

  @Test func `two holes within ten seconds raise it at once, to what was needed`() {
    var bed = Bed()
    bed.run(seconds: 10, study: 10, loft: 10)
    bed.report([(Self.loft, 140)])
    #expect(bed.decisions.isEmpty)
    bed.run(seconds: 5, study: 10, loft: 10)
    bed.report([(Self.loft, 118)])
    #expect(bed.decisions.map(\.1.latency) == [.milliseconds(150)])
    #expect(bed.decisions.first?.1.room == Self.loft)
  }

  @Test func `a hole at the level before does not count at the next`() {
    var bed = Bed()
    bed.report([(Self.loft, 110)])
    bed.report([(Self.loft, 110)])
    #expect(bed.choice.latency == .milliseconds(120))
    bed.report([(Self.loft, 130)])
    #expect(bed.choice.latency == .milliseconds(120))
    bed.report([(Self.loft, 130)])
    #expect(bed.choice.latency == .milliseconds(150))
  }

  @Test func `two holes that are far apart change nothing`() {
    var bed = Bed()
    bed.report([(Self.loft, 140)])
    bed.run(seconds: 11, study: 10, loft: 10)
    bed.report([(Self.loft, 140)])
    #expect(bed.decisions.isEmpty)
  }

  @Test func `it does not come back to a level that failed within ten minutes`() {
    var bed = Bed()
    bed.report([(Self.loft, 110)])
    bed.report([(Self.loft, 110)])
    #expect(bed.choice.latency == .milliseconds(120))
    bed.run(seconds: 590, study: 10, loft: 10)
    #expect(bed.choice.latency == .milliseconds(120))
    bed.run(seconds: 700, study: 10, loft: 10)
    #expect(bed.choice.latency < .milliseconds(100))
  }

  @Test func `packets that never come raise it by one level`() {
    var bed = Bed()
    bed.report([(Self.loft, -1)])
    bed.report([(Self.loft, -1)])
    #expect(bed.choice.latency == .milliseconds(120))
  }

  @Test func `a room that has left decides nothing any more`() {
    var bed = Bed()
    bed.run(seconds: 100, study: 10, loft: 90)
    bed.choice.removed(Self.loft)
    for _ in 0..<1200 { bed.report([(Self.study, 10)]) }
    #expect(bed.choice.latency < .milliseconds(50))
  }

  @Test func `a room's reports of a quarter of an hour are kept, and no more`() {
    var bed = Bed()
    bed.run(seconds: 20, study: 10, loft: 90)
    bed.run(seconds: LatencyChoice.reportLimit / 2, study: 10, loft: 10)
    #expect(bed.choice.latency < .milliseconds(100))
  }
}
