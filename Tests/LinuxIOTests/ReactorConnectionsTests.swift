import Clock
import Glibc
import Testing

@testable import LinuxIO

struct ReactorConnectionsTests {
  @Test(arguments: loopbacks)
  func `bytes arrive whole and in order both ways`(_ address: SocketAddress) throws {
    let log = try EventLog()
    let (near, far) = try log.pair(address)
    let sent = pattern(3_000_000)
    log.reactor.send(sent, on: near)
    log.reactor.send([1, 2], on: far)
    log.reactor.send([3], on: far)
    try log.run(until: "all received") { log.received(far).count >= sent.count }
    try log.run(until: "answer received") { log.received(near).count >= 3 }
    #expect(log.received(far) == sent)
    #expect(log.received(near) == [1, 2, 3])
  }

  @Test func `a peer that reads nothing holds the queue, and reading drains it`() throws {
    let log = try EventLog()
    var options = ConnectionOptions()
    options.outputLimit = 64 << 20
    let (near, far) = try log.pair(.loopback(port: 0), options: options)
    log.reactor.setReading(false, on: far)
    let sent = pattern(32 << 20)
    log.reactor.send(sent, on: near)
    var held = 0
    while held != log.reactor.queuedBytes(on: near) {
      held = log.reactor.queuedBytes(on: near)
      try log.turn(until: HostClock.now + .milliseconds(20))
    }
    #expect(held > 8 << 20)
    #expect(!log.events.contains(.drained(near)))

    log.reactor.setReading(true, on: far)
    _ = try log.first("drained") { $0 == .drained(near) ? true : nil }
    #expect(log.reactor.queuedBytes(on: near) <= options.lowMark)
    log.reactor.finish(near)
    #expect(try log.closeReason(far) == .endOfStream)
    #expect(try log.closeReason(near) == .finished)
    #expect(log.received(far) == sent)
  }

  @Test func `a question for a sign of life that is lost does not end a silent connection`() throws
  {
    let log = try EventLog()
    let (near, _) = try log.pair(.loopback(port: 0))
    let descriptor = try #require(log.reactor.connection(near)).descriptor.number
    func setting(_ name: Int32) -> Int32 {
      var (value, size) = (Int32(-1), socklen_t(4))
      getsockopt(descriptor, Int32(IPPROTO_TCP), name, &value, &size)
      return value
    }
    // The kernel ends the connection at the first keep-alive question after the time-out that
    // follows an unanswered one.
    let asked = setting(TCP_KEEPIDLE) + 4 * setting(TCP_KEEPINTVL)
    #expect(setting(TCP_USER_TIMEOUT) == 10_000)
    #expect(asked < 10, "the fifth question comes after \(asked) s")
  }

  @Test func `what is sent in turns waits for the next one, and none is lost`() throws {
    let log = try EventLog()
    let (near, far) = try log.pair(.loopback(port: 0))
    let sent = pattern(5000)
    log.reactor.setTurn(near, bytes: 2000)
    log.reactor.send(sent, on: near)
    try log.run(until: "the first turn is over") { log.reactor.queuedBytes(on: near) == 3000 }
    log.reactor.setTurn(near, bytes: 4000)
    try log.run(until: "all was sent") { log.reactor.queuedBytes(on: near) == 0 }
    // A turn that is over lets nothing pass, even if it did not use all its bytes.
    log.reactor.setTurn(near, bytes: 0)
    log.reactor.send([1, 2, 3], on: near)
    try log.turn(until: HostClock.now)
    #expect(log.reactor.queuedBytes(on: near) == 3)
    log.reactor.setTurn(near, bytes: nil)
    try log.run(until: "all received") { log.received(far).count == 5003 }
    #expect(log.received(far) == sent + [1, 2, 3])
  }

  @Test func `a connection that ends does not wait for its turn`() throws {
    let log = try EventLog()
    let (near, far) = try log.pair(.loopback(port: 0))
    log.reactor.setTurn(near, bytes: 0)
    log.reactor.send([1, 2, 3], on: near)
    log.reactor.finish(near)
    #expect(try log.closeReason(far) == .endOfStream)
    #expect(log.received(far) == [1, 2, 3])
  }

  @Test func `the system keeps no more of what came than is asked for`() throws {
    let log = try EventLog()
    var options = ConnectionOptions()
    options.receiveLimit = 32 << 10
    let (near, far) = try log.pair(.loopback(port: 0), options: options)
    for id in [near, far] {
      let descriptor = try #require(log.reactor.connection(id)).descriptor.number
      var (size, length): (Int32, socklen_t) = (0, 4)
      #expect(getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0)
      // Linux reserves twice the requested size, for its own bookkeeping.
      #expect(size == 2 * 32 << 10)
    }
  }

  @Test func `a queue beyond its limit closes the connection`() throws {
    let log = try EventLog()
    var options = ConnectionOptions()
    options.outputLimit = 1000
    let (near, far) = try log.pair(.loopback(port: 0), options: options)
    log.reactor.send(pattern(1000), on: near)
    #expect(log.reactor.queuedBytes(on: near) == 1000)
    log.reactor.send([0], on: near)
    #expect(try log.closeReason(near) == .outputOverflow)
    #expect(try log.closeReason(far) == .endOfStream)
  }

