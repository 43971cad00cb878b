import Audio
import Clock
import Dispatch
import Sender
import WireProtocol

@testable import Tutti

/// A renderer in simulated time: its queue, session and serializer are the real ones, and its room is a simulated ear.
/// Orders to the producer take time, and so do calls from the program's thread to the renderer's.
final class SimulatedRenderer: RenderGroup, @unchecked Sendable {
  let queue: SampleQueue
  let judge = StatusBox()
  var observers = TimeObservers()
  private(set) var session: GroupSession
  private(set) var ear = SimulatedEar()
  private(set) var lateCount = 0
  private let world: SimulatedWorld
  private let producer: SimulatedProducer
  private var orders: [(order: ProductionOrder, at: LocalTime)] = []
  private var batch: (batch: ProducedBatch, at: LocalTime)?
  private var commandCount: UInt64 = 0
  private var reply: CommandReply?
  private var sent: UInt64 = 0

  private static let room = RoomID(1)
  private static let capacity = Capacity(bytes: 32 << 20, duration: .seconds(5))

  init(in world: SimulatedWorld) {
    self.world = world
    let producer = SimulatedProducer()
    let queue = SampleQueue(
      format: .stereo48k, makeDecoder: { _ throws(CodecError) in SimulatedDecoder() },
      wait: { producer.waitForMore() })
    self.queue = queue
    self.producer = producer
    session = GroupSession(
      .init(
        senderID: .numbered(1), senderName: "study", clockID: 77, clockPort: 46_000,
        firstSession: 100, endsWithPlaylist: false, startsHeld: true, holdsAtCuts: false),
      playing: Playlist(["enqueued"]))
    producer.begin { SimulatedProducer.serializer(of: queue) }
    world.renderers.append(self)
    join()
  }

  deinit { producer.end(queue) }

  // MARK: - The room

  private func join() {
    let peer = SecuredPeer(id: .numbered(9), clockKey: [9], binding: [9, 9])
    handle(.roomAdded(Self.room, name: "room", receiverID: nil))
    handle(.connected(Self.room, .control, peer))
    say(
      .welcome(
        Welcome(
          version: 2, receiverID: .numbered(9), name: "Kitchen", model: "test",
          capacity: Self.capacity, codecs: [.pcm, .aac],
          settings: RoomSettings(volume: 500, isMuted: false, delay: .zero, channelMap: .stereo),
          held: nil)))
    handle(.connected(Self.room, .media, peer))
    let none = SyncErrorStatistics(now: .zero, median: .zero, p99: .zero, maximum: .zero)
    say(
      .status(
        RoomStatus(
          state: .ready, detail: "", playhead: .zero, bufferedUntil: .zero, heldBytes: 0,
          syncError: none, clockErrorBound: .zero, roundTrip: .zero,
          commitHorizon: .milliseconds(40), clockDrift: 0, deviceDrift: 0, underruns: 0,
          latePackets: 0, lostPackets: 0, corruptPackets: 0)))
  }

  private func say(_ message: ControlMessage) {
    handle(.received(Self.room, .control, message.encoded()))
  }

  // MARK: - Turns

  var now: LocalTime { world.now }

  func carryOut(_ command: PlayerCommand) -> CommandReply {
    commandCount += 1
    handle(.command(CommandID(commandCount), command))
    guard let reply else { preconditionFailure("the session did not answer a command") }
    return reply
  }

  private func handle(_ input: GroupSession.Input) {
    session.handle(input, at: now)
    while let output = session.nextOutput() {
      switch output {
      case .send(let room, .media, let bytes):
        ear.heard(media: bytes, at: session.effects.rate)
        sent += UInt64(bytes.count)
        session.handle(.drained(room), at: now)
        let credit = Credit(
          limit: sent + Self.capacity.bytes, bufferedUntil: .zero, heldBytes: 0)
        session.handle(.received(room, .control, ControlMessage.credit(credit).encoded()), at: now)
      case .send(_, .control, let bytes): ear.heard(control: bytes)
      case .produce(let order): take(order)
      case .reply(_, let reply): self.reply = reply
      default: break
      }
    }
  }

