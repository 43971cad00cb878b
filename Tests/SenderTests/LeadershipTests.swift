import Clock
import Testing
import WireProtocol

@testable import Sender

@Suite struct LeadershipTests {
  /// A daemon, and what it wants done.
  private struct Bed {
    var daemon: Leadership
    var now = LocalTime(nanoseconds: 0)
    var outputs: [Leadership.Output] = []

    init(term: Term, leads: Bool, isFirst: Bool) {
      daemon = Leadership(.init(term: term, leads: leads, isFirst: isFirst), at: now)
    }

    mutating func handle(_ input: Leadership.Input) {
      daemon.handle(input, at: now)
      while let output = daemon.nextOutput() { outputs.append(output) }
    }

    mutating func hear(_ term: Term, leads: Bool, reachesRooms: Bool = true) {
      handle(.heard(.init(term: term, leads: leads, reachesRooms: reachesRooms)))
    }

    /// Sleeps for this long. Each round is answered by all rooms with `replies`.
    mutating func advance(by span: Nanoseconds, replies: [TermReply] = []) {
      let end = now + span
      while daemon.nextDeadline <= end {
        now = max(now, daemon.nextDeadline)
        handle(.timeout)
        for case .ask(let round, let request) in take() {
          for var reply in replies {
            if request.isClaim, !reply.isHeard { reply.term = max(reply.term, request.term) }
            handle(.answered(round: round, reply))
          }
        }
      }
      now = end
    }

    /// Removes and returns the questions; the rest stays.
    private mutating func take() -> [Leadership.Output] {
      defer { outputs.removeAll(where: \.isQuestion) }
      return outputs.filter(\.isQuestion)
    }

    var led: [Term] {
      outputs.compactMap { if case .lead(let term) = $0 { term } else { nil } }
    }

    var notices: [Leadership.Notice] {
      outputs.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }
  }

  private static let deaf = TermReply(term: 1, isHeard: false)
  private static let led = TermReply(term: 1, isHeard: true)

  @Test func `the leader leads again after a start that nobody contradicts`() {
    var bed = Bed(term: 1, leads: true, isFirst: true)
    bed.advance(by: .milliseconds(1400), replies: [Self.deaf])
    #expect(bed.led.isEmpty)
    bed.advance(by: .milliseconds(200), replies: [Self.deaf])
    #expect(bed.led == [1])
  }

  @Test func `the leader leads at once where the other one says that it follows`() {
    var bed = Bed(term: 1, leads: true, isFirst: true)
    bed.hear(1, leads: false)
    #expect(bed.led == [1])
  }

  @Test func `a leader that was replaced meanwhile comes back as the follower`() {
    for byRoom in [true, false] {
      var bed = Bed(term: 1, leads: true, isFirst: true)
      if byRoom {
        bed.advance(by: .seconds(3), replies: [TermReply(term: 2, isHeard: true)])
      } else {
        bed.hear(2, leads: true)
      }
      bed.hear(2, leads: true)
      #expect(bed.led.isEmpty && bed.daemon.memory.term == 2 && !bed.daemon.memory.leads)
      #expect(bed.notices.last == .follows)
    }
  }

  @Test func `the follower leads where no room hears the leader`() {
    var bed = Bed(term: 1, leads: false, isFirst: false)
    bed.hear(1, leads: true)
    bed.advance(by: .milliseconds(900), replies: [Self.deaf])
    #expect(bed.led.isEmpty)
    bed.advance(by: .milliseconds(1500), replies: [Self.deaf])
    #expect(bed.led == [2])
    #expect(bed.outputs.contains(.keep(.init(term: 2, leads: true, isFirst: false))))
  }

  @Test func `one room that hears the leader holds the follower back`() {
    var bed = Bed(term: 1, leads: false, isFirst: false)
    bed.hear(1, leads: true)
    bed.advance(by: .seconds(20), replies: [Self.deaf, Self.led])
    #expect(bed.led.isEmpty && bed.notices.last == .roomsHearLeader)
    bed.advance(by: .seconds(3), replies: [Self.deaf, Self.deaf])
    #expect(bed.led == [2])
  }