  @Test func `what is queued before the connection stands is sent after it`() throws {
    let log = try EventLog()
    let listener = try log.reactor.listen(on: .loopback(port: 0))
    let address = try #require(log.reactor.localAddress(of: listener))
    let near = log.reactor.connect(to: address)
    log.reactor.send([7, 8, 9], on: near)
    let far = try log.accepted(by: listener)
    try log.run(until: "received") { log.received(far) == [7, 8, 9] }
  }

  @Test func `a port where nothing listens refuses in words`() throws {
    let log = try EventLog()
    let listener = try log.reactor.listen(on: .loopback(port: 0))
    let address = try #require(log.reactor.localAddress(of: listener))
    log.reactor.close(listener)
    let near = log.reactor.connect(to: address)
    let error = try log.first("connectFailed") { event -> IOError? in
      if case .connectFailed(near, let error) = event { error } else { nil }
    }
    #expect(error.text == "\(address) refused the connection: nothing listens there")
    #expect(error.code == ECONNREFUSED)
  }

  @Test func `a peer that goes while data is unread breaks the connection`() throws {
    let log = try EventLog()
    let (near, far) = try log.pair(.loopback(port: 0))
    log.reactor.setReading(false, on: far)
    log.reactor.send([1], on: near)
    try log.turn(until: HostClock.now)
    #expect(log.reactor.queuedBytes(on: near) == 0)
    log.reactor.close(far)
    guard case .failed(let error) = try log.closeReason(near) else {
      Issue.record("not reported as a failure")
      return
    }
    #expect(error.code == ECONNRESET)
    #expect(error.text.contains("broke"))
  }

  @Test func `the last words of a peer that went are still heard`() throws {
    let log = try EventLog()
    let (near, far) = try log.pair(.loopback(port: 0))
    log.reactor.setReading(false, on: near)
    log.reactor.send([42], on: far)
    try log.turn(until: HostClock.now)
    #expect(log.reactor.queuedBytes(on: far) == 0)
    log.reactor.close(far)
    // The peer answers the first bytes with a reset, so that a later write fails.
    log.reactor.setReading(true, on: near)
    for _ in 0..<3 { log.reactor.send(pattern(10), on: near) }
    _ = try log.closeReason(near)
    #expect(log.received(near) == [42])
  }

  @Test func `a connection closed here says nothing more`() throws {
    let log = try EventLog()
    let (near, far) = try log.pair(.loopback(port: 0))
    log.reactor.send([1], on: far)
    log.reactor.close(near)
    log.reactor.send([1], on: near)
    _ = try log.closeReason(far)
    #expect(log.received(near).isEmpty)
    #expect(!log.events.contains { if case .closed(near, _) = $0 { true } else { false } })
  }

  @Test func `one connection that sends much does not starve another`() throws {
    let log = try EventLog()
    let (loud, loudEnd) = try log.pair(.loopback(port: 0))
    let (quiet, quietEnd) = try log.pair(.loopback(port: 0))
    log.reactor.send(pattern(8 << 20), on: loud)
    log.reactor.send([5], on: quiet)
    try log.run(until: "the quiet one is heard") { log.received(quietEnd) == [5] }
    #expect(log.received(loudEnd).count < 8 << 20)
  }

  @Test func `a missing socket file fails to connect in words`() throws {
    let log = try EventLog()
    let near = log.reactor.connect(toPath: "/nonexistent/tutti")
    let error = try log.first("connectFailed") { event -> IOError? in
      if case .connectFailed(near, let error) = event { error } else { nil }
    }
    #expect(error.text == "/nonexistent/tutti does not exist: nothing listens there")
  }

  @Test func `a peer that never closes is left after the farewell time`() throws {
    let log = try EventLog()
    var options = ConnectionOptions()
    options.farewellTime = .milliseconds(20)
    let (near, far) = try log.pair(.loopback(port: 0), options: options)
    log.reactor.setReading(false, on: far)
    log.reactor.send([1], on: near)
    log.reactor.finish(near)
    #expect(try log.closeReason(near) == .finished)
  }

  @Test func `a peer that takes nothing is left after the farewell time`() throws {
    let log = try EventLog()
    var options = ConnectionOptions()
    options.farewellTime = .milliseconds(20)
    options.outputLimit = 64 << 20
    let (near, far) = try log.pair(.loopback(port: 0), options: options)
    log.reactor.setReading(false, on: far)
    log.reactor.send(pattern(32 << 20), on: near)
    log.reactor.finish(near)
    #expect(try log.closeReason(near) == .outputOverflow)
  }

  @Test func `peers that never close do not pile up`() throws {
    let log = try EventLog()
    var options = ConnectionOptions()
    options.farewellTime = .seconds(1000)
    var nears: [ConnectionID] = []
    for _ in 0...Reactor.mostFarewells {
      let (near, far) = try log.pair(.loopback(port: 0), options: options)
      log.reactor.setReading(false, on: far)
      log.reactor.finish(near)
      nears.append(near)
    }
    #expect(try log.closeReason(nears[0]) == .finished)
    #expect(nears[1...].allSatisfy { log.reactor.connection($0) != nil })
  }
}
