internal import Audio
internal import Clock
internal import Driver
internal import LinuxIO
internal import OpenSSLSecurity
internal import Output
internal import ReceiverDriver
internal import Sender
internal import WireProtocol

/// The state and work of the engine's thread, which jobs may use. It never leaves that thread.
final class GroupLoop: LoopMember, RenderGroup {
  /// Longest wait of a group that could start for rooms that are not ready.
  private static let startGrace = LatencyProfile.deep.startGrace
  /// Longest host name in DNS, in bytes.
  private static let longestHost = 253

  let mailbox: Mailbox<GroupLoop>
  let driver: GroupDriver
  var observers = TimeObservers()
  var hearings = Hearings()
  private let host: GroupHost
  private let plan: GroupEngine.Plan
  /// Rooms by the program's identifiers.
  private(set) var rooms: [(id: Room.ID, room: RoomID)] = []
  /// Those in this program, also after they were removed: a recording goes on in its file.
  private var hosted: [HostedReceiver] = []
  private var primed: [Waiter] = []
  private var ended: [@Sendable () -> Void] = []

  typealias Condition = @Sendable (GroupLoop) -> Bool

  private struct Waiter {
    let number: Int
    let isPrimed: Condition
    let deadline: LocalTime?
    var since: LocalTime?
    let answer: @Sendable (Priming) -> Void
  }

  enum Priming: Sendable {
    case ready
    /// Not before the deadline.
    case overdue
    /// The group has ended, or nobody waits any more.
    case ended
  }

  init(
    _ plan: GroupEngine.Plan, encoders: EncoderChoice, key: IdentityKey
  ) throws(IOError) {
    self.plan = plan
    host = try GroupHost(reactor: Reactor(), security: try Self.security(key))
    mailbox = Mailbox(waker: host.reactor.waker)
    let open = plan.open
    driver = try GroupDriver(
      host: host,
      settings: .init(
        senderName: Self.bounded(plan.settings.senderName), endsWithPlaylist: false,
        startsHeld: true, holdsAtCuts: plan.holdsAtCuts),
      playlist: Playlist(plan.items), reads: plan.reads
    ) { report in
      Serializer(
        passesPackets: encoders.passesPackets,
        openSource: { item throws(MediaError) in try open(item, report) },
        applyEffects: { SourceOpener.filtered($0, $1, report: report) },
        makeEncoder: encoders.makeEncoder)
    }
    driver.holds = plan.onLatency
    driver.onEvent = { [unowned self] event in self.plan.onEvent(event, self) }
  }

  static func security(_ key: IdentityKey) throws(IOError) -> TLSContext {
    do throws(SecurityError) {
      return try TLSContext(key)
    } catch {
      throw IOError(call: "OpenSSL", code: 0, text: "\(error)")
    }
  }

  /// Returns as many characters of a name as fit.
  private static func bounded(_ name: String) -> String {
    var name = name
    while name.utf8.count > ProtocolLimits.name { name.removeLast() }
    return name
  }

  func run() {
    // If the event loop itself fails, the rooms can only play their buffers.
    try? EventLoop(host.reactor, [host, self]).run { driver.session.isFinished }
    mailbox.close(in: self)
    for waiter in primed { waiter.answer(.ended) }
    primed = []
    observers.finish()
    hearings.close()
    try? driver.end()
    for room in hosted { room.driver.end() }
    driver.onEvent = { _ in }
    // A waiter for the end finds that no more events come.
    plan.onEnd()
    for tell in ended { tell() }
  }

  var nextDeadline: LocalTime? {
    let rooms = hosted.map(\.driver.nextDeadline)
    return ([observers.deadline, hearings.deadline, primedDeadline, plan.deadline()] + rooms)
      .compactMap { $0 }.min()
  }

  func handle(_ event: ReactorEvent) -> Bool {
    for room in hosted { room.driver.handle(event) }
    return false
  }

  func turn() {
    for room in hosted { room.driver.turn() }
    mailbox.runJobs(in: self)
    // First the waiters, which know where time is to begin; enqueued audio only suggests it.
    answerPrimed()
    plan.onTurn(self)
    hearings.advance(session, at: now)
    observe()
  }

  func close() { driver.carryOut(.stop) }

  func whenEnded(_ tell: @escaping @Sendable () -> Void) { ended.append(tell) }

  // MARK: - Time