  @Test func `a leader that hears no room yields to the follower, if that is heard`() {
    var bed = Bed(term: 1, leads: false, isFirst: false)
    bed.hear(1, leads: true)
    for _ in 0..<12 {
      bed.hear(1, leads: true, reachesRooms: false)
      bed.advance(by: .milliseconds(250), replies: [Self.deaf])
    }
    #expect(bed.led == [2])
    var leader = Bed(term: 1, leads: true, isFirst: true)
    leader.hear(1, leads: false)
    leader.handle(.reachesRooms(false))
    leader.advance(by: .milliseconds(300))
    #expect(leader.outputs.contains(.tell(.init(term: 1, leads: true, reachesRooms: false))))
  }

  @Test func `without rooms nobody takes over`() {
    var bed = Bed(term: 1, leads: false, isFirst: false)
    bed.hear(1, leads: true)
    bed.advance(by: .seconds(20))
    #expect(bed.led.isEmpty && bed.notices.last == .noRoomAnswers)
  }

  @Test func `a leader steps down for a room or a daemon with a higher term`() {
    for byRoom in [true, false] {
      var bed = Bed(term: 1, leads: true, isFirst: true)
      bed.hear(1, leads: false)
      if byRoom { bed.handle(.outdated(by: 2)) } else { bed.hear(2, leads: true) }
      #expect(!bed.daemon.isLeading && bed.outputs.contains(.follow))
      // The other one is gone as well.
      bed.advance(by: .seconds(5), replies: [TermReply(term: 2, isHeard: false)])
      #expect(bed.led == [1, 3])
    }
  }

  @Test func `a leader that hears no follower asks the rooms for a higher term`() {
    var bed = Bed(term: 1, leads: true, isFirst: true)
    bed.hear(1, leads: false)
    bed.advance(by: .seconds(8), replies: [TermReply(term: 2, isHeard: false)])
    #expect(bed.outputs.contains(.follow))
  }

  @Test func `a term that no household reaches is not believed`() {
    var bed = Bed(term: 1, leads: true, isFirst: true)
    bed.hear(1, leads: false)
    bed.handle(.outdated(by: .max))
    #expect(bed.daemon.isLeading)
  }

  @Test func `no more answers are counted than the limit`() {
    var bed = Bed(term: 1, leads: false, isFirst: false)
    bed.hear(1, leads: true)
    let many = Array(repeating: Self.deaf, count: Leadership.replyLimit) + [Self.led]
    bed.advance(by: .seconds(3), replies: many)
    #expect(bed.led == [2])
  }

  @Test func `terms of the two are never the same`() {
    for term: Term in 0...9 {
      let first = Leadership.Memory(term: term, leads: false, isFirst: true).nextTerm
      let second = Leadership.Memory(term: term, leads: false, isFirst: false).nextTerm
      #expect(first.map { $0 % 2 == 1 && $0 > term } == true)
      #expect(second.map { $0 % 2 == 0 && $0 > term } == true)
    }
  }

  @Test func `the leader answers each word at once, and speaks by itself`() {
    var bed = Bed(term: 1, leads: true, isFirst: true)
    bed.hear(1, leads: false)
    func words(_ bed: Bed) -> Int {
      bed.outputs.count { if case .tell = $0 { true } else { false } }
    }
    let before = words(bed)
    bed.hear(1, leads: false)
    #expect(words(bed) == before + 1)
    bed.advance(by: .seconds(1))
    #expect(words(bed) >= before + 4)
  }

  @Test func `the leader's clock is known by the answers to words`() throws {
    var clock = LeaderClock()
    #expect(clock.lead(at: LocalTime(nanoseconds: 0)) == nil)
    for number: Int64 in 0..<40 {
      let sent = LocalTime(nanoseconds: number * 250_000_000)
      let there = sent + .seconds(100) + Nanoseconds(300_000)
      clock.heard(
        sentAt: sent, leaderHeardAt: there, leaderSentAt: there + Nanoseconds(50_000),
        at: sent + Nanoseconds(650_000))
    }
    let lead = try #require(clock.lead(at: LocalTime(nanoseconds: 12_000_000_000)))
    #expect(abs((lead - .seconds(100)).count) < 100_000)
  }
}

extension Leadership.Output {
  fileprivate var isQuestion: Bool { if case .ask = self { true } else { false } }
}
