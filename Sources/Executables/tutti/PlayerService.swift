import AvahiDiscovery
import Clock
import FFmpegSource
import Foundation
import LinuxIO
import Sender
import WireProtocol

/// Drives a `GroupSession`: sockets, discovery, the producer's thread, the control socket and the terminal, on
/// one thread.
final class PlayerService {
  /// Which rooms to play in: named ones are looked for until they are found or the patience is over.
  struct Wish {
    /// Names as given; empty means every receiver there is.
    var names: [String]
    /// Host and port as given with `--at`.
    var addresses: [(host: String, port: UInt16)]
    var usesDiscovery: Bool
  }

  /// How long a named room may take to appear.
  static let discoveryPatience = Nanoseconds.seconds(5)
  /// How long no room at all may be reached before it is given up.
  static let connectPatience = Nanoseconds.seconds(10)

  let reactor: Reactor
  private(set) var session: GroupSession
  private(set) var rooms: RoomConnections
  private var responder: TimeResponder
  private let clockSocket: DatagramID
  private var stamped: [TransmitID: (peer: SocketAddress, sequence: UInt32)] = [:]
  private let producer: ProducerThread
  private let batches: Inbox<ProducedBatch>
  private let notices: Inbox<SourceNotice>
  private let discovered: Inbox<ServiceBrowser.Event>
  private let resolved: Inbox<(room: RoomID, addresses: [SocketAddress])>
  private var browser: ServiceBrowser?
  private let state: StateDirectory
  private(set) var directory: RoomDirectory
  private let wish: Wish
  private let startedAt = HostClock.now
  private var candidates: [RoomID: [SocketAddress]] = [:]
  private var roomIDs: [String: RoomID] = [:]
  private var unfound: [String]
  private var lastRoom = 0
  private(set) var failure: Failure?
  var onEvent: (SenderEvent) -> Void = { _ in }
  var onNotice: (SourceNotice) -> Void = { _ in }
  /// For the exit code: whether anything sounded, any room was reached, and what went wrong first.
  private var hasSounded = false
  private var hasReachedRoom = false
  private var firstFailure: String?
  private var lastRefusal: CommandRefusal?

  init(
    state: StateDirectory, wish: Wish, playlist: Playlist, endsWithPlaylist: Bool = true,
    interruption: ReadInterruption,
    makeSerializer: @escaping @Sendable (_ notices: Inbox<SourceNotice>) -> Serializer
  ) throws {
    self.state = state
    self.wish = wish
    reactor = try Reactor()
    try reactor.watch(signals: [.interrupt, .terminate])
    clockSocket = try reactor.openDatagrams(on: .any(port: 0), trafficClass: .clock)
    let clockID = try SystemRandom.number()
    responder = TimeResponder(clockID: clockID)
    session = GroupSession(
      .init(
        senderID: try state.senderID(), senderName: ProcessInfo.processInfo.hostName,
        clockID: clockID, clockPort: reactor.localAddress(of: clockSocket)?.port ?? 0,
        firstSession: try SystemRandom.number(), endsWithPlaylist: endsWithPlaylist),
      playing: playlist)
    rooms = RoomConnections(reactor: reactor)
    batches = Inbox(limit: 64, waker: reactor.waker)
    discovered = Inbox(limit: 1024, waker: reactor.waker)
    resolved = Inbox(limit: 256, waker: reactor.waker)
    let notices = Inbox<SourceNotice>(limit: 64, waker: reactor.waker)
    self.notices = notices
    producer = ProducerThread(batches: batches, interruption: interruption)
    directory = RoomDirectory(remembered: state.rememberedRooms())
    unfound = wish.names
    try producer.start { makeSerializer(notices) }
  }

  /// Plays until the end, a stop, or a signal.
  func run(observer: PlayerDisplay) throws {
    let control = try ControlServer(path: state.controlSocket, reactor: reactor)
    startDiscovery()
    addRemembered()
    for (host, port) in wish.addresses { addRoom(host: host, port: port) }
    while !session.isFinished, failure == nil {
      let deadline = [
        session.nextDeadline, rooms.deadline, observer.nextDeadline, searchDeadline,
      ].compactMap { $0 }.min()
      for event in try reactor.wait(until: deadline)
      where !control.handle(event, self) && !observer.handle(event) {
        handle(event)
      }
      takeInboxes()
      checkSearch()
      observer.advance(to: HostClock.now)
      for (place, reason) in rooms.advance(to: HostClock.now) {
        handle(.closed(place.room, place.channel, reason: reason))
      }
      rooms.pace(at: HostClock.now, needed: session.mediaByteRate)
      reportDrained()
      handle(.timeout)
    }
    try farewell()
  }

