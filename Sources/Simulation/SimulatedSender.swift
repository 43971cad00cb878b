import Audio
import Clock
package import Sender
import WireProtocol

/// The sender's program, from its start to its end. The addresses of rooms are their numbers.
final class SimulatedSender {
  var group: GroupSender<String>
  /// In the order in which they were begun.
  var connections: [SimulatedConnection] = []
  let serializer: Serializer
  let sources: Pointer<SignalSource?>
  /// The sender's time at which the order under way is carried out.
  let orderTime = Pointer(LocalTime(nanoseconds: 0))
  let process: Int
  /// It holds this sender.
  unowned let daemon: SimulatedDaemon
  let term: Term
  var nextWake: TrueTime?
  /// Orders that wait while one is carried out.
  var orders: [ProductionOrder] = []
  var isProducing = false
  /// The batch that the source has not delivered yet; nil if it owes none.
  var awaited: ProducedBatch?
  var deliveryCount = 0
  let smallEncoder: SmallEncoder

  /// - Parameter legacy: the list of a process that was killed, and the stream that this one goes on with, if it can.
  init(
    _ configuration: SimulatedGroup.Configuration, process: Int, random: inout SplitMix64,
    on daemon: SimulatedDaemon, term: Term = 0,
    after legacy: (list: Playlist, succession: StreamSuccession?)? = nil
  ) {
    (self.daemon, self.term) = (daemon, term)
    let clockID = random.next()
    let live = configuration.live
    let entries = configuration.items.enumerated().map { place, frames in
      PlaylistEntry(
        place == live?.item ? SimulatedLive.location : frames.map { "\($0)" } ?? "endless")
    }
    group = GroupSender(
      .init(
        senderID: .simulatedSender, senderName: "sender", clockID: clockID, clockPort: 4000,
        firstSession: random.next(), endsWithPlaylist: configuration.endsWithPlaylist,
        profile: configuration.profile, priority: configuration.priority,
        live: live.map { _ in
          LiveSecret(
            cipher: SimulatedCipher(), key: SimulatedLive.key, port: SimulatedLive.port)
        }, isKept: true, smallCodec: configuration.makesSmall ? SmallSignal.codec : nil,
        term: term),
      playing: legacy?.list
        ?? Playlist(entries, repetition: configuration.repeatsPlaylist ? .all : .off),
      succession: legacy?.succession)
    self.process = process
    smallEncoder = SmallEncoder(
      makeDecoder: { format throws(CodecError) in try SignalPackets.makeDecoder(format) },
      makeEncoder: { SmallSignal.Encoder($0) })
    let sources = Pointer<SignalSource?>(nil)
    self.sources = sources
    let isExact = configuration.isExact
    serializer = Serializer(
      passesPackets: configuration.passesPackets && isExact,
      openSource: { [orderTime] item in
        let timing = live.map {
          LiveTiming(
            firstHeard: orderTime.value + $0.latency, latency: $0.latency, adapts: $0.adapts)
        }
        let source = SignalSource(
          item: item.id, frameCount: Int64(item.location), configuration,
          live: item.location == SimulatedLive.location ? timing : nil)
        sources.value = source
        return source
      },
      makeEncoder: { shape in
        if isExact {
          return PCMEncoder(
            audio: shape.format, sampleType: shape.sampleType,
            packetFrames: shape.isLive ? shape.livePacketFrames : nil)
        }
        return SilenceEncoder(shape, packetBytes: configuration.plannedPacketBytes)
      })
  }
}

extension SimulatedSender {
  var session: GroupSession { group.session }
  var host: Pointer<SimulatedHost> { daemon.host }

  subscript(id: RoomConnectionID) -> SimulatedConnection? {
    connections.first { $0.senderID == id }
  }
}

extension Identifier {
  static func simulated(_ number: Int) -> Identifier {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    bytes[0] = UInt8(truncatingIfNeeded: number)
    bytes[1] = UInt8(truncatingIfNeeded: number >> 8)
    guard let identifier = Identifier(bytes) else { preconditionFailure("sixteen bytes") }
    return identifier
  }
}

