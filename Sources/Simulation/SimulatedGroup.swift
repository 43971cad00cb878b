package import Audio
package import Clock
import Disturbances
package import Pairing
package import Receiver
package import Sender
package import WireProtocol

/// A whole group in one thread: the real sender and receivers, on simulated machines, networks and sound cards. Events
/// are ordered by true time, then by insertion, and one seed decides everything.
package final class SimulatedGroup {
  package struct Room: Sendable {
    package var path: PathQuality
    package var host: SimulatedHost.Quality
    package var card: CardQuality
    package var capacity = Capacity(bytes: 8 << 20, duration: .seconds(40))
    /// The room's codecs; besides PCM, it can have `SignalPackets.codec`.
    package var codecs = [Codec.pcm]
    /// Codecs of these whose decoder turns out to be missing when it is needed.
    package var missingDecoders: [Codec] = []
    /// Initially the room is paired with the sender, and has no PIN.
    package var trust = TrustMemory(
      pairings: Pairings([.init(id: .simulatedSender, name: "sender")]))
    package var whenBusy = BusyPolicy.refuse

    package init(path: PathQuality, host: SimulatedHost.Quality, card: CardQuality) {
      self.path = path
      self.host = host
      self.card = card
    }
  }

  package struct Configuration: Sendable {
    package var seed: UInt64
    package var senderHost: SimulatedHost.Quality
    package var rooms: [Room]
    /// Frames of each item at 8 kHz; nil never ends.
    package var items: [Int64?] = [nil]
    /// True if items' packets are passed on to rooms that decode them. Only with exact samples.
    package var passesPackets = false
    /// True if rooms with weak links get a small encoding. Only with exact samples that do not tell their item.
    package var makesSmall = false
    /// Seconds that the small encoding of a second of music takes.
    package var smallTime = 0.02
    /// True if samples are made and checked one by one; otherwise only their positions are planned.
    package var isExact = true
    /// Bytes of a packet of samples that are only planned, at least 2; not of a live item.
    package var plannedPacketBytes = 2
    /// True if samples also tell their item: the microphone then keeps an `ItemTrace`. Only with exact samples.
    package var tellsItems = false
    /// True if the group ends with its list.
    package var endsWithPlaylist = true
    /// True if the list begins again after its end.
    package var repeatsPlaylist = false
    /// Interval of the microphone's measurements.
    package var interval = Nanoseconds.milliseconds(20)
    /// Time that the producer takes for an order.
    package var productionTime = Nanoseconds.milliseconds(3)
    /// Time that the sender's disk takes for what a successor must know.
    package var keepingTime = Nanoseconds.milliseconds(2)
    /// True if the packets of all rooms come through the first room's downlink.
    package var sharesDownlink = false
    /// Profile of the sender, and of all rooms and their cards.
    package var profile = LatencyProfile.deep {
      didSet { for room in rooms.indices { rooms[room].card.profile = profile } }
    }
    /// Priority of the sender.
    package var priority = Hello.usualPriority
    /// Nil if nobody pairs.
    package var arithmetic: (any PairingArithmetic)?
    /// Nil if all of an item is available at once.
    package var delivery: SimulatedDelivery?
    /// Nil if no item is live.
    package var live: SimulatedLive?
    /// The machine of the household's second daemon; nil if there is none.
    package var secondHost: SimulatedHost.Quality?

    package init(seed: UInt64, senderHost: SimulatedHost.Quality, rooms: [Room]) {
      self.seed = seed
      self.senderHost = senderHost
      self.rooms = rooms
    }

    var channelCount: Int {
      guard isExact else { return 1 }
      return tellsItems ? TestSignal.itemChannelCount : TestSignal.channelCount
    }
  }

  enum Event {
    case wakeSender(Int)
    case wakeRoom(Int)
    case turn(room: Int, plan: Int)
    case arrived(SimulatedConnection, toRoom: Bool, SimulatedConnection.Payload)
    case dialed(SimulatedConnection, attempt: Int)
    case accepted(SimulatedConnection)
    case established(SimulatedConnection)
    case dialFailed(SimulatedConnection)
    case released(SimulatedConnection)
    case request(room: Int, process: Int, [UInt8], arrivedAt: TrueTime, daemon: Int)
    case answer(room: Int, process: Int, [UInt8], arrivedAt: TrueTime)
    case requestLeft(room: Int, process: Int, sequence: UInt32, at: TrueTime)
    case produced(ProductionOrder, process: Int)
    case opened(room: Int, attempt: Int)
    case action((SimulatedGroup) -> Void)
  }

  package let configuration: Configuration
  package private(set) var now = TrueTime.zero
  package let microphone: Microphone
  package internal(set) var digest = Digest()
  /// Broken promises of the programs, in plain words.
  package private(set) var violations: [String] = []
  package internal(set) var senderEvents: [(at: TrueTime, event: SenderEvent)] = []
  package internal(set) var pairingReports: [(at: TrueTime, report: PairingReport)] = []
  var visitors: [SimulatedVisitor] = []
  package private(set) var eventCount = 0
  private var commandCount: UInt64 = 0
  /// Called after each input of the sender, with its session and the time.
  package var onSenderTurn: ((GroupSession, LocalTime) -> Void)?
  var queue = EventQueue<Event>()
  /// One, or the two of a household.
  let daemons: [SimulatedDaemon]
  var rooms: [SimulatedRoom] = []
  /// Number of audio datagrams that the sender has sent.
  package internal(set) var audioCount = 0
  var connectionCount = 0
  var processCount = 0
  /// Questions of the present rounds that rooms have not answered, by their connections.
  var termQuestions: [Int: TermQuestion] = [:]
  /// True if the two daemons cannot talk to each other.
  var isLinkCut = false
  /// Faults of daemons that are not over, by their numbers.
  var daemonFaults: [Int: (daemon: Int, fault: Disturbance.DaemonFault)] = [:]
  var faultCount = 0
  /// For the time that words between them take.
  var linkRandom: SplitMix64
  /// The daemons that began to lead, in order.
  package internal(set) var takeovers: [(at: TrueTime, daemon: Int, term: Term)] = []
  /// Wake-ups in the present second of true time, by program, the senders last.
  private var wakes: [(second: Int64, count: Int)]

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    linkRandom = SplitMix64(seed: configuration.seed, part: 4000)
    daemons = SimulatedDaemon.all(configuration)
    let host = daemons[0].host
    wakes = Array(repeating: (0, 0), count: configuration.rooms.count + daemons.count)
    microphone = Microphone(
      roomCount: configuration.rooms.count, interval: configuration.interval,
      groupTime: { host.value.groupTime(at: $0) })
    for (index, room) in configuration.rooms.enumerated() {
      let shared = configuration.sharesDownlink ? rooms.first?.down : nil
      rooms.append(
        SimulatedRoom(room, index: index, seed: configuration.seed, sharing: shared))
      startReceiver(index)
    }
    if daemons.count > 1 {
      startDaemons()
    } else {
      startSender()
      for index in rooms.indices { add(index, to: 0) }
    }
  }

  /// Runs until `seconds` of true time have passed.
  package func run(until seconds: Double) {
    let end = TrueTime(seconds: seconds)
    while let time = queue.nextTime, time <= end, let next = queue.removeFirst() {
      now = max(now, next.time)
      eventCount += 1
      take(next.event)
    }
    now = max(now, end)
    for room in rooms { tellHeard(in: room) }
  }

  /// Does something to the group at a true time.
  package func at(_ seconds: Double, _ action: @escaping (SimulatedGroup) -> Void) {
    queue.insert(.action(action), at: TrueTime(seconds: seconds))
  }

  func schedule(_ event: Event, at time: TrueTime) { queue.insert(event, at: max(time, now)) }

  /// Counts wake-ups, because a program that wakes again and again keeps a machine from sleeping. Decoding eight
  /// packets at a time takes a hundred turns at most.
  private func noteWake(of program: Int, _ name: String) {
    let second = now.nanoseconds / 1_000_000_000
    if wakes[program].second != second { wakes[program] = (second, 0) }
    wakes[program].count += 1
    if wakes[program].count == 2_000 { violated("\(name) never sleeps") }
  }

  func violated(_ promise: String) {
    guard violations.count < 100 else { return }
    violations.append("at \(now.seconds) s: \(promise)")
  }

  // MARK: - Events

  private func take(_ event: Event) {
    if let until = frozenUntil(for: event), until > now { return postpone(event, to: until) }
    switch event {
    case .wakeSender(let daemon):
      guard daemons[daemon].sender?.nextWake == now else { return }
      noteWake(of: rooms.count + daemon, "the sender")
      serveSender([], of: daemon)
    case .wakeRoom(let room):
      guard rooms[room].nextWake == now else { return }
      noteWake(of: room, "room \(room)")
      serve(room, [])
    case .turn(let room, let plan): turn(room, plan)
    case .arrived(let connection, let toRoom, let payload):
      arrived(payload, on: connection, toRoom: toRoom)
    case .dialed(let connection, let attempt): dialed(connection, attempt: attempt)
    case .accepted(let connection): accepted(connection)
    case .established(let connection): established(connection)
    case .dialFailed(let connection): dialFailed(connection)
    case .released(let connection): released(connection)
    case .request(let room, let process, let bytes, let time, let daemon):
      answer(bytes, from: room, process: process, arrivedAt: time, by: daemon)
    case .answer(let room, let process, let bytes, let time):
      guard rooms[room].process == process else { return }
      let stamp = rooms[room].host.local(at: time)
      serve(room, [.datagram(bytes, receivedAt: stamp)])
    case .requestLeft(let room, let process, let sequence, let time):
      guard rooms[room].process == process else { return }
      noteTransmission(of: sequence, at: time, room)
    case .produced(let order, let process): produced(order, process: process)
    case .opened(let room, let attempt): deviceOpened(room, attempt)
    case .action(let action): action(self)
    }
  }

  private func postpone(_ event: Event, to time: TrueTime) {
    switch event {
    case .wakeSender(let daemon):
      guard let sender = daemons[daemon].sender, sender.nextWake == now else { return }
      sender.nextWake = time
    case .wakeRoom(let room):
      guard rooms[room].nextWake == now else { return }
      rooms[room].nextWake = time
    default: break
    }
    queue.insert(event, at: time)
  }

  /// Returns until when the event's machine stands still; it handles its events afterwards.
  private func frozenUntil(for event: Event) -> TrueTime? {
    switch event {
    case .wakeSender(let daemon), .request(_, _, _, _, let daemon):
      daemons[daemon].host.value.frozenUntil
    case .produced(_, let process): daemon(of: process).host.value.frozenUntil
    case .established(let connection), .dialFailed(let connection), .released(let connection):
      daemons[connection.daemon].host.value.frozenUntil
    case .wakeRoom(let room), .turn(let room, _), .answer(let room, _, _, _),
      .requestLeft(let room, _, _, _), .opened(let room, _):
      rooms[room].host.frozenUntil
    case .accepted(let connection): rooms[connection.room].host.frozenUntil
    case .arrived(let connection, let toRoom, _):
      toRoom
        ? rooms[connection.room].host.frozenUntil
        : daemons[connection.daemon].host.value.frozenUntil
    case .dialed, .action: nil
    }
  }
}

