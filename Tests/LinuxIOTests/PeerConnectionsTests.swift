import Clock
import Testing

@testable import LinuxIO

struct PeerConnectionsTests {
  /// Peers that connect to a listener of the same reactor; those that it accepts are numbered from zero.
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

    init(nearLimit: Int = 8, farLimit: Int = 8) throws {
      log = try EventLog()
      near = PeerConnections(reactor: log.reactor, limit: nearLimit)
      far = PeerConnections(reactor: log.reactor, limit: farLimit)
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
      if let event = near.event(event) { told.append(event) }
      if case .received(let number, let bytes)? = far.event(event) {
        heard[number, default: []] += bytes
      }
      guard case .accepted(let id, _, let address) = event else { return }
      if far.accept(id, from: address, as: acceptedCount) {
        acceptedCount += 1
      } else {
        refusedCount += 1
      }
    }

    func isConnected(_ name: String) -> Bool {
      told.contains { if case .connected(name) = $0 { true } else { false } }
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
    try bed.run(until: "the second is closed") { bed.isClosed("second") }
    #expect(bed.refusedCount == 1)
    bed.far.close(0)
    #expect(bed.near.connect(to: bed.address, as: "third"))
    bed.near.send([3], to: "third")
    try bed.run(until: "the third is heard") { bed.heard[1] == [3] }
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