extension SimulatedGroup {
  /// Starts the sender's program; after a kill it plays its items from the beginning, with another clock identity.
  package func startSender() {
    processCount += 1
    var random = SplitMix64(seed: configuration.seed, part: 2000 + UInt64(processCount))
    sender = SimulatedSender(
      configuration, process: processCount, random: &random, on: daemons[0])
    microphone.forgetSchedule()
  }

  /// Starts the sender's program after a kill. It goes on with the stream, if it can, and returns what became of that; nil
  /// if nothing was kept. Otherwise it begins where it would have gone on.
  @discardableResult
  package func restartSender() -> StreamFate? {
    processCount += 1
    var random = SplitMix64(seed: configuration.seed, part: 2000 + UInt64(processCount))
    let list = killedList
    let slept = senderHost.value.slept(at: now) - daemons[0].sleptWhenKept
    if let lead = kept?.clockLead { kept?.clockLead = lead + slept }
    let fate = kept.map { StreamFate(of: $0, in: list, at: senderHost.value.local(at: now)) }
    var succession: StreamSuccession?
    if case .goesOn(let found) = fate { succession = found }
    kept = succession?.claim
    sender = SimulatedSender(
      configuration, process: processCount, random: &random, on: daemons[0],
      after: (list, succession))
    if succession == nil { microphone.forgetSchedule() }
    for room in rooms where room.isMember { add(room.index, to: 0) }
    if case .beginsAnew(let entry, let position) = fate {
      command(.jump(to: entry, at: position))
    }
    return fate
  }

  func restartSenderWhenAwake() {
    let awake = senderHost.value.frozenUntil
    guard awake > now else {
      restartSender()
      return
    }
    queue.insert(.action { $0.restartSenderWhenAwake() }, at: awake + .milliseconds(1))
  }

  /// Adds the room to the group; does nothing if it is in it.
  package func addRoom(_ index: Int) {
    guard !rooms[index].isMember else { return }
    rooms[index].isMember = true
    for daemon in daemons.indices { add(index, to: daemon) }
  }

  /// Removes the room from the group, which plays on without it.
  package func removeRoom(_ index: Int) {
    guard rooms[index].isMember else { return }
    rooms[index].isMember = false
    for daemon in daemons.indices { serveSender([.roomRemoved(RoomID(index + 1))], of: daemon) }
  }

  func add(_ index: Int, to daemon: Int) {
    let room = GroupSender<String>.Input.roomAdded(
      RoomID(index + 1), name: "room \(index)", receiverID: .simulated(receiver: index),
      at: ["\(index)"])
    serveSender([room], of: daemon)
  }

  /// A turn of the sender's loop, as the real driver takes it.
  func serveSender(_ inputs: [GroupSender<String>.Input], of daemon: Int = 0) {
    guard let sender = daemons[daemon].sender else { return }
    let host = daemons[daemon].host
    if host.value.frozenUntil > now {
      return queue.insert(
        .action { $0.serveSender(inputs, of: daemon) }, at: host.value.frozenUntil)
    }
    for input in inputs { handle(input, sender) }
    handle(.turn(queues(of: sender)), sender)
    checkQueues(of: sender)
    scheduleWake(sender)
  }

  private func queues(of sender: SimulatedSender) -> [MediaQueue] {
    let isLook = sender.group.looksAtPaths(at: sender.host.value.local(at: now))
    return sender.group.mediaConnections.map { id in
      let connection = sender[id]
      var path = isLook ? connection?.path.path : nil
      path?.unacknowledged = connection?.unacknowledged ?? 0
      return MediaQueue(id, bytes: connection?.queuedBytes ?? 0, path: path)
    }
  }

  private func handle(_ input: GroupSender<String>.Input, _ sender: SimulatedSender) {
    sender.group.handle(input, at: sender.host.value.local(at: now))
    onSenderTurn?(sender.session, sender.host.value.local(at: now))
    while let output = sender.group.nextOutput() { perform(output, sender) }
  }

