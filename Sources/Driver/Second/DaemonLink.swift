package import Clock
package import LinuxIO
package import OpenSSLSecurity
package import Sender
package import WireProtocol

/// The connection between a household's two daemons: the second one dials, and both show that they have the household's key.
/// For the thread of its reactor.
package final class DaemonLink {
  package enum Event {
    case up(from: SocketAddress?)
    case message(DaemonMessage)
    case down(reason: String)
    /// Somebody without the household's key has something to say.
    case stranger(Int, SecuredPeer)
    case strangerSaid(Int, [UInt8])
    case strangerLeft(Int)
  }

  package enum Place: Sendable {
    /// Where the first daemon waits for the second one; no address is all of them.
    case listens(addresses: [String], port: UInt16)
    case dials(host: String, port: UInt16)
  }

  /// Connections at a time: the link, its successor, and those below.
  static let connectionLimit = 8
  /// Those that have not shown a key yet; each may take so long. One more takes the place of the oldest.
  static let unknownLimit = 4
  static let unknownTime = Nanoseconds.seconds(5)
  /// Those with another key, which may join.
  static let strangerLimit = 2
  static let strangerTime = Nanoseconds.seconds(20)
  /// Bytes that wait in front of a word at most.
  static let queueLimit = 128 << 10
  /// Time between two attempts to dial.
  static let dialInterval = Nanoseconds.milliseconds(500)
  /// A connection on which nothing was heard for so long is given up, and dialled anew.
  static let silence = Nanoseconds.seconds(3)

  private let reactor: Reactor
  private let peers: PeerConnections<Int>
  private let household: Identifier
  private let place: Place
  private let listeners: [ListenerID]
  private let found: Inbox<Result<[SocketAddress], HostResolver.Failure>>
  private var addresses: [SocketAddress] = []
  private var isLookingUp = false
  private var nextDial: LocalTime
  private var count = 0
  private struct Visitor {
    let name: Int
    let host: String?
    let until: LocalTime
  }

  /// The connection with the other daemon.
  private var link: (name: Int, framer: MessageFramer, heard: LocalTime)?
  private var dialled: (name: Int, until: LocalTime)?
  /// Accepted, and without a key so far; oldest first.
  private var unknown: [Visitor] = []
  private var strangers: [Visitor] = []
  /// Messages that wait until the link has room.
  private var bulk: [DaemonMessage] = []
  private var sent = 0

  package init(reactor: Reactor, security: TLSContext, place: Place) throws(IOError) {
    self.reactor = reactor
    (self.place, household) = (place, security.identifier)
    peers = PeerConnections(
      reactor: reactor, limit: Self.connectionLimit, secure: security.channel)
    found = Inbox(limit: 1, waker: reactor.waker)
    nextDial = HostClock.now
    listeners = try Self.listen(at: place, reactor)
  }

  private static func listen(at place: Place, _ reactor: Reactor) throws(IOError) -> [ListenerID] {
    guard case .listens(let addresses, let port) = place else { return [] }
    guard !addresses.isEmpty else { return [try reactor.listen(on: .any(port: port))] }
    var listeners: [ListenerID] = []
    for text in addresses {
      guard let address = SocketAddress(host: text, port: port) else {
        throw IOError(call: "bind", code: 0, text: "\(text) is no address of this machine")
      }
      listeners.append(try reactor.listen(on: address))
    }
    return listeners
  }

  /// The port on which it waits for the other daemon; nil where it dials.
  package var port: UInt16? { listeners.first.flatMap { reactor.localAddress(of: $0)?.port } }

  package var isUp: Bool { link != nil }

  package var nextDeadline: LocalTime? {
    var dial: LocalTime?
    if case .dials = place, link == nil, !isLookingUp { dial = dialled?.until ?? nextDial }
    return LocalTime?.earliest([
      link.map { $0.heard + Self.silence }, unknown.first?.until, strangers.first?.until, dial,
    ])
  }

  // MARK: - Sending

  /// Sends a word at once, in front of what waits.
  package func send(_ word: DaemonWord) {
    if let link { peers.send(DaemonMessage.word(word).encoded(), to: link.name) }
  }

  /// True if nothing waits that `send` has been given before.
  package var isIdle: Bool { sent == bulk.count }

  /// Sends what follows on the files before, as the link has room.
  package func send(_ messages: [DaemonMessage]) {
    guard isUp else { return }
    bulk = Array(bulk[sent...]) + messages
    sent = 0
    fill()
  }

  private func fill() {
    guard let link else { return }
    while sent < bulk.count, peers.queuedBytes(to: link.name) < Self.queueLimit {
      peers.send(bulk[sent].encoded(), to: link.name)
      sent += 1
    }
    if sent == bulk.count { (bulk, sent) = ([], 0) }
  }

  /// Ends the link; it is dialled anew.
  package func hangUp() {
    guard let name = link?.name else { return }
    peers.close(name)
    (link, bulk, sent) = (nil, [], 0)
  }

  /// Answers somebody who wants to join.
  package func send(_ bytes: [UInt8], to stranger: Int) { peers.send(bytes, to: stranger) }

  package func close(stranger: Int) {
    strangers.removeAll { $0.name == stranger }
    peers.close(stranger)
  }

  // MARK: - Events

  package func take(_ event: ReactorEvent, _ tell: (Event) -> Void) {
    switch event {
    case .accepted(let connection, let listener, let address) where listeners.contains(listener):
      accepted(connection, from: address)
    case .drained: fill()
    default: break
    }
    peers.take(event) { take($0, tell) }
  }

  private func accepted(_ connection: LinuxIO.ConnectionID, from address: SocketAddress?) {
    count += 1
    if unknown.count >= Self.unknownLimit { peers.close(unknown.remove(at: crowding).name) }
    guard peers.accept(connection, from: address, as: count) else { return }
    unknown.append(
      Visitor(name: count, host: address?.host, until: HostClock.now + Self.unknownTime))
  }

  /// The oldest of the host that has most: one that begins connections without end displaces only its own.
  private var crowding: Int {
    let counts = Dictionary(grouping: unknown, by: \.host).mapValues(\.count)
    let most = counts.values.max()
    return unknown.firstIndex { counts[$0.host] == most } ?? 0
  }

  private func take(_ event: PeerConnections<Int>.Event, _ tell: (Event) -> Void) {
    switch event {
    case .connected(let name, let peer): connected(name, peer, tell)
    case .received(let name, let bytes):
      if name == link?.name { return received(bytes, tell) }
      if strangers.contains(where: { $0.name == name }) { tell(.strangerSaid(name, bytes)) }
    case .failed(let name, let reason), .closed(let name, let reason): ended(name, reason, tell)
    }
  }

  private func connected(_ name: Int, _ peer: SecuredPeer, _ tell: (Event) -> Void) {
    unknown.removeAll { $0.name == name }
    if peer.id == household {
      if let old = link?.name { peers.close(old) }
      begin(name, tell)
    } else if name == dialled?.name {
      dialled = nil
      peers.close(name)
      tell(.down(reason: "at its address another household answers"))
    } else if strangers.count >= Self.strangerLimit {
      peers.close(name)
    } else {
      let until = HostClock.now + Self.strangerTime
      strangers.append(Visitor(name: name, host: nil, until: until))
      tell(.stranger(name, peer))
    }
  }

  private func begin(_ name: Int, _ tell: (Event) -> Void) {
    link = (name, MessageFramer(limit: DaemonMessage.limit + 64), HostClock.now)
    (dialled, bulk, sent) = (nil, [], 0)
    tell(.up(from: peers.address(of: name)))
  }

  private func received(_ bytes: [UInt8], _ tell: (Event) -> Void) {
    guard let name = link?.name else { return }
    link?.heard = HostClock.now
    link?.framer.append(bytes)
    do throws(DecodeError) {
      // Whoever is told may end the link.
      while link?.name == name, let raw = try link?.framer.next() {
        tell(.message(try DaemonMessage(decoding: raw)))
      }
      fill()
    } catch {
      peers.close(name)
      ended(name, "it is another version of Tutti, or broken: \(error)", tell)
    }
  }

  private func ended(_ name: Int, _ reason: String, _ tell: (Event) -> Void) {
    unknown.removeAll { $0.name == name }
    if strangers.contains(where: { $0.name == name }) {
      strangers.removeAll { $0.name == name }
      return tell(.strangerLeft(name))
    }
    if name == dialled?.name {
      dialled = nil
      return tell(.down(reason: reason))
    }
    guard name == link?.name else { return }
    (link, bulk, sent) = (nil, [], 0)
    tell(.down(reason: reason))
  }

  // MARK: - Time

  /// After each wait.
  package func turn(_ tell: (Event) -> Void) {
    let now = HostClock.now
    if let old = link, old.heard + Self.silence <= now {
      peers.close(old.name)
      ended(old.name, "it does not answer", tell)
    }
    while let first = unknown.first, first.until <= now {
      unknown.removeFirst()
      peers.close(first.name)
    }
    while let first = strangers.first, first.until <= now {
      close(stranger: first.name)
      tell(.strangerLeft(first.name))
    }
    if let dialled, dialled.until <= now {
      peers.close(dialled.name)
      ended(dialled.name, "it does not answer", tell)
    }
    take(found.take().last, tell)
    fill()
    dial(at: now)
  }

  private func take(
    _ found: Result<[SocketAddress], HostResolver.Failure>?, _ tell: (Event) -> Void
  ) {
    guard let found else { return }
    isLookingUp = false
    switch found {
    case .success(let addresses): self.addresses = addresses
    case .failure(let failure): tell(.down(reason: "\(failure)"))
    }
  }

  private func dial(at now: LocalTime) {
    guard case .dials(let host, let port) = place, link == nil, dialled == nil, nextDial <= now
    else { return }
    nextDial = now + Self.dialInterval
    guard !addresses.isEmpty else { return lookUp(host, port) }
    var options = ConnectionOptions()
    options.answerTimeout = Self.silence
    options.keepAlive = .seconds(1)
    count += 1
    guard peers.connect(to: addresses.removeFirst(), as: count, options: options) else { return }
    dialled = (count, now + Self.silence)
  }

  /// Each time anew: the other machine may have got another address.
  private func lookUp(_ host: String, _ port: UInt16) {
    guard !isLookingUp else { return }
    isLookingUp = true
    let found = found
    do throws(IOError) {
      try HostResolver.resolve(host: host, port: port) { found.post($0) }
    } catch {
      isLookingUp = false
    }
  }
}