  private func take(_ order: ProductionOrder) {
    if order.supersedesWaiting {
      orders = []
      queue.abandonRead()
    }
    orders.append((order, now + world.delay(.ordering)))
  }

  /// Called after something has happened, or time has passed.
  func turn() {
    if let deadline = session.nextDeadline, deadline <= now { handle(.timeout) }
    work()
    look(after: queue)
    judge.follow(schedule(queue))
    observers.advance(to: session.playhead(at: now), at: now) { position in
      session.presentationTime(of: position, at: now)
    }
  }

  var deadline: LocalTime? {
    // The producer takes the next order once the session has the result of the last one.
    let order = batch == nil && !producer.isBusy ? orders.first?.at : nil
    return [session.nextDeadline, order, batch?.at, queue.holdDeadline, observers.deadline]
      .compactMap { $0 }.min()
  }

  private func work() {
    if let (made, time) = batch, time <= now {
      batch = nil
      handle(.produced(made))
    }
    if producer.isWaiting { producer.goOn() }
    if batch == nil, !producer.isBusy, let (order, time) = orders.first, time <= now {
      orders.removeFirst()
      if order.supersedesWaiting { queue.readAgain() }
      producer.produce(order)
    }
    if let made = producer.takeBatch() { batch = (made, now + world.delay(.producing)) }
  }

  /// Returns the sound of the room at this instant, which must not be past.
  func listen(at time: LocalTime) -> SimulatedFrame? {
    ear.sound(at: GroupTime(nanoseconds: time.nanoseconds))
  }

  // MARK: - The program's side

  func enqueued(_ isUnplaced: Bool, until end: PlaybackTime) {
    if judge.newLateness(ofEnd: end, at: HostTime(now)) != nil { lateCount += 1 }
    if isUnplaced { turn() }
  }

  private func perform<Value>(_ body: (SimulatedRenderer) -> Value) -> Value {
    world.advance(by: world.delay(.calling))
    defer {
      judge.follow(schedule(queue))
      turn()
    }
    return body(self)
  }

  func flush() -> PlaybackTime { perform { $0.flush(queue) } }
  func flush(from time: PlaybackTime) -> PlaybackTime { perform { $0.flush(queue, from: time) } }
}

extension SimulatedRenderer: RenderTarget {
  func latency() async throws(TuttiError) -> Duration {
    perform { Duration($0.session.status(at: now).outputLatency) }
  }

  func suppliedUntil() async throws(TuttiError) -> HostTime? {
    perform { $0.session.suppliedUntil(at: now).map(HostTime.init) }
  }

  func run(at rate: Double, from time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) {
    perform { renderer in
      var effects = renderer.session.effects
      effects.rate = rate
      renderer.run(queue, with: effects, from: time, at: hostTime)
    }
  }

  func discard() async throws(TuttiError) { _ = flush() }

  func waitUntilReady(for time: PlaybackTime, deadline: HostTime?) async throws(TuttiError) {
    let end = now + Nanoseconds.seconds(20)
    while !perform({ $0.approach(time, queue) }) {
      guard now < end else {
        let next = PlaybackTime(session.upcomingPosition(at: now)).seconds
        throw .invalid("\(time.seconds) is never ready: \(next) comes next, \(queue.room) free")
      }
      world.advance(by: .milliseconds(1))
    }
  }

  func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> HostTime {
    perform { $0.start(queue, at: time, hostTime: hostTime) }
  }

  func pause(at hostTime: HostTime) async throws(TuttiError) -> HostTime {
    perform { $0.pause(at: hostTime) }
  }
}

extension Identifier {
  fileprivate static func numbered(_ number: UInt8) -> Identifier {
    guard let id = Identifier((0..<16).map { number &+ $0 }) else { preconditionFailure() }
    return id
  }
}

/// Decodes a packet, which says the value, the time and the sample rate of its first frame.
final class SimulatedDecoder: AudioDecoder {
  static let frames = 1_024