  /// Gives what was sent last a moment to leave.
  private func farewell() throws {
    let until = HostClock.now + .milliseconds(200)
    while HostClock.now < until, rooms.isSending { _ = try reactor.wait(until: until) }
    producer.stop()
    state.remember(directory.records)
    if let failure { throw failure }
  }

  func stop() { handle(.command(.stop)) }

  /// Throws where the session refuses it.
  func carryOut(_ command: PlayerCommand) throws(Failure) {
    lastRefusal = nil
    handle(.command(command))
    if let lastRefusal { throw Failure(.usage, lastRefusal.sentence) }
  }

  // MARK: - Session

  func handle(_ input: GroupSession.Input) {
    session.handle(input, at: HostClock.now)
    while let output = session.nextOutput() { carryOut(output) }
  }

  private func carryOut(_ output: GroupSession.Output) {
    switch output {
    case .connect(let room, let channel):
      rooms.dial(
        .init(room: room, channel: channel), candidates: candidates[room] ?? [],
        at: HostClock.now)
    case .send(let room, let channel, let bytes):
      rooms.send(bytes, to: .init(room: room, channel: channel))
    case .close(let room, let channel): rooms.close(.init(room: room, channel: channel))
    case .produce(let order): producer.carryOut(order)
    case .event(let event):
      note(event)
      onEvent(event)
    }
  }

  private func note(_ event: SenderEvent) {
    switch event {
    case .itemStarted: hasSounded = true
    case .roomConnected: hasReachedRoom = true
    case .itemFailed(_, let error): firstFailure = firstFailure ?? "\(error)"
    case .finished:
      if !hasSounded, let firstFailure { failure = Failure(.noInput, firstFailure) }
    case .refused(let refusal): lastRefusal = refusal
    case .roomGone, .roomUnreachable, .roomRefused, .roomState, .started, .paused, .resumed,
      .itemDescribed, .itemEnded, .playlistChanged, .recoded, .position, .stopped:
      break
    }
  }

  private func reportDrained() {
    for room in session.roomsAwaitingDrain
    where rooms.queuedBytes(on: .init(room: room, channel: .media)) <= 16 << 10 {
      handle(.drained(room))
    }
  }

  // MARK: - Events

  private func handle(_ event: ReactorEvent) {
    switch event {
    case .connected(let id):
      if let place = rooms.connected(id) { handle(.connected(place.room, place.channel)) }
    case .connectFailed(let id, let error):
      rooms.failed(id, error.text, at: HostClock.now)
    case .received(let id, let bytes):
      if let place = rooms.place(of: id) { handle(.received(place.room, place.channel, bytes)) }
    case .closed(let id, let reason):
      if let place = rooms.closed(id) {
        handle(.closed(place.room, place.channel, reason: "\(reason)"))
      }
    case .datagram(_, let datagram): answer(datagram)
    case .transmitted(_, let stamp): transmitted(stamp)
    case .signal: stop()
    case .drained, .woken, .accepted, .acceptFailed, .readable: break
    }
  }

  private func answer(_ datagram: Datagram) {
    let answer = responder.answer(
      datagram.bytes, from: "\(datagram.from)", receivedAt: datagram.receivedAt, now: HostClock.now)
    guard let answer,
      let id = try? reactor.send(answer.bytes, to: datagram.from, from: clockSocket)
    else { return }
    stamped[id] = (datagram.from, answer.sequence)
    // Stamps come at once or never; what is older is of no use.
    if stamped.count > 512 { stamped = [id: (datagram.from, answer.sequence)] }
  }

  private func transmitted(_ stamp: TransmitStamp) {
    guard let (peer, sequence) = stamped[stamp.id] else { return }
    responder.transmitted(to: "\(peer)", sequence: sequence, at: stamp.at)
  }

  private func takeInboxes() {
    for batch in batches.take() { handle(.produced(batch)) }
    for notice in notices.take() { onNotice(notice) }
    for event in discovered.take() { discovered(event) }
    for (room, addresses) in resolved.take() {
      candidates[room] = addresses
      handle(.roomSeen(room))
    }
  }