  private func scheduleWake(_ sender: SimulatedSender) {
    guard let deadline = sender.group.nextDeadline else {
      sender.nextWake = nil
      return
    }
    let due = max(sender.host.value.trueTime(of: deadline, after: now), now + Nanoseconds(20_000))
    if let next = sender.nextWake, next > now, next <= due + .milliseconds(1), next >= due {
      return
    }
    let wake = sender.host.value.wakeTime(for: due)
    sender.nextWake = wake
    queue.insert(.wakeSender(sender.daemon.number), at: wake)
  }

  /// Checks that little waits for a room, so that a flush never stands behind much.
  private func checkQueues(of sender: SimulatedSender) {
    for connection in sender.connections where connection.queuedBytes > 256 << 10 {
      violated("\(connection.queuedBytes) bytes wait for room \(connection.room)")
    }
  }

  private func perform(_ output: GroupSender<String>.Output, _ sender: SimulatedSender) {
    switch output {
    case .connect(let id, let address, let channel):
      dial(id, address: address, channel, from: sender)
    case .send(let id, let bytes):
      digest.add(now.nanoseconds)
      digest.add(bytes)
      guard let connection = sender[id] else { return }
      push(bytes, on: connection)
      if connection.channel == .control { listen(to: bytes, on: connection) }
    case .sendDatagram(let bytes, let address): sendAudio(bytes, to: address, sender)
    case .hold(let latency): sender.sources.value?.heldGoal = latency
    case .keep(let record):
      let process = sender.process
      schedule(
        .action { group in
          if let sender = group.running(process) { group.keep(record, of: sender) }
        }, at: now + configuration.keepingTime)
    case .outdated(let term): leadership(of: sender.daemon, .outdated(by: term))
    case .close(let id):
      guard let connection = sender[id] else { return }
      sender.connections.removeAll { $0 === connection }
      letGo(connection, "closed")
    case .pace(let id, let rate):
      sender[id]?.outgoing.setRate(Double(rate))
    case .setTurn(let id, let bytes):
      sender[id]?.outgoing.setTurn(bytes)
      if let connection = sender[id] { released(connection) }
    case .lookUp(let room, _):
      serveSender(
        [.lookedUp(room, [], failure: "there are no names")], of: sender.daemon.number)
    case .produce(let order): produce(order, sender)
    case .makeSmall(let order): makeSmall(order, sender)
    case .reply: break
    case .event(let event): senderEvents.append((now, event))
    }
  }

  /// The microphone knows the schedule from the wire.
  private func listen(to bytes: [UInt8], on connection: SimulatedConnection) {
    // The rooms obey the daemon that leads in the newest term.
    guard connection.term >= takeovers.last?.term ?? 0 else { return }
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    framer.append(bytes)
    while let raw = try? framer.next() {
      switch try? ControlMessage.decode(raw) {
      case .anchor(let anchor)?:
        microphone.told(anchor, by: connection.term)
        transmit(.anchorEnd(anchor), on: connection, toRoom: true)
      case .flush(let flush)?:
        microphone.toldOfCut(
          from: flush.from, generation: flush.generation, to: connection.room)
        transmit(.flushEnd(generation: flush.generation), on: connection, toRoom: true)
      default: break
      }
    }
  }

  // MARK: - Small encoding

  private func makeSmall(_ order: SmallOrder, _ sender: SimulatedSender) {
    let process = sender.process
    let music = order.pieces.last.map { $0.end - order.start } ?? .zero
    let time = Nanoseconds(seconds: max(0, music.seconds) * configuration.smallTime)
    schedule(
      .action { group in
        guard let sender = group.running(process) else { return }
        group.serveSender(
          [.madeSmall(sender.smallEncoder.make(order))], of: sender.daemon.number)
      }, at: now + time)
  }

  // MARK: - Producer

  private func produce(_ order: ProductionOrder, _ sender: SimulatedSender) {
    if order.supersedesWaiting {
      sender.orders.removeAll()
      abandonDelivery(to: sender)
    }
    sender.orders.append(order)
    startNextOrder(sender)
  }