  func decode(_ payload: [UInt8], appendingTo frames: inout [Float]) {
    let (value, rate) = (SimulatedEar.value(payload, at: 0), SimulatedEar.value(payload, at: 8))
    let first = SimulatedFrame(value: value, tick: SimulatedEar.value(payload, at: 4)).time
    for frame in 0..<Self.frames {
      frames += [value, SimulatedFrame.tick(first + Double(frame) / Double(rate))]
    }
  }
}

/// Encodes frames to packets unchanged.
private final class SimulatedEncoder: AudioEncoder {
  let format: StreamFormat

  init(_ shape: SourceShape) {
    format = StreamFormat(codec: .pcm, audio: shape.format, sampleType: .float32)
  }

  func encode(_ frames: [Float], appendingTo packets: inout [EncodedPacket]) {
    var rest = frames[...]
    while !rest.isEmpty {
      let part = rest.prefix(2_048 * format.audio.channelCount)
      rest = rest.dropFirst(part.count)
      packets.append(
        EncodedPacket(
          payload: part.withUnsafeBytes { Array($0) },
          frameCount: part.count / format.audio.channelCount))
    }
  }

  func finish(appendingTo packets: inout [EncodedPacket]) {}
}

/// Turns many frames into one, or one into many.
private final class SimulatedRate: MediaSource {
  let rate: Double
  private let source: any MediaSource
  private var place = 0.0

  init(_ source: any MediaSource, _ rate: Double) { (self.source, self.rate) = (source, rate) }

  var format: AudioFormat { source.format }
  var sampleType: SampleType { source.sampleType }
  var isLossless: Bool { source.isLossless }
  var frameCount: Int64? { nil }
  var metadata: ItemMetadata { source.metadata }
  var supply: Supply { source.supply }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    var given = 0
    while given == 0 {
      var block: [Float] = []
      try source.read(max(1, Int(Double(count) * rate)), appendingTo: &block)
      if block.isEmpty { return }
      let length = Double(block.count / format.channelCount)
      while place < length, given < count {
        let first = Int(place) * format.channelCount
        frames += block[first..<first + format.channelCount]
        (place, given) = (place + rate, given + 1)
      }
      place -= length
    }
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    place = 0
    try source.seek(toFrame: frame)
  }
}

/// A serializer on a thread of its own, one step at a time: until it has carried out an order, or waits for more.
final class SimulatedProducer: @unchecked Sendable {
  private let (toWorker, toWorld) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  private var order: ProductionOrder?
  private var made: ProducedBatch?
  private var hasEnded = false
  private(set) var isWaiting = false
  private(set) var isBusy = false

  static func serializer(of queue: SampleQueue) -> Serializer {
    Serializer(
      passesPackets: true, openSource: { _ throws(MediaError) in QueueSource(queue) },
      applyEffects: { source, beginning in SimulatedRate(source, beginning.effects.rate) },
      makeEncoder: { shape throws(CodecError) in SimulatedEncoder(shape) })
  }

  func begin(_ make: @escaping @Sendable () -> Serializer) {
    let thread = DispatchQueue(label: "producer")
    thread.async { [self] in
      let serializer = make()
      while true {
        toWorker.wait()
        guard !hasEnded, let order else { return }
        made = serializer.produce(order)
        isBusy = false
        toWorld.signal()
      }
    }
  }

  func produce(_ order: ProductionOrder) {
    (self.order, isBusy) = (order, true)
    step()
  }

  func goOn() { step() }

  private func step() {
    toWorker.signal()
    toWorld.wait()
  }

  func takeBatch() -> ProducedBatch? {
    defer { made = nil }
    return made
  }

  /// Called on the worker's thread.
  func waitForMore() {
    isWaiting = true
    toWorld.signal()
    toWorker.wait()
    isWaiting = false
  }

  func end(_ queue: SampleQueue) {
    queue.close()
    if isWaiting { step() }
    hasEnded = true
    toWorker.signal()
  }
}