  // MARK: - Rooms

  private func startDiscovery() {
    guard wish.usesDiscovery else { return }
    browser = try? ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id"
    ) { [discovered] event in discovered.post(event) }
  }

  private func discovered(_ event: ServiceBrowser.Event) {
    switch event {
    case .found(let service), .updated(let service):
      guard let record = directory.found(service) else { return }
      if let room = roomIDs[record.id] {
        candidates[room] = record.socketAddresses
        handle(.roomSeen(room))
      } else if isWanted(record) {
        addRoom(record)
      }
    case .lost(let service): directory.gone(serviceNamed: service.name)
    case .daemonAppeared, .daemonVanished, .settled, .failed: break
    }
  }

  private func isWanted(_ record: RoomRecord) -> Bool {
    if wish.names.isEmpty { return wish.addresses.isEmpty }
    return wish.names.contains { name in directory.matches(name).map(\.id) == [record.id] }
  }

  /// A room that was seen before is tried at its old address at once.
  private func addRemembered() {
    for name in wish.names {
      let matches = directory.matches(name)
      if matches.count == 1, let record = matches.first { addRoom(record) }
    }
  }

  private func addRoom(_ record: RoomRecord) {
    guard roomIDs[record.id] == nil else { return }
    let room = nextRoom()
    roomIDs[record.id] = room
    candidates[room] = record.socketAddresses
    unfound.removeAll { name in directory.matches(name).contains { $0.id == record.id } }
    handle(.roomAdded(room, name: record.name, receiverID: Identifier(hex: record.id)))
  }

  private func addRoom(host: String, port: UInt16) {
    let room = nextRoom()
    let address = SocketAddress(host: host, port: port)
    candidates[room] = address.map { [$0] }
    handle(.roomAdded(room, name: "\(host):\(port)", receiverID: nil))
    if address != nil { return }
    let resolved = resolved
    do {
      try HostResolver.resolve(host: host, port: port) { result in
        resolved.post((room, (try? result.get()) ?? []))
      }
    } catch {
      failure = Failure(.internalError, "\(error)")
    }
  }

  private func nextRoom() -> RoomID {
    lastRoom += 1
    return RoomID(lastRoom)
  }

  private var searchDeadline: LocalTime? {
    if !unfound.isEmpty || lastRoom == 0 { return startedAt + Self.discoveryPatience }
    return hasReachedRoom ? nil : startedAt + Self.connectPatience
  }

  /// Ends with a clear line where a room does not appear.
  private func checkSearch() {
    guard let deadline = searchDeadline, deadline <= HostClock.now else { return }
    if unfound.isEmpty, lastRoom > 0 {
      let rooms = session.status(at: HostClock.now).rooms.map(\.explanation)
      failure = Failure(.unavailable, "no room could be reached: " + rooms.joined(separator: "; "))
      return
    }
    let present = directory.present.map(\.name).joined(separator: ", ")
    let there = present.isEmpty ? "no receiver was found" : "found: \(present)"
    guard let name = unfound.first else {
      failure = Failure(
        .unavailable,
        "no receiver was found; start tutti-receiver in a room, or name one with --at host:port")
      return
    }
    let twins = directory.matches(name)
    failure =
      twins.count > 1
      ? Failure(
        .usage,
        "there are \(twins.count) rooms called \(name); say which: "
          + twins.map { "\($0.name)#\($0.id.prefix(4))" }.joined(separator: ", "))
      : Failure(.unavailable, "no room called \(name) (\(there)); see: tutti receivers")
  }

  func selection(_ name: String?) throws(Failure) -> RoomSelection {
    guard let name else { return .all }
    let rooms = session.status(at: HostClock.now).rooms
    guard let room = rooms.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      let names = rooms.map(\.name).joined(separator: ", ")
      throw Failure(.unavailable, "not playing in a room called \(name), but in: \(names)")
    }
    return .room(room.id)
  }
}

extension GroupStatus.Room {
  fileprivate var explanation: String {
    if case .away(let reason) = connection { return "\(name): \(reason)" }
    return "\(name): no answer"
  }
}

extension RoomRecord {
  var socketAddresses: [SocketAddress] {
    addresses.compactMap { SocketAddress(host: $0, port: port) }
  }
}
