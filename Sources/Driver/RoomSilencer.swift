import AvahiDiscovery
import Clock
package import LinuxIO
package import OpenSSLSecurity
package import Pairing
package import Sender
import WireProtocol

/// Ends what rooms play from anywhere, also where the player that sent it is gone. `run` does it all, within seconds, on
/// the caller's thread.
package final class RoomSilencer {
  package struct Wish: Sendable {
    /// As given: `Kitchen`, `Kitchen#4f2a`, or an identity.
    package var names: [String]
    package var addresses: [(host: String, port: UInt16)]
    /// Every room that is found; the others are not needed then.
    package var isAll: Bool

    package init(
      names: [String] = [], addresses: [(host: String, port: UInt16)] = [], isAll: Bool = false
    ) {
      self.names = names
      self.addresses = addresses
      self.isAll = isAll
    }
  }

  /// The fate of one room.
  package struct Report: Sendable {
    /// As the room calls itself, or as it was asked for.
    package var name: String
    package var outcome: SilencedRoom.Outcome
  }

  /// Rooms that are there have been found by then; what is remembered is tried after it.
  private static let searchTime = Nanoseconds.milliseconds(1500)

  /// Sightings of discovery, and answers to look-ups of names, that wait to be taken.
  private static let sightingLimit = 1024
  private static let lookupLimit = 64

  private let reactor: Reactor
  private let discovered: Inbox<ServiceBrowser.Event>
  private let resolved: Inbox<(index: Int, addresses: [SocketAddress], failure: String?)>
  private var session: SilencingSession
  private var dialler = RoomDialler<SocketAddress>()
  private let peers: PeerConnections<RoomConnectionID>
  package private(set) var directory: RoomDirectory
  private var wish = Wish()
  private var candidates: [RoomID: [SocketAddress]] = [:]
  /// In the order in which they were found; a room that was tried in vain may be tried again.
  private var attempts: [(id: RoomID, key: String, report: Report?)] = []
  private var unresolved = 0

  package init(
    security: TLSContext, senderName: String, remembered: [RoomRecord],
    paired: Pairings = Pairings(), sparing receivers: [String] = []
  ) throws(IOError) {
    reactor = try Reactor()
    discovered = Inbox(limit: Self.sightingLimit, waker: reactor.waker)
    resolved = Inbox(limit: Self.lookupLimit, waker: reactor.waker)
    session = SilencingSession(
      senderID: security.identifier, senderName: senderName, clockID: try SystemRandom.number(),
      firstSession: try SystemRandom.number(),
      sparing: Set(receivers.compactMap { Identifier(hex: $0) }))
    peers = PeerConnections(
      reactor: reactor, limit: GroupHost.connectionLimit, secure: security.channel)
    directory = RoomDirectory(remembered: remembered, paired: paired)
  }

  /// Once. Names that nobody answers to come last.
  package func run(_ wish: Wish) throws(IOError) -> [Report] {
    self.wish = wish
    let browser = wish.isAll || !wish.names.isEmpty ? search() : nil
    defer { withExtendedLifetime(browser) {} }
    let searchEnd = HostClock.now + (browser == nil ? .zero : Self.searchTime)
    try resolveAddresses()
    var isSearching = true
    while isSearching || session.isBusy || unresolved > 0 {
      let deadline = [isSearching ? searchEnd : nil, session.nextDeadline, dialler.nextDeadline]
      for event in try reactor.wait(until: deadline.compactMap { $0 }.min()) { handle(event) }
      turn()
      guard isSearching, HostClock.now >= searchEnd || hasFoundAll else { continue }
      isSearching = false
      addRemembered()
    }
    try peers.drain(for: .milliseconds(500))
    return reports
  }

  private var reports: [Report] {
    var reports: [Report] = []
    for (index, attempt) in attempts.enumerated() {
      let isLast = !attempts[(index + 1)...].contains { $0.key == attempt.key }
      if isLast, let report = attempt.report { reports.append(report) }
    }
    for name in wish.names where !isFound(name) {
      let twins = directory.matches(name).count
      let reason =
        twins > 1
        ? "there are \(twins) rooms of this name; say which: "
          + directory.matches(name).map { "\($0.name)#\($0.id.prefix(4))" }.joined(separator: ", ")
        : "no room of this name was found"
      reports.append(Report(name: name, outcome: .unreachable(reason)))
    }
    return reports
  }

  // MARK: - Which rooms

  private func search() -> ServiceBrowser? {
    try? ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id"
    ) { [discovered] event in discovered.post(event) }
  }

  private func isFound(_ name: String) -> Bool {
    let matches = directory.matches(name)
    return matches.count == 1 && attempts.contains { $0.key == matches.first?.id }
  }

  private var hasFoundAll: Bool { !wish.isAll && wish.names.allSatisfy(isFound) }

  private func isWanted(_ record: RoomRecord) -> Bool {
    wish.isAll || wish.names.contains { directory.matches($0).map(\.id) == [record.id] }
  }

  private func discovered(_ event: ServiceBrowser.Event) {
    switch event {
    case .found(let service), .updated(let service):
      guard let record = directory.found(service), isWanted(record) else { return }
      let earlier = attempts.last { $0.key == record.id }
      if let earlier {
        guard case .unreachable? = earlier.report?.outcome,
          candidates[earlier.id] != record.socketAddresses
        else { return }
      }
      add(record)
    case .lost(let service): directory.gone(serviceNamed: service.name)
    case .daemonAppeared, .daemonVanished, .settled, .failed: break
    }
  }

  /// Those that discovery has not shown: it may not work here.
  private func addRemembered() {
    for record in directory.records
    where isWanted(record) && !attempts.contains(where: { $0.key == record.id }) {
      add(record)
    }
  }

  private func add(_ record: RoomRecord) {
    add(
      key: record.id, name: record.name, record.socketAddresses, Identifier(hex: record.id))
  }

  private func add(
    key: String, name: String, _ addresses: [SocketAddress], _ receiver: Identifier?
  ) {
    let id = RoomID(attempts.count + 1)
    attempts.append((id, key, nil))
    names[id] = name
    candidates[id] = addresses
    dialler.add(id, at: addresses)
    handle(.roomAdded(id, receiverID: receiver))
  }

  private var names: [RoomID: String] = [:]

  private func resolveAddresses() throws(IOError) {
    for (index, address) in wish.addresses.enumerated() {
      unresolved += 1
      let resolved = resolved
      try HostResolver.resolve(host: address.host, port: address.port) { result in
        switch result {
        case .success(let found): resolved.post((index, found, nil))
        case .failure(let failure): resolved.post((index, [], "\(failure)"))
        }
      }
    }
  }

  private func found(_ index: Int, _ addresses: [SocketAddress], _ failure: String?) {
    unresolved -= 1
    let (host, port) = wish.addresses[index]
    let name = "\(host):\(port)"
    guard let failure else { return add(key: name, name: name, addresses, nil) }
    attempts.append(
      (RoomID(attempts.count + 1), name, Report(name: name, outcome: .unreachable(failure))))
  }

  // MARK: - Session

  private func turn() {
    for event in discovered.take() { discovered(event) }
    for (index, addresses, failure) in resolved.take() { found(index, addresses, failure) }
    dialler.advance(to: HostClock.now)
    handle(.timeout)
  }

  private func handle(_ input: SilencingSession.Input) {
    session.handle(input, at: HostClock.now)
    while let output = session.nextOutput() {
      perform(output)
      dial()
    }
    dial()
  }

  private func perform(_ output: SilencingSession.Output) {
    switch output {
    case .connect(let room): dialler.dial(room, .control, at: HostClock.now)
    case .send(let room, let bytes):
      if let id = dialler.connection(to: room, .control) { peers.send(bytes, to: id) }
    case .close(let room): dialler.close(room, .control)
    case .done(let room, let silenced):
      guard let index = attempts.firstIndex(where: { $0.id == room }) else { return }
      attempts[index].report = Report(
        name: silenced.name ?? names[room] ?? "", outcome: silenced.outcome)
    }
  }

  private func dial() {
    while let output = dialler.nextOutput() {
      switch output {
      case .connect(let id, let address, _):
        guard !peers.connect(to: address, as: id) else { break }
        dialler.failed(id, "too many connections", at: HostClock.now)
      case .close(let id): peers.close(id)
      case .unreachable(let place, let reason): handle(.closed(place.room, reason: reason))
      case .lookUp: break
      }
    }
  }

  private func handle(_ event: ReactorEvent) { peers.take(event, handle) }

  private func handle(_ event: PeerConnections<RoomConnectionID>.Event) {
    switch event {
    case .connected(let id, let peer):
      if let place = dialler.connected(id) {
        handle(.connected(place.room, peer, proof: LocalProof.proof(to: peer)))
      }
    case .failed(let id, let reason): dialler.failed(id, reason, at: HostClock.now)
    case .received(let id, let bytes):
      if let place = dialler.place(of: id) { handle(.received(place.room, bytes)) }
    case .closed(let id, let reason):
      if let place = dialler.closed(id) { handle(.closed(place.room, reason: reason)) }
    }
  }
}
