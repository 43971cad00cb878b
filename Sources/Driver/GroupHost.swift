import AvahiDiscovery
package import Clock
package import LinuxIO
package import OpenSSLSecurity
package import Pairing
package import Sender
package import WireProtocol

/// The parts that all groups of one process share: the event loop, the clock's socket, the connections, the look-up of
/// names and discovery. It is a member of an `EventLoop`, whose thread alone may call it.
package final class GroupHost: LoopMember {
  /// A connection to a room, by its group's number for it.
  struct Line: Hashable, Sendable {
    var group: Int
    var connection: RoomConnectionID
  }

  /// An answer to a time request whose transmit stamp is awaited.
  private struct Answer {
    var group: Int
    var peer: SocketAddress
    var sequence: UInt32
  }

  private struct Member {
    let number: Int
    weak var group: GroupDriver?
  }

  /// Connections to rooms at a time, of all groups: two to each room, and the attempts.
  static let connectionLimit = 1024
  /// Requests for the time may wait this long, so that those of many rooms are answered at once. The kernel has stamped
  /// them, and the wait is in no round trip; it is short, because clocks run apart by 100 ns in a millisecond.
  private static let clockRest = Nanoseconds.milliseconds(6)
  /// Answers to look-ups of names that were not taken yet; each room has one at a time.
  private static let lookupLimit = 1024

  package let reactor: Reactor
  package private(set) var directory: RoomDirectory
  /// Something is wrong around the rooms, in one line; each is told once.
  package var onWarning: (String) -> Void = { _ in }
  /// Called when more, less or something else is known of the receivers on this network.
  package var onDiscovery: () -> Void = {}
  /// A room's time request was answered, with its number.
  package var onTimeRequest: (UInt32) -> Void = { _ in }
  /// True to go on without any group, until `end`.
  package var outlivesGroups = false
  let peers: PeerConnections<Line>
  let hosted: HostedConnections<Line>
  /// Derived from the host's key, and so the same for all groups.
  package let senderID: Identifier
  /// The term in which this daemon leads its household; 0 if it has no second one.
  let term: Term
  /// A room obeys another daemon, of this higher term.
  package var onOutdated: (Term) -> Void = { _ in }
  private let clockSocket: DatagramID
  /// Rooms ask on it for the packets of live streams, which leave from it.
  private let liveSocket: DatagramID
  private var stamped = AwaitedStamps<Answer>()
  private let discovered: ServiceNews
  private let resolved: Inbox<(group: Int, room: RoomID, found: [SocketAddress], failure: String?)>
  private var search = RoomSearch()
  private var suspends = SuspendDetector()
  /// Raises the priority of the loop's thread, from which live streams leave.
  private var urgency = ThreadUrgency(priority: LiveFeed.priority)
  /// In the order in which they joined.
  private var members: [Member] = []
  private var lastMember = 0

  /// `security` holds the key by which rooms know this machine; `term` is that of a household with two daemons.
  package init(
    reactor: Reactor, security: TLSContext, remembered: [RoomRecord] = [],
    paired: Pairings = Pairings(), term: Term = 0
  ) throws(IOError) {
    self.reactor = reactor
    self.term = term
    senderID = security.identifier
    directory = RoomDirectory(remembered: remembered, paired: paired)
    peers = PeerConnections(
      reactor: reactor, limit: Self.connectionLimit, secure: security.channel)
    hosted = HostedConnections(senderID: security.identifier, waker: reactor.waker)
    clockSocket = try reactor.openDatagrams(
      on: .any(port: 0), trafficClass: .clock, rest: Self.clockRest)
    liveSocket = try reactor.openDatagrams(on: .any(port: 0), trafficClass: .audio)
    resolved = Inbox(limit: Self.lookupLimit, waker: reactor.waker)
    let waker = reactor.waker
    discovered = ServiceNews(identifierKey: "id") { waker.wake() }
  }

  deinit {
    reactor.close(clockSocket)
    reactor.close(liveSocket)
  }

  private var groups: [GroupDriver] { members.compactMap(\.group) }

  var clockPort: UInt16 { reactor.localAddress(of: clockSocket)?.port ?? 0 }
  var livePort: UInt16 { reactor.localAddress(of: liveSocket)?.port ?? 0 }

  /// Returns the group's number.
  func join(_ group: GroupDriver) -> Int {
    lastMember += 1
    members.append(Member(number: lastMember, group: group))
    return lastMember
  }

  /// The last group gives what was sent a moment to leave; the others play on, and it leaves meanwhile.
  func leave(_ number: Int) throws(IOError) {
    members.removeAll { $0.number == number || $0.group == nil }
    if members.isEmpty, !outlivesGroups { try end() }
  }

  /// Ends discovery, and gives what was sent a moment to leave.
  package func end() throws(IOError) {
    search.end()
    try peers.drain(for: .milliseconds(200))
  }

  // MARK: - Event loop

  /// When `wait` must end if nothing else happens first.
  package var nextDeadline: LocalTime? {
    (groups.map(\.groupDeadline) + [search.deadline]).compactMap { $0 }.min()
  }

  @discardableResult
  package func handle(_ event: ReactorEvent) -> Bool {
    noteSuspend()
    peers.take(event, handle)
    switch event {
    case .datagram(let id, let datagram) where id == clockSocket: answer(datagram)
    case .datagram(let id, let datagram) where id == liveSocket: asked(datagram)
    case .transmitted(let id, let stamp) where id == clockSocket: transmitted(stamp)
    case .drained: for group in groups { group.noteNews() }
    default: break
    }
    return false
  }

  private func handle(_ event: HostedConnections<Line>.Event) {
    switch event {
    case .peer(let event): handle(event)
    case .timeRequest(let bytes, let address, let time):
      answer(Datagram(bytes: bytes, from: address, receivedAt: time, hasKernelStamp: true))
    case .ask(let bytes, let address, let time):
      asked(Datagram(bytes: bytes, from: address, receivedAt: time, hasKernelStamp: true))
    case .drained: for group in groups { group.noteNews() }
    }
  }

  private func handle(_ event: PeerConnections<Line>.Event) {
    switch event {
    case .connected(let line, let peer):
      group(line.group)?.handle(
        .connected(line.connection, peer, proof: LocalProof.proof(to: peer)))
    case .failed(let line, let reason):
      group(line.group)?.handle(.connectFailed(line.connection, reason: reason))
    case .received(let line, let bytes):
      group(line.group)?.handle(.received(line.connection, bytes))
    case .closed(let line, let reason):
      group(line.group)?.handle(.closed(line.connection, reason: reason))
    }
  }

  /// After the events of each `wait`: takes what other threads have made, and what time has brought.
  package func turn() {
    noteSuspend()
    for event in discovered.take() { discovered(event) }
    continueSearch()
    for event in hosted.take() { handle(event) }
    for (number, room, found, failure) in resolved.take() {
      group(number)?.handle(.lookedUp(room, found, failure: failure))
    }
    let groups = groups
    let shares = StoreBudget.shares(held: groups.map(\.heldBytes))
    for (group, share) in zip(groups, shares) { group.takeTurn(storeLimit: share) }
    urgency.follow(groups.contains(where: \.isLive))
  }

  private func group(_ number: Int) -> GroupDriver? {
    members.first { $0.number == number }?.group
  }

  /// The rooms play on while this machine sleeps, and its clock does not: everything must hear of it first.
  func noteSuspend() {
    guard let span = suspends.suspendedSinceLastCall() else { return }
    for group in groups { group.handle(.resumedFromSuspend(after: span)) }
  }

  // MARK: - Clock

  /// Each group has a clock of its own, by which a request says whom it is for.
  private func answer(_ datagram: Datagram) {
    for member in members {
      guard let answer = member.group?.answer(datagram) else { continue }
      onTimeRequest(answer.sequence)
      if let left = hosted.send(datagram: answer.bytes, to: datagram.from) {
        member.group?.transmitted(to: datagram.from, sequence: answer.sequence, at: left)
        return
      }
      let sent = try? reactor.send(answer.bytes, to: datagram.from, from: clockSocket)
      guard let sent else { return }
      let awaited = Answer(
        group: member.number, peer: datagram.from, sequence: answer.sequence)
      return stamped.note(sent, for: awaited)
    }
  }

  private func transmitted(_ stamp: TransmitStamp) {
    guard let answer = stamped[stamp.id] else { return }
    group(answer.group)?.transmitted(to: answer.peer, sequence: answer.sequence, at: stamp.at)
  }

  // MARK: - Live streams

  private func asked(_ datagram: Datagram) {
    for group in groups where group.ask(datagram) { return }
  }

  /// A packet that cannot leave at once is lost, as on the way: the room asks for it again.
  func sendAudio(_ bytes: [UInt8], to address: SocketAddress) {
    if hosted.send(datagram: bytes, to: address) != nil { return }
    _ = try? reactor.send(bytes, to: address, from: liveSocket)
  }

  // MARK: - Finding rooms

  /// Rooms that are found are added to the group that wants them, and those that play are found again at new addresses.
  package func startDiscovery() {
    search.begin(at: HostClock.now)
    continueSearch()
  }

  private func continueSearch() {
    guard search.isDue(at: HostClock.now) else { return }
    directory.allGone()
    search.start(at: HostClock.now) { [discovered] event in discovered.post(event) }
  }

  private func discovered(_ event: ServiceBrowser.Event) {
    switch event {
    case .found(let service), .updated(let service):
      if let record = directory.found(service) { found(record) }
      for line in directory.takeWarnings() { onWarning(line) }
    case .lost(let service):
      directory.gone(serviceNamed: service.name)
      let present = Set(directory.present.map(\.id))
      for group in groups { group.removeLost(present: present) }
    case .failed: search.failed(at: HostClock.now)
    case .daemonAppeared, .daemonVanished, .settled: break
    }
    onDiscovery()
  }

  /// A room plays in one group at a time: another one does not take it because it was found.
  private func found(_ record: RoomRecord) {
    let owners = groups.filter { $0.plays(record) }
    for group in owners { group.seen(record) }
    if owners.isEmpty, let group = groups.first(where: { $0.looksFor(record) }) {
      group.foundNew(record)
    }
  }

  /// This machine is paired with these receivers from now on.
  package func trust(_ pairings: Pairings) { directory.paired = pairings }

  /// A receiver that somebody else has found.
  package func know(_ record: RoomRecord) {
    let before = directory.records
    directory.know(record)
    if directory.records != before { onDiscovery() }
  }

  func isCrowded() { search.isCrowded(onWarning) }

  /// A session was held with these receivers.
  func met(_ id: String) { directory.met(id) }

  /// The answer goes to the group of this number, in a later turn.
  func lookUp(_ host: RoomHost, of room: RoomID, in group: Int) {
    let resolved = resolved
    do throws(IOError) {
      try HostResolver.resolve(host: host.name, port: host.port) { result in
        switch result {
        case .success(let found): resolved.post((group, room, found, nil))
        case .failure(let failure): resolved.post((group, room, [], "\(failure)"))
        }
      }
    } catch {
      resolved.post((group, room, [], "\(error)"))
    }
  }
}
