import Audio
import Clock
import Pairing
import Receiver
import Sender
import WireProtocol

/// A room: its machine, its network, its sound card, and the receiver's program while it runs.
final class SimulatedRoom {
  let quality: SimulatedGroup.Room
  let index: Int
  var host: SimulatedHost
  let down: Pointer<NetworkLink>
  let up: Pointer<NetworkLink>
  let crystal: Pointer<Oscillator>
  let cardRandom: Pointer<SplitMix64>
  /// True if the group has it.
  var isMember = true
  var isPartitioned = false
  var partitionDuringSuspend = false
  /// The end of the last disturbance that has begun, and the last time at which `watch` found no fault with the room.
  var (troubledUntil, fineAt) = (TrueTime.zero, TrueTime.zero)
  var isCutOff: Bool { isPartitioned || partitionDuringSuspend }

  /// Connections that this room has accepted.
  var accepted: [SimulatedConnection] = []
  /// Connections with payloads that could not arrive.
  var holding: [SimulatedConnection] = []

  var session: Pointer<ReceiverSession>?
  var process = 0
  var memory = ReceiverMemory()
  /// The trust that is on disk.
  var trust: TrustMemory
  var nextWake: TrueTime?
  var card: SimulatedSoundCard?
  /// Number of attempts to open a card; an earlier one is void.
  var cardNumber = 0
  /// When its output thread takes its next turn, and how often one was planned: an earlier plan is void.
  var nextTurn = (at: TrueTime.zero, plan: 0)
  var wantsCard = false
  var isPlugged = true
  var unsent = RenderBacklog()

  var events: [(at: TrueTime, event: ReceiverEvent)] = []
  var lastStatus: RoomStatus?
  var lastCredit: Credit?
  var liveReports: [LiveReport] = []
  /// Profile for opening the card.
  var profile = LatencyProfile.deep
  var lastEstimate: ClockEstimate?
  var underrunCount = 0
  /// The highest term whose session it has begun.
  var welcomedTerm: Term = 0

  /// `sharing` is another room's access point, if this room uses it too.
  init(
    _ quality: SimulatedGroup.Room, index: Int, seed: UInt64,
    sharing sharedDown: Pointer<NetworkLink>? = nil
  ) {
    self.quality = quality
    self.index = index
    trust = quality.trust
    let part = UInt64(index * 16 + 1)
    host = SimulatedHost(quality.host, seed: seed, part: part)
    down =
      sharedDown
      ?? Pointer(NetworkLink(quality.path.down, random: SplitMix64(seed: seed, part: part + 2)))
    up = Pointer(NetworkLink(quality.path.up, random: SplitMix64(seed: seed, part: part + 3)))
    crystal = Pointer(
      Oscillator(quality.card.crystal, random: SplitMix64(seed: seed, part: part + 4)))
    cardRandom = Pointer(SplitMix64(seed: seed, part: part + 5))
  }

  func stop() {
    session = nil
    process = 0
    card = nil
    wantsCard = false
    unsent.removeAll()
    nextWake = nil
    lastStatus = nil
    lastCredit = nil
    lastEstimate = nil
    accepted = []
  }
}

extension SimulatedGroup {
  func startReceiver(_ index: Int) {
    let room = rooms[index]
    processCount += 1
    room.process = processCount
    var random = SplitMix64(seed: configuration.seed, part: 3000 + UInt64(processCount))
    let isExact = configuration.isExact
    let missing = room.quality.missingDecoders
    let settings = ReceiverSession.Configuration(
      receiverID: .simulated(receiver: index), name: "room \(index)", model: "simulated",
      capacity: room.quality.capacity,
      codecs: room.quality.codecs + (configuration.makesSmall ? [SmallSignal.codec] : []),
      makeDecoder: { format throws(CodecError) -> any AudioDecoder in
        guard !missing.contains(format.codec) else { throw .unsupported("it is missing") }
        if format.codec == SmallSignal.codec { return SmallSignal.Decoder() }
        return isExact ? try SignalPackets.makeDecoder(format) : SilenceDecoder(format)
      },
      idleTime: .seconds(30), profile: configuration.profile, seed: random.next(),
      whenBusy: room.quality.whenBusy, arithmetic: configuration.arithmetic,
      cipher: configuration.live.map { _ in SimulatedCipher() })
    room.session = Pointer(
      ReceiverSession(settings, memory: room.memory, trust: room.trust))
  }

