import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// A `GroupSession` and its surroundings: a producer with items in memory, and rooms that send what the
/// test tells them to. The session's output is decoded and kept until it is taken.
struct TestGroup: SessionBed {
  private(set) var session: GroupSession
  var now = LocalTime(nanoseconds: 1_000_000_000)
  private(set) var outputs: [GroupSession.Output] = []
  /// True to carry out orders at once; otherwise they wait for `produce`.
  var producesAtOnce: Bool
  private(set) var orders: [ProductionOrder] = []
  private let serializer: Serializer
  private var framers: [RoomID: MessageFramer] = [:]
  private var commandCount: UInt64 = 0
  /// Capacity and sent bytes of rooms that grant credit for all that they are sent.
  private var free: [RoomID: (capacity: UInt64, sent: UInt64)] = [:]

  static let room = RoomID(1)
  static let other = RoomID(2)

  init(
    _ items: [String] = ["8000x1:80000"], rooms: Int = 1, producesAtOnce: Bool = true,
    endsWithPlaylist: Bool = true, startsHeld: Bool = false, holdsAtCuts: Bool = true,
    appliesRates: Bool = false, otherwise fallback: String? = nil, term: Term = 0,
    openSource: @escaping Serializer.OpenSource = openTestSource,
    keptPlace: @escaping Serializer.KeptPlace = { _ in nil }
  ) {
    self.producesAtOnce = producesAtOnce
    let configuration = GroupSession.Configuration(
      senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
      firstSession: 100, endsWithPlaylist: endsWithPlaylist, startsHeld: startsHeld,
      holdsAtCuts: holdsAtCuts, term: term)
    session = GroupSession(
      configuration,
      playing: Playlist(
        items.map { PlaylistEntry($0) }, repetition: fallback == nil ? .off : .all,
        otherwise: fallback.map { PlaylistEntry($0) }))
    serializer = Serializer(
      passesPackets: true, openSource: openSource,
      applyEffects: { source, beginning in
        if appliesRates { (source as? TestSource)?.rate = beginning.effects.rate }
        return source
      }, keptPlace: keptPlace, makeEncoder: makePCMEncoder)
    for number in 1...max(1, rooms) where rooms > 0 {
      handle(.roomAdded(RoomID(number), name: "room \(number)", receiverID: nil))
    }
  }

  // MARK: - Inputs

  mutating func handle(_ input: GroupSession.Input) {
    session.handle(input, at: now)
    drain()
  }

  mutating func limitStore(to bytes: Int) { session.storeLimit = bytes }

  mutating func say(_ message: ControlMessage, in room: RoomID = room) {
    handle(.received(room, .control, message.encoded()))
  }

  /// Returns the session's reply; nil if there is none, or if it has another identifier.
  @discardableResult
  mutating func command(_ command: PlayerCommand) -> CommandReply? {
    commandCount += 1
    let id = CommandID(commandCount)
    handle(.command(id, command))
    defer { outputs.removeAll { if case .reply = $0 { true } else { false } } }
    return outputs.lazy.compactMap { if case .reply(id, let reply) = $0 { reply } else { nil } }
      .first
  }

  /// Lets time pass without telling the session.
  mutating func jump(by span: Nanoseconds) { now = now + span }

  mutating func produce() {
    while !orders.isEmpty { produceOne() }
  }

  mutating func produceOne() {
    handle(.produced(serializer.produce(orders.removeFirst())))
  }

  var isAwaitingProduction: Bool { !orders.isEmpty }

  /// Answers the oldest order by hand.
  mutating func answerOrder(with steps: [ProducedBatch.Step]) {
    let opened = OpenedItem(
      item: PlayItem(id: 0, location: ""), duration: nil, position: .zero,
      isSeekable: false, metadata: ItemMetadata())
    switch orders.removeFirst() {
    case .begin(let begin):
      handle(
        .produced(
          ProducedBatch(generation: begin.generation, steps: [.opened(opened, at: .zero)])))
    case .more(_, let generation), .finish(let generation), .leave(_, let generation, _),
      .recode(_, let generation):
      handle(.produced(ProducedBatch(generation: generation, steps: steps)))
    }
  }

  // MARK: - Rooms

  /// Greets the session. Each room is a receiver of its own, unless `welcome` names one.
  mutating func greet(_ room: RoomID = room, with welcome: Welcome = .test()) {
    var welcome = welcome
    if welcome.receiverID == Welcome.test().receiverID {
      welcome.receiverID = .counting(from: UInt8(8 + room.number))
    }
    handle(.connected(room, .control, .test(welcome.receiverID)))
    say(.welcome(welcome), in: room)
  }

