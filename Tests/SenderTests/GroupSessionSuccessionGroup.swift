import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// A group that tells what a successor must know, or the successor. Its sources are in memory, and
/// its rooms hold what the test says.
struct SuccessionGroup: SessionBed {
  private(set) var session: GroupSession
  var now: LocalTime
  private(set) var outputs: [GroupSession.Output] = []
  /// All that was told for a successor since the last `take`.
  private(set) var records: [StreamRecord?] = []
  /// The last of them; also after a `take`.
  private(set) var record: StreamRecord?
  /// True to carry out orders at once; otherwise they wait for `produce`.
  var producesAtOnce: Bool
  private var orders: [ProductionOrder] = []
  private let serializer: Serializer

  /// The first process, with rooms that are not connected yet.
  init(
    _ items: [String], rooms: Int = 1, producesAtOnce: Bool = true, isKept: Bool = true,
    endsWithPlaylist: Bool = true, holdsAtCuts: Bool = true,
    openSource: @escaping Serializer.OpenSource = openTestSource
  ) {
    now = LocalTime(nanoseconds: 1_000_000_000)
    self.producesAtOnce = producesAtOnce
    serializer = Serializer(openSource: openSource, makeEncoder: makePCMEncoder)
    var configuration = Self.configuration
    configuration.isKept = isKept
    configuration.endsWithPlaylist = endsWithPlaylist
    configuration.holdsAtCuts = holdsAtCuts
    session = GroupSession(configuration, playing: Playlist(items.map { PlaylistEntry($0) }))
    for number in 1...max(1, rooms) {
      handle(.roomAdded(RoomID(number), name: "room \(number)", receiverID: nil))
    }
  }

  /// A process that goes on with a stream. It has no rooms yet.
  init(
    after record: StreamRecord, in playlist: Playlist, effects: Effects = Effects(),
    at now: LocalTime, producesAtOnce: Bool = true
  ) throws {
    let fate = StreamFate(of: record, in: playlist, effects: effects, at: now)
    let found: StreamSuccession? = if case .goesOn(let one) = fate { one } else { nil }
    let succession = try #require(found)
    self.now = now
    self.producesAtOnce = producesAtOnce
    serializer = Serializer(openSource: openTestSource, makeEncoder: makePCMEncoder)
    session = GroupSession(Self.configuration, playing: playlist, succession: succession)
    drain()
    if producesAtOnce { produce() }
  }

  private static let configuration = GroupSession.Configuration(
    senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
    firstSession: 100, isKept: true)

  /// Rooms that play an item of 50 s, up to `place`.
  static func playing(
    _ items: [String] = ["8000x1:400000"], rooms: Int = 1,
    until place: MediaTime = .zero + .seconds(1), isKept: Bool = true,
    endsWithPlaylist: Bool = true, holdsAtCuts: Bool = true,
    openSource: @escaping Serializer.OpenSource = openTestSource
  ) -> SuccessionGroup {
    var group = SuccessionGroup(
      items, rooms: rooms, isKept: isKept, endsWithPlaylist: endsWithPlaylist,
      holdsAtCuts: holdsAtCuts, openSource: openSource)
    for number in 1...rooms {
      group.join(RoomID(number))
      group.say(.status(.test(.ready)), in: RoomID(number))
    }
    group.advance(to: place)
    return group
  }

  /// Returns the process that goes on some time after this one has ended.
  func successor(
    after span: Nanoseconds, producesAtOnce: Bool = true
  ) throws -> SuccessionGroup {
    let last = try #require(record)
    return try SuccessionGroup(
      after: last, in: session.playlist, at: now + span, producesAtOnce: producesAtOnce)
  }

  // MARK: - Inputs

  mutating func handle(_ input: GroupSession.Input) {
    session.handle(input, at: now)
    drain()
    if producesAtOnce { produce() }
  }

  mutating func command(_ command: PlayerCommand) { handle(.command(CommandID(1), command)) }

  /// Advances until this place sounds, to the nanosecond.
  mutating func advance(to place: MediaTime) {
    guard let time = session.timeline.groupTime(of: place) else {
      Issue.record("this place never sounds")
      return
    }
    advance(by: LocalTime(onSender: time) - session.clock.continuous(now))
  }

  mutating func produce() {
    while !orders.isEmpty { produceOne() }
  }

  mutating func produceOne() {
    session.handle(.produced(serializer.produce(orders.removeFirst())), at: now)
    drain()
  }

  // MARK: - Rooms

  mutating func say(_ message: ControlMessage, in room: RoomID = TestGroup.room) {
    handle(.received(room, .control, message.encoded()))
  }

  /// The room says how it is, and up to which place it holds audio.
  mutating func report(
    holding place: MediaTime, _ state: RoomStatus.State = .playing,
    in room: RoomID = TestGroup.room
  ) {
    var status = RoomStatus.test(state)
    status.bufferedUntil = place
    say(.status(status), in: room)
  }

  mutating func join(_ room: RoomID = TestGroup.room, held: HeldStream? = nil) {
    handle(.connected(room, .control))
    var welcome = Welcome.test(held: held, bytes: 8 << 20)
    welcome.receiverID = .counting(from: UInt8(8 + room.number))
    say(.welcome(welcome), in: room)
  }

  /// A room is found. It holds nothing, unless `held` says what it has of the stream.
  mutating func add(_ room: RoomID = TestGroup.room, held: HeldStream? = nil) {
    handle(.roomAdded(room, name: "room", receiverID: nil))
    join(room, held: held)
  }

  /// A room is found that holds the first generation up to `place`, and says so.
  mutating func comeBack(_ room: RoomID = TestGroup.room, holding place: MediaTime) {
    add(room, held: HeldStream(generation: 0, nextSequence: 100, from: here))
    report(holding: place, in: room)
  }

  /// Opens the room's media connection, with credit for half a minute.
  mutating func openMedia(_ room: RoomID = TestGroup.room) {
    handle(.connected(room, .media))
    say(.credit(.test(limit: 1 << 20)), in: room)
  }

  // MARK: - Outputs

  mutating func take() { (outputs, records) = ([], []) }

  /// The place that sounds.
  var here: MediaTime { session.mediaTime(at: session.clock.continuous(now)) }

  /// The place from which on all was produced anew last.
  var seam: MediaTime? { session.timeline.cuts.last?.from }

  private mutating func drain() {
    while let output = session.nextOutput() {
      outputs.append(output)
      switch output {
      case .keep(let told):
        record = told
        records.append(told)
      case .produce(let order):
        if order.supersedesWaiting { orders.removeAll() }
        orders.append(order)
      case .send(let room, .media, _): session.handle(.drained(room), at: now)
      default: break
      }
    }
  }
}