  /// Does what the real driver does in each turn of its loop.
  func serve(_ index: Int, _ inputs: [ReceiverSession.Input]) {
    let room = rooms[index]
    guard room.session != nil else { return }
    for input in inputs { handle(input, room) }
    takeReports(room)
    // After any other input than a stamp, the session has already acted at the same instant.
    if inputs.allSatisfy(\.isOfTime) { handle(.timeout, room) }
    scheduleWake(room)
  }

  /// Notes a transmit stamp. It only yields a better sample, later, so the real driver's turn would change nothing
  /// here.
  func noteTransmission(of sequence: UInt32, at time: TrueTime, _ index: Int) {
    let room = rooms[index]
    let left = room.host.local(at: time)
    room.session?.value.handle(
      .transmitted(sequence: sequence, at: left), at: room.host.local(at: now))
  }

  private func takeReports(_ room: SimulatedRoom) {
    retry(room)
    while let report = room.card?.reports.receive() { handle(.rendered(report), room) }
  }

  private func handle(_ input: ReceiverSession.Input, _ room: SimulatedRoom) {
    room.session?.value.handle(input, at: room.host.local(at: now))
    while let output = room.session?.value.nextOutput() { perform(output, room) }
  }

  private func scheduleWake(_ room: SimulatedRoom) {
    guard let deadline = room.session?.value.nextDeadline else {
      room.nextWake = nil
      return
    }
    let due = max(room.host.trueTime(of: deadline, after: now), now + Nanoseconds(20_000))
    if let next = room.nextWake, next > now, next <= due + .milliseconds(1), next >= due { return }
    let wake = room.host.wakeTime(for: due)
    room.nextWake = wake
    queue.insert(.wakeRoom(room.index), at: wake)
  }

  private func perform(_ output: ReceiverSession.Output, _ room: SimulatedRoom) {
    switch output {
    case .send(let id, let bytes):
      digest.add(now.nanoseconds)
      digest.add(bytes)
      note(bytes, room)
      if let connection = room.accepted.first(where: { $0.id == id.number }) {
        checkTerm(of: bytes, on: connection)
        transmit(bytes, on: connection, toRoom: false)
      } else {
        heard(bytes, by: id)
        answered(bytes, to: id)
      }
    case .close(let id):
      dismissed(id)
      if let connection = room.accepted.first(where: { $0.id == id.number }),
        connection.receiverHolds
      {
        end(connection, fromRoom: true, "the receiver closed it")
      }
    case .sendTimeRequest(let bytes, let sequence, let id, _):
      let (index, process) = (room.index, room.process)
      let left = sendRequest(bytes, over: id, room)
      schedule(
        .requestLeft(room: index, process: process, sequence: sequence, at: left), at: left)
    case .sendAsk(let bytes, let id, _): _ = sendRequest(bytes, over: id, room)
    case .openDevice(_, let profile):
      room.profile = profile
      room.wantsCard = true
      openCard(room.index)
    case .closeDevice:
      room.wantsCard = false
      tellHeard(in: room)
      room.card = nil
    case .render(let command):
      if case .clock(let estimate, _) = command { room.lastEstimate = estimate }
      room.unsent.append(command)
      retry(room)
      if command.isUrgent, room.card?.rests == true {
        let soon = room.host.wakeTime(for: now)
        if soon < room.nextTurn.at { planTurn(room, at: soon) }
      }
    case .advertise, .advertiseCodecs, .nowPlaying, .sayPIN: break
    case .persist(let memory): room.memory = memory
    case .keepTrust(let trust, let number): keep(trust, number, room)
    case .event(let event): room.events.append((now, event))
    }
  }

  /// Returns when the datagram to the daemon at the other end of the connection leaves.
  private func sendRequest(
    _ bytes: [UInt8], over id: ConnectionID, _ room: SimulatedRoom
  ) -> TrueTime {
    let left = now + room.host.workTime()
    let (index, process) = (room.index, room.process)
    let daemon = room.accepted.first { $0.id == id.number }?.daemon ?? 0
    sendDatagram(bytes, toRoom: false, index, daemon, at: left) { bytes, arrival in
      .request(room: index, process: process, bytes, arrivedAt: arrival, daemon: daemon)
    }
    return left
  }