  mutating func join(_ room: RoomID = room, with welcome: Welcome = .test()) {
    greet(room, with: welcome)
    free[room] = (welcome.capacity.bytes, 0)
    guard let peer = session.rooms[room]?.line?.peer else { return }
    handle(.connected(room, .media, peer))
  }

  mutating func joinReady(_ room: RoomID = room, with welcome: Welcome = .test()) {
    join(room, with: welcome)
    say(.status(.test(.ready)), in: room)
  }

  /// One room that is ready and has played half a second.
  static func playing(
    _ items: [String] = ["8000x1:80000"], with welcome: Welcome = .test()
  ) -> TestGroup {
    var group = TestGroup(items)
    group.joinReady(with: welcome)
    group.advance(by: .milliseconds(500))
    group.take()
    return group
  }

  // MARK: - Outputs

  @discardableResult
  mutating func take() -> [GroupSession.Output] {
    defer { outputs = [] }
    return outputs
  }

  var events: [SenderEvent] {
    outputs.compactMap { if case .event(let event) = $0 { event } else { nil } }
  }

  func announcements(_ room: RoomID = room) -> [NowPlaying] {
    told(room).compactMap { if case .nowPlaying(let one) = $0 { one } else { nil } }
  }

  func pieces(_ room: RoomID = room) -> [ArtworkPiece] {
    streamed(room).compactMap { if case .artwork(let piece) = $0 { piece } else { nil } }
  }

  private mutating func grant(_ room: RoomID, after count: Int) {
    guard let (capacity, sent) = free[room] else { return }
    let total = sent + UInt64(count)
    free[room] = (capacity, total)
    let credit = ControlMessage.credit(.test(limit: min(total + capacity, 1 << 60)))
    session.handle(.received(room, .control, credit.encoded()), at: now)
  }

  private mutating func drain() {
    while let output = session.nextOutput() {
      outputs.append(output)
      if case .produce(let order) = output {
        if order.supersedesWaiting { orders.removeAll() }
        orders.append(order)
      }
      if case .send(let room, .media, let bytes) = output {
        session.handle(.drained(room), at: now)
        grant(room, after: bytes.count)
      }
    }
    if producesAtOnce { produce() }
  }
}

extension Identifier {
  static func counting(from first: UInt8) -> Identifier {
    guard let identifier = Identifier((0..<16).map { first &+ $0 }) else { preconditionFailure() }
    return identifier
  }
}

extension SecuredPeer {
  /// The clock key tells receivers apart.
  static func test(_ id: Identifier) -> SecuredPeer {
    SecuredPeer(id: id, clockKey: id.bytes, binding: id.bytes + id.bytes)
  }

  /// The peer of the receiver that `TestGroup` has in a room.
  static func test(_ room: RoomID = TestGroup.room) -> SecuredPeer {
    test(.counting(from: UInt8(8 + room.number)))
  }
}

extension GroupSession.Input {
  /// A connection by the receiver that `TestGroup` has in the room.
  static func connected(_ room: RoomID, _ channel: Channel) -> Self {
    .connected(room, channel, .test(room))
  }
}

extension Welcome {
  static func test(
    held: HeldStream? = nil, bytes: UInt64 = 1 << 20, span: MediaDuration = .seconds(600),
    codecs: [Codec] = [.pcm], limit: VolumeLimit? = nil
  ) -> Welcome {
    Welcome(
      version: 2, receiverID: .counting(from: 9), name: "Kitchen", model: "test",
      capacity: Capacity(bytes: bytes, duration: span), codecs: codecs,
      settings: RoomSettings(
        volume: 500, isMuted: false, delay: .zero, channelMap: .stereo, volumeLimit: limit),
      held: held)
  }
}

extension Credit {
  static func test(limit: UInt64) -> Credit {
    Credit(limit: limit, bufferedUntil: .zero, heldBytes: 0)
  }
}

extension RoomStatus {
  static func test(
    _ state: State, detail: String = "", roundTrip: Nanoseconds = .zero,
    horizon: Nanoseconds = .milliseconds(40)
  ) -> RoomStatus {
    let none = SyncErrorStatistics(now: .zero, median: .zero, p99: .zero, maximum: .zero)
    return RoomStatus(
      state: state, detail: detail, playhead: .zero, bufferedUntil: .zero, heldBytes: 0,
      syncError: none, clockErrorBound: .zero, roundTrip: roundTrip,
      commitHorizon: horizon, clockDrift: 0, deviceDrift: 0, underruns: 0, latePackets: 0,
      lostPackets: 0, corruptPackets: 0)
  }
}

extension [SenderEvent] {
  /// What they tell of a room.
  func changes(of room: RoomID) -> [SenderEvent.RoomChange] {
    compactMap { if case .room(let told, let change) = $0, told.id == room { change } else { nil } }
  }
}
