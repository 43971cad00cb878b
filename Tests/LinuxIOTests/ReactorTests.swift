import Clock
import Glibc
import Synchronization
import Testing

@testable import LinuxIO

struct ReactorTests {
  @Test func `an empty wait ends at its deadline`() throws {
    let reactor = try Reactor()
    let deadline = HostClock.now + .milliseconds(2)
    while HostClock.now < deadline { #expect(try reactor.wait(until: deadline).isEmpty) }
  }

  @Test func `another thread wakes a wait that has no deadline`() throws {
    let reactor = try Reactor()
    let waker = reactor.waker
    let thread = try RealtimeThread.start(name: "waker", priority: nil) { waker.wake() }
    #expect(try reactor.wait(until: nil) == [.woken])
    thread.join()
  }

  @Test func `many wake-ups before a wait are one event`() throws {
    let reactor = try Reactor()
    for _ in 0..<5 { reactor.waker.wake() }
    #expect(try reactor.wait(until: nil) == [.woken])
    #expect(try reactor.wait(until: HostClock.now).isEmpty)
  }

  @Test func `a signal to the loop's thread is an event`() throws {
    let reactor = try Reactor()
    try reactor.watch(signals: [.windowChanged])
    raise(SIGWINCH)
    #expect(try reactor.wait(until: nil) == [.signal(.windowChanged)])
  }

  @Test func `a pipe is readable once something is in it`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let reactor = try Reactor()
    let id = try reactor.watch(descriptor: ends[0])
    #expect(try reactor.wait(until: HostClock.now).isEmpty)
    #expect(write(ends[1], "x", 1) == 1)
    #expect(try reactor.wait(until: nil) == [.readable(id)])
    reactor.unwatch(id)
    #expect(try reactor.wait(until: HostClock.now).isEmpty)
  }

  @Test func `a plain file cannot be watched and says so`() throws {
    let file = open("/proc/self/exe", O_RDONLY)
    defer { close(file) }
    let reactor = try Reactor()
    #expect(throws: IOError.self) { try reactor.watch(descriptor: file) }
  }
}
