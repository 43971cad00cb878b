import Sender
import WireProtocol

/// Stereo pairs. Surfaces see and name a pair as one room; what is asked of it is asked of both its rooms, before anything
/// else looks at it (`whole`). Both are in the same group, and are kept equally loud.
extension HouseSession {
  func carryOut(_ order: Order.StereoOrder) throws(Refusal) -> Done {
    desk.hasNews = true
    switch order {
    case .show:
      let lines = stereo.pairs.map(text(of:))
      return Done(said: lines.isEmpty ? "there are no stereo pairs" : lines.joined(separator: "\n"))
    case .make(let left, let right, let name): return try makePair(left, right, name)
    case .swap(let room):
      let pair = try pair(room)
      stereo.swap(pair.id)
      return Done(room: pair.id, said: text(of: try self.pair(room)))
    case .separate(let room):
      let pair = try pair(room)
      stereo.separate(pair)
      speakersThere.subtract(pair.rooms)
      let names = pair.rooms.map(name(ofRoom:)).joined(separator: " and ")
      return Done(room: pair.id, said: "\(names) are rooms of their own again")
    }
  }

  private func makePair(
    _ left: String, _ right: String, _ name: String?
  ) throws(Refusal) -> Done {
    for room in [left, right] {
      try check(room: room)
      let called = self.name(ofRoom: room)
      guard stereo.pair(of: room) == nil else {
        throw .invalid("\(called) is a stereo pair already; separate it first")
      }
      guard known.ids.contains(room) else {
        throw .unavailable("\(called) is known by its address alone; wait until it is found")
      }
      guard !needsPairing(room) else {
        throw .unavailable("\(called) is not paired yet; pair it first")
      }
    }
    if let name {
      try SetUp.check(name: name)
      try checkFree(name, for: [left, right])
    }
    var made = stereo
    let pair = try made.make(left, right, name: name) { room in halfShown(room)?.channels }
    stereo = made
    if let group = plan.group(ofRoom: left)?.id ?? plan.group(ofRoom: right)?.id {
      carryOut(pair.rooms.compactMap { plan.join($0, group) })
    }
    return Done(room: pair.id, said: text(of: pair))
  }

  private func pair(_ room: String) throws(Refusal) -> StereoPair {
    guard let pair = stereo.pair(of: room) else {
      throw .noSuch("\(name(ofRoom: room)) is no stereo pair")
    }
    return pair
  }

  /// - Parameter name: nil is made of the names of its rooms.
  func rename(_ pair: StereoPair, to name: String?) throws(Refusal) {
    if let name {
      try SetUp.check(name: name)
      try checkFree(name, for: pair.rooms)
    }
    stereo.rename(pair.id, to: name)
    desk.hasNews = true
  }

  func name(of pair: StereoPair) -> String {
    pair.name ?? HousePlan.name(ofRooms: pair.rooms.map(nameByItself))
  }

  private func text(of pair: StereoPair) -> String {
    "\(name(of: pair)): left \(nameByItself(pair.left.room)), right \(nameByItself(pair.right.room))"
  }

  // MARK: - What is asked of a pair

  /// The same request of both rooms of each pair that it names.
  func whole(_ request: Request) -> Request {
    guard !stereo.pairs.isEmpty else { return request }
    switch request {
    case .order(let order): return .order(whole(order))
    case .play(var wish, let entries, let group):
      wish.rooms = stereo.whole(wish.rooms)
      return .play(wish, entries, group: group)
    case .announce(var wish):
      wish.rooms = stereo.whole(wish.rooms)
      return .announce(wish)
    case .silence(let rooms): return .silence(rooms.map(stereo.whole))
    }
  }

  /// Identities are never refused.
  private func whole(_ order: Order) -> Order {
    (try? order.resolved(by: WholePairs(book: stereo))) ?? order
  }

  /// Sets both rooms. One that cannot be told now is told when it is back.
  func set(_ change: RoomChange, of pair: StereoPair) throws(Refusal) -> String {
    guard change.channels == nil else {
      throw .invalid("a stereo pair plays left and right; swap it, or separate it")
    }
    var change = change
    if change.isStep, let step = change.volume, let volume = shown(pair.id)?.volume {
      let range = RoomChange.volumes
      change.volume = min(max(volume + step, range.lowerBound), range.upperBound)
      change.isStep = false
    }
    var (refusal, missed): (Refusal?, [String]) = (nil, [])
    for room in pair.rooms {
      do throws(Refusal) {
        _ = try set(change, of: room)
      } catch {
        if case .invalid = error { throw error }
        refusal = error
        missed.append(room)
      }
    }
    if let refusal, missed.count == pair.rooms.count { throw refusal }
    for room in missed where !change.level.isEmpty {
      alarms.debts[room, default: RoomChange()].merge(change.level)
    }
    keepPairs()
    return shown(pair.id)?.settingsSentence ?? "\(name(of: pair)): set"
  }

  // MARK: - What is kept so

  /// Each room of a pair plays its channel, or both while the other one cannot play, and both are as loud as each other.
  func keepPairs() {
    keepChannels()
    for pair in keptPairs { keepLevels(pair) }
    for speaker in stereo.owed { pay(speaker) }
  }

  func keepChannels() {
    for pair in keptPairs { keepChannels(pair) }
  }

  /// A pair that a killed process forgets would leave its rooms with half of the music.
  private var keptPairs: [StereoPair] {
    stereo.pairs.filter { disk.kept.stereo.isPair($0.rooms) }
  }

