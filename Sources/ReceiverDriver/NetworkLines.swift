import Clock
import LinuxIO
import OpenSSLSecurity
import Receiver

/// The sockets of a receiver that any sender on the network can reach, encrypted.
final class NetworkLines: ReceiverLines {
  /// Maximum number of connections at a time: 16 in the lobby, 16 at the door of the pairing desk, 9 at the desk, 2 of a
  /// sender, and 4 that the other side is to close. So strangers never take the place of a sender.
  static let connectionLimit = 48

  private let reactor: Reactor
  private let clockSocket: DatagramID
  /// Receives the audio of live streams.
  private let liveSocket: DatagramID
  private let peers: PeerConnections<Receiver.ConnectionID>
  private let journal: any ReceiverJournal
  private var acceptedCount = 0
  private var requests = AwaitedStamps<UInt32>()
  /// The last connection whose host was asked for the time, and its address. No number is used twice.
  private var asked: (id: Receiver.ConnectionID, address: SocketAddress)?
  let port: UInt16

  init(
    on reactor: Reactor, port: UInt16, _ security: TLSContext, _ journal: any ReceiverJournal
  ) throws(IOError) {
    self.reactor = reactor
    self.journal = journal
    peers = PeerConnections(
      reactor: reactor, limit: Self.connectionLimit, secure: security.channel)
    var options = ConnectionOptions()
    // Data that a cut has made obsolete must still be read before the data behind it.
    options.receiveLimit = 128 << 10
    let listener = try reactor.listen(on: .any(port: port), options: options)
    // Answers carry the kernel's time of arrival, so they need not wake the loop: they wait for the next request.
    // That halves the number of wakeups.
    clockSocket = try reactor.openDatagrams(on: .any(port: 0), trafficClass: .clock, wakes: false)
    liveSocket = try reactor.openDatagrams(on: .any(port: 0), trafficClass: .audio)
    self.port = reactor.localAddress(of: listener)?.port ?? port
  }

  func take(_ event: ReactorEvent, _ tell: (ReceiverSession.Input) -> Void) {
    peers.take(event) { event in
      switch event {
      case .received(let id, let bytes): tell(.received(id, bytes))
      case .closed(let id, _): tell(.closed(id))
      case .connected(let id, let peer): tell(.secured(id, peer))
      case .failed: break
      }
    }
    switch event {
    case .accepted(let connection, _, let address): accept(connection, from: address, tell)
    case .datagram(_, let datagram):
      tell(.datagram(datagram.bytes, receivedAt: datagram.receivedAt))
    case .transmitted(let socket, let stamp) where socket == clockSocket:
      if let sequence = requests[stamp.id] { tell(.transmitted(sequence: sequence, at: stamp.at)) }
    case .acceptFailed(_, let error): journal.warning("connections wait", "\(error)")
    case .connected, .connectFailed, .received, .closed, .drained, .woken, .readable, .signal,
      .transmitted:
      break
    }
  }

  private func accept(
    _ connection: LinuxIO.ConnectionID, from address: SocketAddress?,
    _ tell: (ReceiverSession.Input) -> Void
  ) {
    acceptedCount += 1
    let id = Receiver.ConnectionID(acceptedCount)
    guard peers.accept(connection, from: address, as: id) else { return }
    tell(.accepted(id, peer: address?.host ?? "this host", network: address?.network.host))
  }

  func send(_ bytes: [UInt8], to id: Receiver.ConnectionID) { peers.send(bytes, to: id) }

  func close(_ id: Receiver.ConnectionID) { peers.close(id) }

  func sendTimeRequest(
    _ bytes: [UInt8], sequence: UInt32, toHostOf id: Receiver.ConnectionID, port: UInt16
  ) -> LocalTime? {
    if asked?.id != id { asked = peers.address(of: id).map { (id, $0) } }
    guard let address = asked?.address.with(port: port),
      let sent = try? reactor.send(bytes, to: address, from: clockSocket)
    else { return nil }
    requests.note(sent, for: sequence)
    return nil
  }

  func sendAsk(_ bytes: [UInt8], toHostOf id: Receiver.ConnectionID, port: UInt16) {
    guard let address = peers.address(of: id)?.with(port: port) else { return }
    _ = try? reactor.send(bytes, to: address, from: liveSocket)
  }
}