// MARK: - Disturbances

extension SimulatedGroup {
  package func command(_ command: PlayerCommand) {
    commandCount += 1
    // People reach no daemon that has no network, or that sleeps.
    let daemon = daemons[leading]
    guard !daemon.isPartitioned, daemon.host.value.frozenUntil <= now else { return }
    serveSender([.command(CommandID(commandCount), command)], of: leading)
  }

  /// Replaces the properties of the room's link.
  package func change(_ room: Int, to path: PathQuality) {
    rooms[room].up.value.quality = path.up
    rooms[room].down.value.quality = path.down
    for connection in daemons.flatMap({ $0.sender?.connections ?? [] })
    where connection.room == room {
      bound(connection)
      released(connection)
    }
  }

  /// Cuts the network between the sender and a room.
  package func partition(_ room: Int) { rooms[room].isPartitioned = true }

  package func repair(_ room: Int) {
    rooms[room].isPartitioned = false
    release(room)
  }

  /// Ends the sender's program, and its connections with it.
  package func killSender() {
    for connection in sender?.connections ?? [] { letGo(connection, "killed") }
    if let list = sender?.session.playlist { killedList = list }
    sender = nil
  }

  package func killReceiver(_ room: Int) {
    for connection in rooms[room].accepted where connection.receiverHolds {
      end(connection, fromRoom: true, "killed")
    }
    tellHeard(in: rooms[room])
    rooms[room].stop()
  }