  private func startNextOrder(_ sender: SimulatedSender) {
    guard !sender.isProducing, !sender.orders.isEmpty else { return }
    sender.isProducing = true
    let order = sender.orders.removeFirst()
    schedule(.produced(order, process: sender.process), at: now + configuration.productionTime)
  }

  func produced(_ order: ProductionOrder, process: Int) {
    guard let sender = running(process) else { return }
    sender.orderTime.value = sender.host.value.local(at: now)
    let batch = sender.serializer.produce(order)
    for step in batch.steps {
      guard case .opened(let opened, let time) = step else { continue }
      let frame = MediaDuration(frames: 1, at: TestSignal.sampleRate).flicks
      let position = (opened.position.flicks + frame - 1) / frame
      sender.sources.value?.start = (time.flicks / frame - position, batch.generation)
    }
    let arrival = arrival(at: sender.sources.value, sender)
    guard arrival > now else { return deliver(batch, to: sender) }
    sender.awaited = batch
    sender.deliveryCount += 1
    let number = sender.deliveryCount
    queue.insert(
      .action { group in
        guard let sender = group.running(process), sender.deliveryCount == number,
          let batch = sender.awaited
        else { return }
        group.deliver(batch, to: sender)
      }, at: arrival)
  }

  private func deliver(_ batch: ProducedBatch, to sender: SimulatedSender) {
    sender.awaited = nil
    sender.isProducing = false
    startNextOrder(sender)
    serveSender([.produced(batch)], of: sender.daemon.number)
  }

  /// When all that was read of a source is there.
  private func arrival(at source: SignalSource?, _ sender: SimulatedSender) -> TrueTime {
    if let source, let live = source.live {
      let read = Nanoseconds(MediaDuration(frames: source.framesRead, at: TestSignal.sampleRate))
      return sender.host.value.trueTime(of: live.firstHeard - source.held + read, after: now)
    }
    guard let source, let delivery = configuration.delivery else { return now }
    let opened = source.openedAt ?? now
    source.openedAt = opened
    let seconds = delivery.time(of: Double(source.framesRead) / Double(TestSignal.sampleRate))
    return opened + Nanoseconds(seconds: seconds)
  }

  /// A new order ends a read that waits; what it had read by then is not wanted.
  private func abandonDelivery(to sender: SimulatedSender) {
    guard let batch = sender.awaited else { return }
    sender.awaited = nil
    sender.isProducing = false
    let abandoned = ProducedBatch(generation: batch.generation, steps: [])
    let daemon = sender.daemon.number
    queue.insert(.action { $0.serveSender([.produced(abandoned)], of: daemon) }, at: now)
  }

  // MARK: - Time

  /// The address is a room's number and that of its process.
  private func sendAudio(_ bytes: [UInt8], to address: String, _ sender: SimulatedSender) {
    let parts = address.split(separator: ".").compactMap { Int($0) }
    guard parts.count == 2 else { return }
    audioCount += 1
    let left = now + sender.host.value.workTime()
    sendDatagram(
      bytes, toRoom: true, parts[0], sender.daemon.number, at: left
    ) { bytes, arrival in
      .answer(room: parts[0], process: parts[1], bytes, arrivedAt: arrival)
    }
  }

  func answer(
    _ bytes: [UInt8], from room: Int, process: Int, arrivedAt: TrueTime, by daemon: Int
  ) {
    guard let sender = daemons[daemon].sender else { return }
    let host = sender.host
    let peer = "\(room).\(process)"
    if DatagramKind(of: bytes) == .ask {
      _ = sender.group.ask(bytes, from: peer, at: host.value.local(at: now))
      return serveSender([], of: daemon)
    }
    let answered = sender.group.answer(
      bytes, from: peer, of: "\(room)", receivedAt: host.value.local(at: arrivedAt),
      now: host.value.local(at: now))
    guard let answered else { return }
    let left = now + host.value.workTime()
    sender.group.transmitted(
      to: peer, sequence: answered.sequence, at: host.value.local(at: left))
    sendDatagram(answered.bytes, toRoom: true, room, daemon, at: left) { bytes, arrival in
      .answer(room: room, process: process, bytes, arrivedAt: arrival)
    }
  }
}
