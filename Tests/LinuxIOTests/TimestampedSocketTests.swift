import Clock
import Glibc
import Testing

@testable import LinuxIO

struct TimestampedSocketTests {
  @Test(arguments: loopbacks)
  func `a datagram's stamps lie between its sending and its reading`(_ address: SocketAddress)
    throws
  {
    let log = try EventLog()
    let near = try log.reactor.openDatagrams(on: address, trafficClass: .clock)
    let far = try log.reactor.openDatagrams(on: address)
    let target = try #require(log.reactor.localAddress(of: far))
    let slack = TimestampedSocket.conversionError
    var stamped = 0
    var round = 0
    let deadline = HostClock.now + .seconds(20)
    while stamped < 20, HostClock.now < deadline {
      round += 1
      let bytes = Self.bytes(round)
      let before = HostClock.now
      let id = try log.reactor.send(bytes, to: target, from: near)
      let datagram = try log.first("datagram \(round)") { event -> Datagram? in
        if case .datagram(far, let datagram) = event, datagram.bytes == bytes {
          datagram
        } else {
          nil
        }
      }
      let after = HostClock.now
      #expect(datagram.from == log.reactor.localAddress(of: near))
      #expect(datagram.receivedAt >= before - slack && datagram.receivedAt <= after)
      guard datagram.hasKernelStamp else {
        // The kernel enables stamping a while after the first socket has asked for it.
        try log.turn(until: HostClock.now + .milliseconds(1))
        continue
      }
      let sent = try log.first("transmit stamp") { event -> TransmitStamp? in
        if case .transmitted(near, let stamp) = event, stamp.id == id, stamp.point == .driver {
          stamp
        } else {
          nil
        }
      }
      #expect(sent.at >= before - slack && sent.at <= datagram.receivedAt + slack)
      stamped += 1
    }
    #expect(stamped == 20)
  }

  @Test func `a socket for all addresses answers IPv4 with IPv4`() throws {
    let log = try EventLog()
    let all = try log.reactor.openDatagrams(on: .any(port: 0))
    let peer = try log.reactor.openDatagrams(on: .loopback(port: 0))
    let port = try #require(log.reactor.localAddress(of: all)).port
    try log.reactor.send([1], to: .loopback(port: port), from: peer)
    let question = try datagram(log, at: all)
    #expect(question.from == log.reactor.localAddress(of: peer))
    try log.reactor.send([2, 3], to: question.from, from: all)
    #expect(try datagram(log, at: peer).bytes == [2, 3])
  }

  @Test func `stamps match their datagrams after one could not be sent`() throws {
    let log = try EventLog()
    let near = try log.reactor.openDatagrams(on: .loopback(port: 0))
    let target = try #require(log.reactor.localAddress(of: near))
    try log.reactor.send([0], to: target, from: near)
    #expect(throws: IOError.self) {
      try log.reactor.send(pattern(70_000), to: target, from: near)
    }
    let before = HostClock.now
    let id = try log.reactor.send([1], to: target, from: near)
    let stamp = try log.first("transmit stamp") { event -> TransmitStamp? in
      if case .transmitted(near, let stamp) = event, stamp.id == id { stamp } else { nil }
    }
    #expect(stamp.at >= before - TimestampedSocket.conversionError)
  }

  @Test func `what comes to a socket that does not wake is reported at the deadline`() throws {
    let (log, other) = (try EventLog(), try EventLog())
    let quiet = try log.reactor.openDatagrams(on: .loopback(port: 0), wakes: false)
    let peer = try other.reactor.openDatagrams(on: .loopback(port: 0))
    let target = try #require(log.reactor.localAddress(of: quiet))
    var (round, isStamped) = (0, false)
    let end = HostClock.now + .seconds(20)
    // The kernel enables stamping a while after the first socket has asked for it.
    while !isStamped, HostClock.now < end {
      round += 1
      let bytes = Self.bytes(round)
      let sent = HostClock.now
      try other.reactor.send(bytes, to: target, from: peer)
      let deadline = HostClock.now + .milliseconds(5)
      try log.turn(until: deadline)
      #expect(HostClock.now >= deadline)
      for case .datagram(quiet, let datagram) in log.events where datagram.bytes == bytes {
        #expect(datagram.receivedAt >= sent - TimestampedSocket.conversionError)
        isStamped = datagram.hasKernelStamp
      }
    }
    #expect(isStamped)
  }

  @Test func `a socket that rests reports together what comes meanwhile, and then wakes again`()
    throws
  {
    let log = try EventLog()
    let rest = Nanoseconds.milliseconds(20)
    let resting = try log.reactor.openDatagrams(on: .loopback(port: 0), rest: rest)
    let peer = try log.reactor.openDatagrams(on: .loopback(port: 0))
    let target = try #require(log.reactor.localAddress(of: resting))
    func came() -> [[UInt8]] {
      log.events.compactMap {
        if case .datagram(resting, let datagram) = $0 { datagram.bytes } else { nil }
      }
    }
    let begun = HostClock.now
    try log.reactor.send([1], to: target, from: peer)
    try log.run(until: "the first wakes") { came() == [[1]] }
    let back = try #require(log.reactor.localAddress(of: peer))
    try log.reactor.send([9], to: back, from: resting)
    try log.reactor.send([2], to: target, from: peer)
    try log.reactor.send([3], to: target, from: peer)
    try log.run(until: "the others are reported") { came().count > 1 }
    #expect(came() == [[1], [2], [3]])
    #expect(HostClock.now >= begun + rest)
    let isStamped = log.events.contains {
      if case .transmitted(resting, _) = $0 { true } else { false }
    }
    #expect(isStamped)
    // A rest without any datagram ends the resting.
    try log.turn(until: HostClock.now + Nanoseconds(2 * rest.count))
    try log.turn(until: HostClock.now)
    try log.reactor.send([4], to: target, from: peer)
    try log.run(until: "one more wakes") { came().last == [4] }
  }

  @Test func `a queue of errors that never ends holds nobody`() {
    var reads = 0
    let endless = TimestampedSocket.first {
      reads += 1
      return reads <= TimestampedSocket.errorQueueLimit ? .other : .nothing
    }
    #expect(endless == nil && reads == TimestampedSocket.errorQueueLimit)
    let stamp = TransmitStamp(
      id: TransmitID(number: 7), at: LocalTime(nanoseconds: 1), point: .driver)
    var waiting = [TimestampedSocket.Waiting.other, .stamp(stamp), .nothing]
    #expect(TimestampedSocket.first { waiting.removeFirst() } == stamp)
    #expect(waiting.count == 1)
  }

  @Test func `a datagram port in use is named in the error`() throws {
    let log = try EventLog()
    let first = try log.reactor.openDatagrams(on: .loopback(port: 0))
    let address = try #require(log.reactor.localAddress(of: first))
    let error = #expect(throws: IOError.self) { try log.reactor.openDatagrams(on: address) }
    #expect(error?.code == EADDRINUSE)
  }

  private static func bytes(_ round: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: round >> 8), UInt8(truncatingIfNeeded: round)]
  }

  private func datagram(_ log: EventLog, at socket: DatagramID) throws -> Datagram {
    try log.first("datagram") {
      if case .datagram(socket, let datagram) = $0 { datagram } else { nil }
    }
  }
}