  /// Starts the receiver with its stored state, and announces it as a service again.
  package func restartReceiver(_ room: Int) {
    startReceiver(room)
    announce(room)
  }

  /// Announces its service.
  func announce(_ room: Int) {
    let announced = now + .milliseconds(100)
    queue.insert(
      .action { group in
        for daemon in group.daemons.indices {
          group.serveSender([.roomFound(RoomID(room + 1), at: ["\(room)"])], of: daemon)
        }
      }, at: announced)
  }

  /// Stops the whole machine, but its clock continues and its card plays its buffer.
  package func stall(_ room: Int, for span: Nanoseconds) {
    rooms[room].host.freeze(until: now + span)
  }

  /// Suspends the sender's machine with its clock. Afterwards it takes its sleep for longer than it was by `error`.
  package func suspendSender(for span: Nanoseconds, misjudgedBy error: Nanoseconds = .zero) {
    let end = now + span
    senderHost.value.freeze(until: end)
    senderHost.value.stepClock(by: -span, at: end)
    senderHost.value.reckonSleep(span + error, at: end)
    for room in rooms { room.partitionDuringSuspend = true }
    queue.insert(
      .action { group in
        for room in group.rooms.indices {
          group.rooms[room].partitionDuringSuspend = false
          group.release(room)
        }
        group.serveSender([.resumedFromSuspend(after: span + error)])
      }, at: end)
  }