  private func retry(_ room: SimulatedRoom) {
    guard let card = room.card else { return room.unsent.removeAll() }
    room.unsent.drain(card.commands.send)
  }

  private func note(_ bytes: [UInt8], _ room: SimulatedRoom) {
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    framer.append(bytes)
    while let raw = try? framer.next() {
      switch try? ControlMessage.decode(raw) {
      case .status(let status)?:
        room.lastStatus = status
        if status.heldBytes > 2 * room.quality.capacity.bytes {
          violated("room \(room.index) holds \(status.heldBytes) bytes")
        }
      case .credit(let credit)?: room.lastCredit = credit
      case .liveReport(let report)?: room.liveReports.append(report)
      default: break
      }
    }
  }

  // MARK: - Sound card

  /// Opens the card after a moment, as real cards need.
  func openCard(_ index: Int) {
    rooms[index].cardNumber += 1
    let attempt = rooms[index].cardNumber
    guard rooms[index].isPlugged else {
      return queue.insert(
        .action { $0.lostCard(index, isPlugged: false) }, at: now + .milliseconds(5))
    }
    schedule(.opened(room: index, attempt: attempt), at: now + .milliseconds(30))
  }

  func deviceOpened(_ index: Int, _ attempt: Int) {
    let room = rooms[index]
    guard room.wantsCard, room.isPlugged, room.cardNumber == attempt, room.session != nil else {
      return
    }
    var quality = room.quality.card
    quality.use(room.profile)
    let card = SimulatedSoundCard(
      quality, configuration, crystal: room.crystal, random: room.cardRandom,
      storedDrift: room.memory.deviceDrift, at: now)
    tellHeard(in: room)
    room.card = card
    room.unsent.removeAll()
    planTurn(room, at: card.nextTurn(after: now))
    let device = OutputDevice(
      format: AudioFormat(sampleRate: TestSignal.sampleRate, channelCount: card.ring.channelCount),
      commitHorizon: quality.traits.commitHorizon, writtenAhead: quality.traits.writtenAhead)
    serve(index, [.deviceOpened(device, ring: card.ring)])
  }

  func lostCard(_ index: Int, isPlugged: Bool) {
    let room = rooms[index]
    room.isPlugged = isPlugged
    guard room.wantsCard else { return }
    tellHeard(in: room)
    room.card = nil
    room.cardNumber += 1
    serve(index, [.deviceLost(reason: "the sound device went away")])
  }

  /// Tells the microphone what the room's card has sounded by now, also between two turns.
  func tellHeard(in room: SimulatedRoom) {
    room.card?.tellHeard(at: now, RoomListener(microphone: microphone, room: room.index))
  }

  /// Plans the next turn of the output thread, in place of the one that was planned.
  private func planTurn(_ room: SimulatedRoom, at time: TrueTime) {
    room.nextTurn = (max(time, now), room.nextTurn.plan + 1)
    schedule(.turn(room: room.index, plan: room.nextTurn.plan), at: room.nextTurn.at)
  }

  func turn(_ index: Int, _ plan: Int) {
    let room = rooms[index]
    guard room.nextTurn.plan == plan, let card = room.card else { return }
    let listener = RoomListener(microphone: microphone, room: index)
    if case .ranDry = card.turn(at: now, host: &room.host, listener: listener) {
      room.underrunCount += 1
    }
    planTurn(room, at: room.host.wakeTime(for: card.nextTurn(after: now)))
  }
}

extension ReceiverSession.Input {
  fileprivate var isOfTime: Bool {
    switch self {
    case .datagram, .transmitted: true
    default: false
    }
  }
}

/// Receives the frames that a room's card has sounded.
struct RoomListener {
  let microphone: Microphone
  let room: Int

  func heard(_ frames: Range<Int64>, of content: CardContent, by card: SimulatedSoundCard) {
    microphone.heard(frames, of: content, by: card, in: room)
  }
}
