import Synchronization
import Testing

@testable import LinuxIO

struct HostResolverTests {
  @Test func `a numeric address needs no resolver`() throws {
    #expect(try HostResolver.resolve(host: "127.0.0.1", port: 9) == [.loopback(port: 9)])
  }

  @Test func `this host's own name is found`() throws {
    let found = try HostResolver.resolve(host: "localhost", port: 9)
    #expect(!found.isEmpty && found.allSatisfy { $0.isLoopback && $0.port == 9 })
  }

  @Test(arguments: ["", "a\u{0}b", String(repeating: "a", count: 300)])
  func `what is no name fails in words`(_ name: String) {
    let error = #expect(throws: HostResolver.Failure.self) {
      try HostResolver.resolve(host: name, port: 9)
    }
    #expect(error?.reason == "this is no host name")
  }

  @Test func `a lookup in the background wakes the loop that asked`() throws {
    let reactor = try Reactor()
    let waker = reactor.waker
    let answer = Mailbox()
    try HostResolver.resolve(host: "::1", port: 3) { result in
      answer.value.withLock { $0 = result }
      waker.wake()
    }
    #expect(try reactor.wait(until: nil) == [.woken])
    #expect(try answer.value.withLock { $0 }?.get() == [.loopback6(port: 3)])
  }
}

private final class Mailbox: Sendable {
  let value = Mutex<Result<[SocketAddress], HostResolver.Failure>?>(nil)
}