  /// Suspends the machine with its clock and its card.
  package func suspend(_ room: Int, for span: Nanoseconds) {
    let end = now + span
    rooms[room].host.freeze(until: end)
    rooms[room].host.stepClock(by: -span, at: end)
    rooms[room].partitionDuringSuspend = true
    queue.insert(.action { $0.resume(room) }, at: end)
  }

  private func resume(_ room: Int) {
    rooms[room].partitionDuringSuspend = false
    release(room)
    serve(room, [.resumedFromSuspend])
  }

  /// Steps the room's clock, without telling anybody.
  package func stepClock(of room: Int, by span: Nanoseconds) {
    rooms[room].host.stepClock(by: span, at: now)
  }

  package func stepSenderClock(by span: Nanoseconds) {
    senderHost.value.stepClock(by: span, at: now)
  }

  /// Tells the sender of `bytes` more credit than the room has granted.
  package func overstateCredit(of room: Int, by bytes: UInt64) {
    guard var credit = rooms[room].lastCredit,
      let connection = rooms[room].accepted.first(where: {
        $0.channel == .control && $0.receiverHolds
      })
    else { return }
    credit.limit += bytes
    transmit(ControlMessage.credit(credit).encoded(), on: connection, toRoom: false)
  }

  package func unplug(_ room: Int) { lostCard(room, isPlugged: false) }

  package func plug(_ room: Int) {
    rooms[room].isPlugged = true
    if rooms[room].wantsCard { openCard(room) }
  }
}

// MARK: - Results

extension SimulatedGroup {
  package func status(of room: Int) -> RoomStatus? { rooms[room].lastStatus }
  package func events(of room: Int) -> [(at: TrueTime, event: ReceiverEvent)] { rooms[room].events }
  /// Returns the room's reports about the packets of a live stream.
  package func liveReports(of room: Int) -> [LiveReport] { rooms[room].liveReports }
  package func underruns(of room: Int) -> Int { rooms[room].underrunCount }
  /// Returns the true error of a room's clock estimate, in nanoseconds; positive if it is ahead.
  package func clockError(of room: Int) -> Nanoseconds? {
    guard let estimate = rooms[room].lastEstimate else { return nil }
    let local = rooms[room].host.local(at: now)
    return estimate.groupTime(of: local)
      - senderHost.value.groupTime(at: now)
  }
  package func clockErrorBound(of room: Int) -> Nanoseconds? {
    rooms[room].lastEstimate?.errorBound
  }
  /// The sender's session and the time on its clock; nil while it does not run.
  package var sending: (session: GroupSession, now: LocalTime)? {
    daemons[leading].sender.map { ($0.session, $0.host.value.local(at: now)) }
  }
  package var groupStatus: GroupStatus? {
    sending.map { $0.session.status(at: $0.now) }
  }
}
