import Clock
import OpenSSLSecurity
import Testing
import WireProtocol

@testable import LinuxIO

struct PeerConnectionsTests {
  /// Peers that connect to a listener of the same reactor. Accepted peers are numbered from zero.
  private final class Bed {
    let log: EventLog
    let near: PeerConnections<String>
    let far: PeerConnections<Int>
    let address: SocketAddress
    private var read = 0
    private var acceptedCount = 0
    private(set) var refusedCount = 0
    private(set) var told: [PeerConnections<String>.Event] = []
    private(set) var heard: [Int: [UInt8]] = [:]
    private(set) var toldFar: [PeerConnections<Int>.Event] = []
    /// The bytes that another program on this listener sends before it goes away.
    var greeting: (listener: ListenerID, bytes: [UInt8])?
    /// True if somebody on the way changes the data for the far ends.
    var isChanging = false
    let nearID: Identifier
    let farID: Identifier

    init(nearLimit: Int = 8, farLimit: Int = 8) throws {
      log = try EventLog()
      let nearSecurity = try TLSContext(try IdentityKey.generate())
      let farSecurity = try TLSContext(try IdentityKey.generate())
      (nearID, farID) = (nearSecurity.identifier, farSecurity.identifier)
      near = PeerConnections(
        reactor: log.reactor, limit: nearLimit, secure: nearSecurity.channel)
      far = PeerConnections(reactor: log.reactor, limit: farLimit, secure: farSecurity.channel)
      let listener = try log.reactor.listen(on: .loopback(port: 0))
      address = try #require(log.reactor.localAddress(of: listener))
    }

    func run(until what: String, _ isDone: () -> Bool) throws {
      let deadline = HostClock.now + .seconds(20)
      while !isDone() {
        guard HostClock.now < deadline else {
          throw EventLog.TimedOut(description: "never: \(what)")
        }
        for event in try log.reactor.wait(until: deadline) { take(event) }
      }
    }

    private func take(_ event: ReactorEvent) {
      near.take(event) { told.append($0) }
      far.take(isChanging ? Self.changed(event) : event) { event in
        toldFar.append(event)
        if case .received(let number, let bytes) = event { heard[number, default: []] += bytes }
      }
      guard case .accepted(let id, let listener, let address) = event else { return }
      if let greeting, greeting.listener == listener {
        log.reactor.send(greeting.bytes, on: id)
        return log.reactor.finish(id)
      }
      if far.accept(id, from: address, as: acceptedCount) {
        acceptedCount += 1
      } else {
        refusedCount += 1
      }
    }

    private static func changed(_ event: ReactorEvent) -> ReactorEvent {
      guard case .received(let id, var bytes) = event else { return event }
      bytes[bytes.count - 1] ^= 1
      return .received(id, bytes)
    }

    func isConnected(_ name: String) -> Bool {
      told.contains { if case .connected(name, _) = $0 { true } else { false } }
    }

    func isClosed(_ name: String) -> Bool {
      told.contains { if case .closed(name, _) = $0 { true } else { false } }
    }
  }

  @Test func `no more peers are accepted than the limit, until one has gone`() throws {
    let bed = try Bed(farLimit: 1)
    #expect(bed.near.connect(to: bed.address, as: "first"))
    try bed.run(until: "the first is connected") { bed.isConnected("first") }
    #expect(bed.near.connect(to: bed.address, as: "second"))
    try bed.run(until: "the second is closed") {
      bed.told.contains { if case .failed("second", _) = $0 { true } else { false } }
    }
    #expect(bed.refusedCount == 1)
    bed.far.close(0)
    #expect(bed.near.connect(to: bed.address, as: "third"))
    try bed.run(until: "the third is connected") { bed.isConnected("third") }
    bed.near.send([3], to: "third")
    try bed.run(until: "the third is heard") { bed.heard[1] == [3] }
  }

  @Test func `both ends are told whose key the other has, before anything else`() throws {
    let bed = try Bed()
    #expect(bed.near.connect(to: bed.address, as: "peer"))
    bed.near.send([1], to: "peer")
    try bed.run(until: "connected") { bed.isConnected("peer") }
    bed.near.send([2], to: "peer")
    try bed.run(until: "heard") { bed.heard[0] != nil }
    guard case .connected("peer", let far)? = bed.told.first,
      case .connected(0, let near)? = bed.toldFar.first
    else {
      Issue.record("\(bed.told) \(bed.toldFar)")
      return
    }
    #expect(far.id == bed.farID && near.id == bed.nearID)
    #expect(far.clockKey == near.clockKey && far.binding == near.binding)
    // Data that was sent before the handshake was complete was dropped.
    #expect(bed.heard[0] == [2])
  }

