import Clock
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import LinuxIO

struct ReactorListenersTests {
  @Test(arguments: loopbacks)
  func `a listener on all addresses takes this family`(_ address: SocketAddress) throws {
    let log = try EventLog()
    let listener = try log.reactor.listen(on: .any(port: 0))
    let port = try #require(log.reactor.localAddress(of: listener)).port
    let near = log.reactor.connect(to: address.with(port: port))
    let from = try log.first("accepted") { event -> SocketAddress? in
      if case .accepted(_, by: listener, let from) = event { from } else { nil }
    }
    #expect(from == log.reactor.localAddress(of: near))
  }

  @Test func `a port in use is named in the error`() throws {
    let log = try EventLog()
    let listener = try log.reactor.listen(on: .loopback(port: 0))
    let address = try #require(log.reactor.localAddress(of: listener))
    let error = #expect(throws: IOError.self) { try log.reactor.listen(on: address) }
    #expect(
      error?.text
        == "port \(address.port) is in use by another program; choose another with --port")
  }

  @Test func `a program's own socket file is private and goes with it`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/control"
    let log = try EventLog()
    let listener = try log.reactor.listen(onPath: path)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)

    let near = log.reactor.connect(toPath: path)
    log.reactor.send([1, 2, 3], on: near)
    let far = try log.accepted(by: listener)
    try log.run(until: "received") { log.received(far) == [1, 2, 3] }
    log.reactor.close(near)
    #expect(try log.closeReason(far) == .endOfStream)
    log.reactor.close(listener)
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a socket file in use is refused and a stale one replaced`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/control"
    let log = try EventLog()
    let listener = try log.reactor.listen(onPath: path)
    let error = #expect(throws: IOError.self) { try EventLog().reactor.listen(onPath: path) }
    #expect(error?.text == "\(path) is in use by another program")

    // A second name keeps the socket's file after the listener is closed, as a crash would.
    try #require(link(path, path + ".kept") == 0)
    log.reactor.close(listener)
    try #require(rename(path + ".kept", path) == 0)
    _ = try log.reactor.listen(onPath: path)
    let near = log.reactor.connect(toPath: path)
    _ = try log.first("connected") { $0 == .connected(near) ? true : nil }
  }

  @Test func `of many who find a dead program's socket file at once one gets it`() throws {
    let directory = try TemporaryDirectory()
    for turn in 0..<50 {
      let path = directory.path + "/control\(turn)"
      do {
        let dead = try EventLog()
        let listener = try dead.reactor.listen(onPath: path)
        try #require(link(path, path + ".kept") == 0)
        dead.reactor.close(listener)
        try #require(rename(path + ".kept", path) == 0)
      }
      let race = Race()
      for _ in 0..<4 { try race.enter(path) }
      for _ in 0..<4 { race.arrived.wait() }
      #expect(race.winners.withLock { $0 } == 1)
      for _ in 0..<4 { race.leave.signal() }
      for _ in 0..<4 { race.left.wait() }
    }
  }

  /// Programs that listen on one path, and keep it until all have tried.
  private final class Race: Sendable {
    let winners = Mutex(0)
    let arrived = DispatchSemaphore(value: 0)
    let leave = DispatchSemaphore(value: 0)
    let left = DispatchSemaphore(value: 0)

    func enter(_ path: String) throws {
      let thread = try RealtimeThread.start(name: "racer", priority: nil) { [self] in
        var reactor: Reactor?
        do { reactor = try Reactor() } catch { Issue.record(error) }
        if (try? reactor?.listen(onPath: path)) != nil { winners.withLock { $0 += 1 } }
        arrived.signal()
        leave.wait()
        withExtendedLifetime(reactor) {}
        left.signal()
      }
      thread.detach()
    }
  }

  @Test func `a file that is no socket is left alone`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/music"
    try StateFile(path: path).write([1])
    #expect(throws: IOError.self) { try EventLog().reactor.listen(onPath: path) }
    #expect(try StateFile(path: path).read(limit: 10) == [1])
  }

  @Test func `without descriptors the peers wait and the loop does not spin`() async {
    await #expect(processExitsWith: .success) {
      let log = try EventLog()
      let listener = try log.reactor.listen(on: .loopback(port: 0))
      let address = try #require(log.reactor.localAddress(of: listener))
      let near = log.reactor.connect(to: address)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let allowed = limit.rlim_cur
      limit.rlim_cur = 0
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let error = try log.first("acceptFailed") { event -> IOError? in
        if case .acceptFailed(listener, let error) = event { error } else { nil }
      }
      try #require(error.code == EMFILE)

      let rested = HostClock.now + .milliseconds(100)
      var turns = 0
      while HostClock.now < rested {
        try log.turn(until: rested)
        turns += 1
      }
      try #require(turns < 10)
      limit.rlim_cur = allowed
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      log.reactor.send([1], on: near)
      let far = try log.accepted(by: listener)
      try log.run(until: "received") { log.received(far) == [1] }
    }
  }
}