  private func keepChannels(_ pair: StereoPair) {
    let sides = [
      (pair.left.room, RoomChange.ChannelMap.left, pair.right.room),
      (pair.right.room, .right, pair.left.room),
    ]
    for (room, channel, other) in sides {
      let wanted = canPlay(other) ? channel : .mono
      guard let settings = settings(of: room), settings.channelMap != wanted else { continue }
      tellNow(RoomChange(channels: wanted), to: room)
    }
  }

  private func canPlay(_ room: String) -> Bool {
    switch state(ofRoom: room) {
    case .free, .joining, .playing: true
    case .away, .taken, .notPaired, .noDevice: false
    }
  }

  /// One that has come back is as loud as the one that was there. Where one of both was changed, the other follows.
  private func keepLevels(_ pair: StereoPair) {
    let (left, right) = (pair.left.room, pair.right.room)
    let awaited = pair.rooms.filter { isOwed($0) || ring(in: $0) != nil }
    guard awaited.isEmpty else {
      // One that is owed something follows the one that is there.
      speakersThere.formUnion(
        pair.rooms.filter { !awaited.contains($0) && settings(of: $0) != nil })
      return
    }
    let (first, second) = (settings(of: left), settings(of: right))
    let wereThere = (speakersThere.contains(left), speakersThere.contains(right))
    speakersThere.subtract(pair.rooms)
    if first != nil { speakersThere.insert(left) }
    if second != nil { speakersThere.insert(right) }
    guard let first, let second else {
      levels[pair.id] = (first ?? second).map(Level.init) ?? levels[pair.id]
      return
    }
    let (old, new) = (Level(first), Level(second))
    let level: Level
    switch wereThere {
    case (true, false): level = old
    case (false, true): level = new
    // Both come at once: where one of them is as loud as they were, the other was set by somebody else.
    case (false, false):
      let before = levels[pair.id]
      level = before == old || before == new ? before ?? old : min(old, new)
    case (true, true):
      let before = levels[pair.id]
      level = new == before ? old : old == before ? new : min(old, new)
    }
    let limit = [first, second].compactMap { $0.volumeLimit?.volume }.min() ?? .max
    let common = Level(volume: min(level.volume, limit), isMuted: level.isMuted)
    levels[pair.id] = common
    let change = RoomChange(volume: Double(common.volume) / 10, muted: common.isMuted)
    if old != common { tellNow(change, to: left) }
    if new != common { tellNow(change, to: right) }
  }

  private func pay(_ speaker: StereoPair.Speaker) {
    let settings = settings(of: speaker.room) ?? rooms[speaker.room]?.visit?.settings
    if settings?.channelMap == speaker.map {
      stereo.paid(speaker.room)
      desk.hasNews = true
      saveEdits()
    } else if rooms[speaker.room]?.sign == nil {
      tellNow(RoomChange(channels: speaker.map), to: speaker.room)
    }
  }

  /// As the room has said them to whoever plays there.
  private func settings(of room: String) -> RoomSettings? { playerRoom(room, nil)?.settings }

  /// One that cannot be told is told at the next look.
  private func tellNow(_ change: RoomChange, to room: String) {
    if let ring = ring(in: room), let number = ring.rooms[room] {
      _ = try? ring.player.set(change, in: [.room(number)])
    } else if (try? setNow(change, of: room)) != nil {
      owe(change, to: [room])
    }
  }

  /// How loud both rooms of a pair are.
  struct Level: Hashable, Comparable {
    var volume: UInt16
    var isMuted: Bool

    init(volume: UInt16, isMuted: Bool) { (self.volume, self.isMuted) = (volume, isMuted) }
    init(_ settings: RoomSettings) {
      self.init(volume: settings.volume, isMuted: settings.isMuted)
    }

    static func < (one: Level, other: Level) -> Bool {
      (one.isMuted ? 0 : 1, one.volume) < (other.isMuted ? 0 : 1, other.volume)
    }
  }

  // MARK: - What surfaces see

  /// Pairs in the place of their rooms. What was never heard of a room is that it is away.
  func shown(_ rooms: [HouseState.Room]) -> [HouseState.Room] {
    guard !stereo.pairs.isEmpty else { return rooms }
    let found = Dictionary(rooms.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    func half(_ id: String) -> HouseState.Room {
      var room =
        found[id]
        ?? HouseState.Room(id: id, name: id, state: .away, isPaired: true, isPresent: false)
      room.name = nameByItself(id)
      return room
    }
    let known = stereo.pairs.filter { found[$0.left.room] != nil || found[$0.right.room] != nil }
    return rooms.filter { stereo.pair(of: $0.id) == nil }
      + known.map { pair in
        HouseState.Room(
          pair, called: name(of: pair), left: half(pair.left.room), right: half(pair.right.room))
      }
  }

  /// A scene with pairs as one room each.
  func shown(_ scene: Scene) -> Scene {
    var shown = scene
    shown.rooms = stereo.shown(scene.rooms.map(\.id)).map { id in
      let rooms = stereo.whole([id])
      return .init(
        id: id, volume: scene.rooms.filter { rooms.contains($0.id) }.compactMap(\.volume).min())
    }
    return shown
  }
}

/// Names both rooms of a stereo pair where an order names several rooms. An order to one room stays as it is: the session
/// then does the same in both, and says so once.
private struct WholePairs: OrderNames {
  let book: StereoBook

  func rooms(_ rooms: [String], in group: String?) -> [String] { book.whole(rooms) }
  func room(_ room: String, in group: String?) -> String { room }
  func newRoom(_ room: String) -> String { room }
  func group(_ group: String) -> String { group }
  func entry(_ entry: Int, in group: String) -> Int { entry }
  func input(_ entry: Order.NewEntry) -> Order.NewEntry { entry }
  func scene(_ scene: String) -> String { scene }
}
