import Clock
import Glibc
import LinuxIO
import Testing

@testable import Driver

/// The event loop of the player's program and the library's threads.
@Suite struct EventLoopTests {
  private final class Member: LoopMember {
    var nextDeadline: LocalTime?
    let takesEvents: Bool
    private(set) var events = 0
    private(set) var turns = 0

    init(takesEvents: Bool, nextDeadline: LocalTime? = nil) {
      (self.takesEvents, self.nextDeadline) = (takesEvents, nextDeadline)
    }

    func handle(_ event: ReactorEvent) -> Bool {
      events += 1
      return takesEvents
    }

    func turn() { turns += 1 }
  }

  @Test func `an event goes to members until one takes it, and each member has its turn`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let reactor = try Reactor()
    _ = try reactor.watch(descriptor: ends[0])
    #expect(write(ends[1], "x", 1) == 1)
    let members = [false, true, true].map { Member(takesEvents: $0) }
    try EventLoop(reactor, members).turn(until: HostClock.now + .seconds(30))
    #expect(members.map(\.events) == [1, 1, 0])
    #expect(members.map(\.turns) == [1, 1, 1])
  }

  @Test(.timeLimit(.minutes(3)))
  func `the loop wakes at the earliest deadline of its members, until it is over`() throws {
    let late = Member(takesEvents: false, nextDeadline: HostClock.now + .seconds(3_600))
    let soon = Member(takesEvents: false, nextDeadline: HostClock.now)
    try EventLoop(try Reactor(), [late, soon]).run { soon.turns == 3 }
    #expect(late.turns == 3)
  }

  @Test(.timeLimit(.minutes(3)))
  func `jobs are done in order, and after the end none is taken`() throws {
    let reactor = try Reactor()
    let mailbox = Mailbox<Member>(waker: reactor.waker)
    let member = Member(takesEvents: false)
    for _ in 0..<3 { #expect(mailbox.offer { $0.turn() } == nil) }
    mailbox.post { #expect($0.turns == 3) }
    mailbox.close(in: member)
    #expect(member.turns == 3)
    #expect(mailbox.offer { $0.turn() } == .closed)
    #expect(!mailbox.post { $0.turn() })
  }
}
