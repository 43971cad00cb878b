import Audio
import Clock
import TestSupport
import WireProtocol

@testable import House
@testable import Sender

/// A player in virtual time: a real `GroupSession` with its list and its halts and pauses. The world tells which of its
/// rooms are there; music sounds as soon as one is.
final class SimulatedPlayer: GroupPlayer {
  struct Room {
    let id: RoomID
    let receiver: String
    /// Another sender has taken it, and it is not tried again.
    var isLost = false
  }

  let number: Int
  /// The household's group; nil for one that visits a room.
  let group: String?
  private(set) var session: GroupSession
  private(set) var rooms: [Room] = []
  private unowned let world: SimulatedWorld
  /// Those that it was told, with their times.
  private(set) var streamVolumes: [(time: LocalTime, volume: UInt16)] = []
  private var commandCount: UInt64 = 0
  /// Its rooms tell it nothing more.
  private(set) var hasStopped = false
  private var lastRoom = 0
  private(set) var hasSounded = false
  var volumeCap: UInt16 = 1000
  /// Nothing more comes of it.
  var stalled: String?
  /// How long before a clip its rooms must know of it; nil: as long as the session says.
  var slowness: Nanoseconds?
  /// Rooms of the clips that were offered.
  private var clips: [UInt32: (rooms: [RoomID], volume: UInt16?)] = [:]
  private var lastClip: UInt32 = 0

  /// When it is to begin; nil while it stands still, or begins at once.
  private var start: LocalTime?
  private var isHeld: Bool

  init(
    _ number: Int, of group: String?, playing playlist: Playlist, startsHeld: Bool = false,
    in world: SimulatedWorld
  ) {
    isHeld = startsHeld
    (self.number, self.group, self.world) = (number, group, world)
    guard let id = Identifier(hex: String(repeating: "5", count: 32)) else { preconditionFailure() }
    session = GroupSession(
      .init(
        senderID: id, senderName: "study", clockID: 7, clockPort: 9, firstSession: 1,
        endsWithPlaylist: false, startsHeld: startsHeld), playing: playlist)
  }

  var clipHorizon: Nanoseconds { slowness ?? session.clipHorizon }

  func status() -> GroupStatus {
    var status = session.status(at: world.now)
    if status.state == .starting, hasSounded { status.state = .playing }
    if let stalled, status.item?.item.location == stalled { status.state = .buffering }
    let sounds = status.state == .playing
    status.rooms = rooms.map { world.shown($0, to: self, sounds ? .playing : .idle) }
    return status
  }

  func progress(ofClip number: UInt32) -> [(room: RoomID, progress: ClipProgress)] {
    (clips[number]?.rooms ?? []).map { id in
      guard let room = rooms.first(where: { $0.id == id }), world.holds(room, self) else {
        return (id, .away)
      }
      return (id, world.playsClips(room.receiver) ? .ready : .cannot)
    }
  }

  /// Takes a command that is about a clip.
  private func clip(_ command: PlayerCommand) -> CommandReply? {
    switch command {
    case .offerClip(_, let volume, let rooms):
      world.clipVolumes.append(volume)
      lastClip += 1
      clips[lastClip] = (rooms, volume)
      return .success(.offered(lastClip))
    case .beginClip(let number, let time):
      for (id, progress) in progress(ofClip: number) where progress == .ready {
        guard let room = rooms.first(where: { $0.id == id }) else { continue }
        world.hear(room.receiver, at: time, as: clips[number]?.volume)
      }
      return .success(.done)
    case .withdrawClip: return .success(.done)
    default: return nil
    }
  }

  func carryOut(_ command: PlayerCommand) -> CommandReply {
    if case .streamVolume(let volume) = command { streamVolumes.append((world.now, volume.volume)) }
    if let reply = clip(command) { return reply }
    if let refusal = world.refusal(of: command, by: self) { return .failure(refusal) }
    if world.set(command, of: self) { return .success(.done) }
    if command == .stop { hasStopped = true }
    if case .resumeAt(let time) = command { (start, isHeld) = (time, false) }
    commandCount += 1
    return handle(.command(CommandID(commandCount), command)) ?? .failure(.finished)
  }

