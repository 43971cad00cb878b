import Clock
package import LinuxIO
package import OpenSSLSecurity
package import Sender
import WireProtocol

/// Pairs this machine with one receiver, or asks it to forget this machine. `run` does all of it, within seconds, on
/// the caller's thread.
package struct RoomPairing {
  package struct Target: Sendable {
    /// The only receiver that is accepted; nil accepts any.
    var receiverID: Identifier?
    /// In the order in which they are tried.
    var addresses: [SocketAddress]

    package init(_ record: RoomRecord) {
      receiverID = Identifier(hex: record.id)
      addresses = record.socketAddresses
    }

    package init(addresses: [SocketAddress]) { self.addresses = addresses }
  }

  private let security: TLSContext
  private let senderName: String

  package init(security: TLSContext, senderName: String) {
    self.security = security
    self.senderName = senderName
  }

  /// - Parameter joins: true if the target is a daemon, whose household this machine joins.
  package func run(
    _ purpose: PairingVisit.Purpose, at target: Target, joins: Bool = false
  ) throws(IOError) -> PairingReport {
    let reactor = try Reactor()
    let peers = PeerConnections<Int>(reactor: reactor, limit: 1, secure: security.channel)
    var visit = PairingVisit(
      purpose, senderID: security.identifier, senderName: senderName,
      receiverID: target.receiverID, joins: joins, arithmetic: SPAKE2(), at: HostClock.now)
    var untried = target.addresses.prefix(RoomDial.addressLimit)[...]
    var attempt = 0
    var report: PairingReport?

    func dial(_ obstacle: String) {
      guard let address = untried.popFirst() else {
        return visit.handle(.closed(reason: obstacle), at: HostClock.now)
      }
      attempt += 1
      _ = peers.connect(to: address, as: attempt)
    }

    func take(_ event: PeerConnections<Int>.Event) {
      switch event {
      case .connected(_, let peer): visit.handle(.connected(peer), at: HostClock.now)
      case .received(_, let bytes): visit.handle(.received(bytes), at: HostClock.now)
      case .failed(_, let reason): dial(reason)
      case .closed(_, let reason): visit.handle(.closed(reason: reason), at: HostClock.now)
      }
    }

    dial("it has no address")
    while true {
      while let output = visit.nextOutput() {
        switch output {
        case .send(let bytes): peers.send(bytes, to: attempt)
        case .close: peers.close(attempt)
        case .done(let made): report = made
        }
      }
      if let report {
        try peers.drain(for: .milliseconds(500))
        return report
      }
      for event in try reactor.wait(until: visit.nextDeadline) { peers.take(event, take) }
      visit.handle(.timeout, at: HostClock.now)
    }
  }
}