  @Test func `who dials a program that does not speak TLS is told so`() throws {
    let bed = try Bed()
    let other = try bed.log.reactor.listen(on: .loopback(port: 0))
    let address = try #require(bed.log.reactor.localAddress(of: other))
    #expect(bed.near.connect(to: address, as: "peer"))
    bed.greeting = (other, Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))
    try bed.run(until: "it failed") {
      bed.told.contains {
        if case .failed("peer", let reason) = $0 {
          reason
            == "\(address): it does not speak TLS: an older version of Tutti, or another program"
        } else {
          false
        }
      }
    }
  }

  @Test
  func `a program that goes in the middle of the handshake is told from one that is not there`()
    throws
  {
    let bed = try Bed()
    let other = try bed.log.reactor.listen(on: .loopback(port: 0))
    let address = try #require(bed.log.reactor.localAddress(of: other))
    #expect(bed.near.connect(to: address, as: "peer"))
    bed.greeting = (other, [])
    try bed.run(until: "it failed") {
      bed.told.contains {
        if case .failed("peer", let reason) = $0 {
          reason.contains("it ended the handshake")
        } else {
          false
        }
      }
    }
  }

  @Test func `a stranger who is accepted and speaks no TLS is closed, and nothing of it is heard`()
    throws
  {
    let bed = try Bed()
    let stranger = bed.log.reactor.connect(to: bed.address)
    bed.log.reactor.send(pattern(1000), on: stranger)
    try bed.run(until: "closed") {
      bed.toldFar.contains { if case .closed(0, _) = $0 { true } else { false } }
    }
    #expect(bed.heard.isEmpty)
    #expect(bed.toldFar.count == 1, "\(bed.toldFar)")
  }

  @Test func `what was changed on the way is not heard, and ends the connection at both ends`()
    throws
  {
    let bed = try Bed()
    #expect(bed.near.connect(to: bed.address, as: "peer"))
    try bed.run(until: "connected") { bed.isConnected("peer") && !bed.toldFar.isEmpty }
    bed.isChanging = true
    bed.near.send([1, 2, 3], to: "peer")
    try bed.run(until: "closed") { bed.isClosed("peer") }
    guard case .closed(0, let reason)? = bed.toldFar.last else {
      Issue.record("\(bed.toldFar)")
      return
    }
    #expect(reason.contains("changed on the way"))
    #expect(bed.heard.isEmpty)
    #expect(bed.near.address(of: "peer") == nil)
  }

  /// Handshake records without an end: TLS allows a greeting to be spread over many records.
  @Test func `a handshake of more than 64 KiB is given up`() throws {
    let log = try EventLog()
    let far = PeerConnections<Int>(reactor: log.reactor, limit: 8) { _ in Endless() }
    let listener = try log.reactor.listen(on: .loopback(port: 0))
    let address = try #require(log.reactor.localAddress(of: listener))
    let stranger = log.reactor.connect(to: address)
    log.reactor.send(pattern(1 << 20), on: stranger)
    let accepted = try log.accepted(by: listener)
    #expect(far.accept(accepted, from: nil, as: 0))
    let deadline = HostClock.now + .seconds(20)
    var (count, reason): (Int, String?) = (0, nil)
    while reason == nil, HostClock.now < deadline {
      for event in try log.reactor.wait(until: deadline) {
        if case .received(_, let bytes) = event { count += bytes.count }
        far.take(event) { if case .closed(0, let why) = $0 { reason = why } }
      }
    }
    #expect(reason?.contains("without a complete handshake") == true)
    #expect(count <= PeerConnections<Int>.handshakeLimit + 256 << 10)
  }

  /// A handshake that is never complete.
  private final class Endless: SecureChannel {
    let peer: SecuredPeer? = nil
    func receive(_ bytes: [UInt8]) throws(SecureChannelError) -> [UInt8] { [] }
    func send(_ bytes: [UInt8]) {}
    func takeOutput() -> [UInt8] { [] }
    func finish() {}
  }

  @Test func `no more connections are begun than the limit`() throws {
    let bed = try Bed(nearLimit: 1)
    #expect(bed.near.connect(to: bed.address, as: "first"))
    #expect(!bed.near.connect(to: bed.address, as: "second"))
    bed.near.close("first")
    #expect(bed.near.connect(to: bed.address, as: "third"))
  }

  @Test func `what was sent before a close arrives, and nothing more is told of the name`() throws {
    let bed = try Bed()
    #expect(bed.near.connect(to: bed.address, as: "peer"))
    try bed.run(until: "connected") { bed.isConnected("peer") }
    let sent = pattern(200_000)
    bed.near.send(sent, to: "peer")
    bed.near.close("peer")
    #expect(bed.near.isSending)
    #expect(bed.near.queuedBytes(to: "peer") == 0)
    bed.near.send([1], to: "peer")
    try bed.run(until: "all arrived") { bed.heard[0]?.count == sent.count }
    #expect(bed.heard[0] == sent)
    #expect(!bed.near.isSending)
    #expect(!bed.isClosed("peer"))
  }

  @Test func `an attempt that fails is told with its reason, and its name is free`() throws {
    let bed = try Bed()
    let silent = try bed.log.reactor.listen(on: .loopback(port: 0))
    let nowhere = try #require(bed.log.reactor.localAddress(of: silent))
    bed.log.reactor.close(silent)
    #expect(bed.near.connect(to: nowhere, as: "peer"))
    try bed.run(until: "it failed") {
      bed.told.contains {
        if case .failed("peer", let reason) = $0 { reason.contains("refused") } else { false }
      }
    }
    #expect(bed.near.address(of: "peer") == nil)
  }
}