  @discardableResult
  private func handle(_ input: GroupSession.Input) -> CommandReply? {
    session.handle(input, at: world.now)
    var reply: CommandReply?
    var events: [SenderEvent] = []
    while let output = session.nextOutput() {
      switch output {
      case .reply(_, let given): reply = given
      case .event(let event): events.append(event)
      case .produce(.begin(let begin)): produce(begin)
      default: break
      }
    }
    for event in events { world.tell(event, of: self) }
    settle()
    return reply
  }

  /// True if it is heard in the rooms that it has.
  var isSounding: Bool { hasSounded && status().state == .playing }

  private func produce(_ begin: ProductionOrder.Beginning) {
    guard !world.unreachable.contains(begin.item.location) else { return }
    let left = begin.resumes ? world.left[begin.item.location] : nil
    let opened = OpenedItem(
      item: begin.item, duration: .seconds(60), position: left ?? begin.position, isSeekable: true,
      metadata: ItemMetadata())
    world.later { [weak self] in
      self?.handle(
        .produced(
          ProducedBatch(
            generation: begin.generation,
            steps: [.opened(opened, at: begin.mediaTime)] + Self.sound(begin))))
    }
  }

  /// The first packet of an item.
  private static func sound(_ begin: ProductionOrder.Beginning) -> [ProducedBatch.Step] {
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    let packet = ProducedPacket(
      generation: begin.generation, mediaTime: begin.mediaTime, formatID: 1, startsRun: true,
      endsStream: false, duration: .milliseconds(20),
      encoded: EncodedPacket(payload: [0, 0], frameCount: 960))
    return [.format(id: 1, format), .packet(packet)]
  }

  var nextDeadline: LocalTime? {
    [session.nextDeadline, hasSounded ? nil : start].compactMap(\.self).min()
  }

  func timeout() { handle(.timeout) }

  /// Notes whether the music sounds.
  func settle() {
    if session.isHalted || session.isFinished {
      hasSounded = false
    } else if !isHeld, start.map({ $0 <= world.now }) ?? true,
      rooms.contains(where: { world.holds($0, self) })
    {
      (hasSounded, start) = (true, nil)
    }
  }

  // MARK: - Rooms

  func addRoom(_ record: RoomRecord, takesOver: Bool) -> RoomID {
    if let index = rooms.firstIndex(where: { $0.receiver == record.id }) {
      if takesOver { rooms[index].isLost = false }
      world.claim(rooms[index].id, by: self, takesOver: takesOver)
      return rooms[index].id
    }
    lastRoom += 1
    rooms.append(Room(id: RoomID(lastRoom), receiver: record.id))
    world.claim(RoomID(lastRoom), by: self, takesOver: takesOver)
    return RoomID(lastRoom)
  }

  /// Nobody answers at addresses in this world.
  func addRoom(host: String, port: UInt16, takesOver: Bool) -> RoomID {
    lastRoom += 1
    rooms.append(Room(id: RoomID(lastRoom), receiver: "\(host):\(port)"))
    return RoomID(lastRoom)
  }

  func removeRoom(_ room: RoomID) {
    guard let index = rooms.firstIndex(where: { $0.id == room }) else { return }
    world.release(rooms.remove(at: index).receiver, by: self)
  }

  func noteFree(_ room: RoomID) {
    guard let index = rooms.firstIndex(where: { $0.id == room }) else { return }
    rooms[index].isLost = false
    world.claim(room, by: self, takesOver: false)
  }

  func lose(_ receiver: String) {
    guard let index = rooms.firstIndex(where: { $0.receiver == receiver }) else { return }
    rooms[index].isLost = true
    let told = SenderEvent.Room(id: rooms[index].id, name: receiver)
    world.tell(.room(told, .replaced(reason: "taken")), of: self)
  }

  /// The receiver ended the session, and is tried again.
  func miss(_ receiver: String) {
    guard let room = rooms.first(where: { $0.receiver == receiver }) else { return }
    let told = SenderEvent.Room(id: room.id, name: receiver)
    world.tell(.room(told, .gone(reason: "stranger plays there for a while")), of: self)
  }
}