  private func observe() {
    guard !observers.isEmpty else { return }
    let now = HostClock.now
    let session = driver.session
    observers.advance(to: session.playhead(at: now), at: now) { position in
      session.presentationTime(of: position, at: now)
    }
  }

  var session: GroupSession { driver.session }
  var now: LocalTime { HostClock.now }
  @discardableResult
  func carryOut(_ command: PlayerCommand) -> CommandReply { driver.carryOut(command) }

  /// Answers once the condition holds, and all rooms are ready or the start timeout is over; or at the deadline, or when the
  /// group ends before. The condition is checked in each turn.
  func whenPrimed(
    _ number: Int, _ isPrimed: @escaping Condition, _ deadline: LocalTime?,
    _ answer: @escaping @Sendable (Priming) -> Void
  ) {
    primed.append(.init(number: number, isPrimed: isPrimed, deadline: deadline, answer: answer))
  }

  func stopWaiting(_ number: Int) {
    for waiter in primed where waiter.number == number { waiter.answer(.ended) }
    primed.removeAll { $0.number == number }
  }

  private func answerPrimed() {
    for index in primed.indices.reversed() {
      let now = now
      let since = primed[index].isPrimed(self) ? primed[index].since ?? now : nil
      primed[index].since = since
      if let since, driver.session.allRoomsAreReady || since + Self.startGrace <= now {
        primed.remove(at: index).answer(.ready)
      } else if primed[index].deadline.map({ $0 <= now }) ?? false {
        primed.remove(at: index).answer(.overdue)
      }
    }
  }

  private var primedDeadline: LocalTime? {
    let starts = primed.compactMap(\.since).map { $0 + Self.startGrace }
    return (starts + primed.compactMap(\.deadline)).min()
  }

  // MARK: - Rooms

  /// - Throws: `TuttiError.roomUnavailable` if it cannot be made.
  func add(_ room: Room) throws(TuttiError) {
    guard !rooms.contains(where: { $0.id == room.id }) else { return }
    if let hosting = room.hosting {
      try host(hosting)
    } else if let record = room.record {
      rooms.append((room.id, driver.addRoom(record)))
      host.startDiscovery()
    } else {
      rooms.append((room.id, try address(room)))
    }
  }

  private func address(_ room: Room) throws(TuttiError) -> RoomID {
    let host = room.addresses.first ?? ""
    guard !host.isEmpty, host.utf8.count <= Self.longestHost, room.port > 0 else {
      throw .roomUnavailable(
        "“\(room.id)” is no address of a room; give a host of up to \(Self.longestHost) bytes, and a port from 1 on"
      )
    }
    return driver.addRoom(host: host, port: room.port)
  }

  /// Makes a room in this program, or takes up one that was removed.
  private func host(_ hosting: RoomHosting) throws(TuttiError) {
    let before = hosted.first { $0.line.id.hex == hosting.hex }
    let receiver: HostedReceiver
    if let before {
      receiver = before
    } else {
      receiver = try Self.receiver(hosting, waker: host.reactor.waker)
      hosted.append(receiver)
    }
    rooms.append((hosting.hex, driver.addRoom(receiver.line, name: hosting.name)))
  }

  private static func receiver(
    _ hosting: RoomHosting, waker: Waker
  ) throws(TuttiError) -> HostedReceiver {
    do throws(SinkError) {
      try hosting.check()
    } catch {
      throw .roomUnavailable(
        "\(hosting.name): \(error); choose a file in a folder where this program may write")
    }
    do throws(IOError) {
      return try HostedReceiver(hosting, waker: waker)
    } catch {
      throw .roomUnavailable("\(hosting.name): this machine cannot host it: \(error)")
    }
  }

  /// Returns false if the room does not play here.
  func remove(_ id: Room.ID) -> Bool {
    guard let index = rooms.firstIndex(where: { $0.id == id }) else { return false }
    driver.removeRoom(rooms.remove(at: index).room)
    plan.onRemoval(id)
    return true
  }

  /// Returns all rooms if `id` is nil; nil if there is no such room.
  func selection(_ id: Room.ID?) -> RoomSelection? {
    guard let id else { return .all }
    return rooms.first { $0.id == id }.map { .room($0.room) }
  }

  func id(of room: RoomID) -> Room.ID { rooms.first { $0.room == room }?.id ?? "" }
}
