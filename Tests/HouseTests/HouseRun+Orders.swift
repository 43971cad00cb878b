import Clock
import Sender
import TestSupport

@testable import House

/// The orders of an evening, as each door says them, and what the model makes of them.
extension HouseRun {
  /// What is asked for, a few words about it, and what the model makes of it: false if it must be refused, nil if both are
  /// possible.
  typealias Drawn = (request: HouseSession.Request, text: String, follow: () -> Bool?)

  func drawRequest() throws -> Drawn? {
    if let group = draggedGroup.flatMap({ model.group($0) }), Bool.random(using: &random) {
      return try drawSlider(group)
    }
    draggedGroup = nil
    guard let group = model.groups.randomElement(using: &random) else { return drawCreate() }
    switch Int.random(in: 0..<36, using: &random) {
    case 0: return drawCreate()
    case 1 where model.groups.count > 2:
      return try said(.deleteGroup(group.id)) { [self] in
        model.delete(group.id)
        return true
      }
    case 2..<5: return try drawChange(group)
    case 5..<10: return try drawTransport(group)
    case 10, 11: return try drawJoin(group)
    case 12: return try drawLeave(group)
    case 13: return try drawMerge(group)
    case 14: return drawPlay()
    case 15: return try Bool.random(using: &random) ? drawSilence() : drawStopEverywhere()
    case 16, 17: return try drawRoomOrder()
    case 18, 19: return try drawSlider(group)
    case 20..<23: return try drawPair()
    default: return try drawEdit(group)
    }
  }

  var rooms: [String] { world.receivers.map(\.id) }

  private func someRooms() -> [String] {
    Array(rooms.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)))
  }

  /// True if other senders play in the room, in both rooms of a pair, and are known by that.
  private func isTaken(_ room: String) -> Bool { model.whole([room]).allSatisfy(isTakenItself) }

  private func isTakenItself(_ room: String) -> Bool {
    if isVisited(room), model.group(ofRoom: room) == nil { return false }
    return world.receivers.contains { $0.id == room && $0.answers && $0.holder == .stranger }
  }

  /// A room that is visited, shows itself or has just left its group may seem for a moment to be busy with that.
  func isVisited(_ room: String) -> Bool {
    world.session.rooms[room].map {
      $0.visit != nil || $0.sign != nil || $0.wasHeld(at: world.now)
    } ?? false
  }

  // MARK: - Groups and rooms

  private func drawCreate() -> Drawn {
    let rooms = someRooms()
    let name = Bool.random(using: &random) ? nil : "Party \(model.lastNumber + 1)"
    return plain(.createGroup(rooms: rooms, name: name)) { [self] in
      _ = model.create(rooms, name: name)
      return true
    }
  }

  private func drawChange(_ group: HouseModel.Group) throws -> Drawn? {
    var change = Order.GroupChange()
    switch Int.random(in: 0..<6, using: &random) {
    case 0: change.name = "Hall \(model.lastNumber)\(group.id)"
    case 1: change.roomIds = someRooms()
    case 2: return try drawSlider(group)
    case 3: change.effects = EffectsChange(rate: 1.5)
    case 4: change.sleepInS = [0.0, 5, 30].randomElement(using: &random)
    default: change.repeat = Playlist.Repetition.allCases.randomElement(using: &random)
    }
    let now = world.now
    return try said(.change(group: group.id, change)) { [self, change] in
      model.use(group.id)
      model.with(group.id) { group in
        group.name = change.name ?? group.name
        group.repetition = change.repeat ?? group.repetition
        if let seconds = change.sleepInS {
          group.sleep = seconds == 0 ? nil : now + .seconds(Int64(seconds))
        }
      }
      if let rooms = change.roomIds { model.setRooms(of: group.id, to: rooms) }
      return true
    }
  }

  private func drawJoin(_ group: HouseModel.Group) throws -> Drawn? {
    guard let room = rooms.randomElement(using: &random) else { return nil }
    let takes = Int.random(in: 0..<3, using: &random) == 0
    world.mayTake = takes
    return try said(.join(group: group.id, room: room, takes: takes)) { [self] in
      guard takes || !isTaken(room) else { return false }
      model.use(group.id)
      model.join([room], group.id)
      return true
    }
  }

  private func drawLeave(_ group: HouseModel.Group) throws -> Drawn? {
    let rooms = Bool.random(using: &random) ? group.rooms : Array(group.rooms.prefix(1))
    return try said(.leave(group: group.id, rooms: rooms)) { [self] in
      model.use(group.id)
      model.leave(rooms)
      return true
    }
  }

  private func drawMerge(_ group: HouseModel.Group) throws -> Drawn? {
    guard let other = model.groups.randomElement(using: &random) else { return nil }
    return try said(.merge(group: group.id, other: other.id)) { [self] in
      guard other.id != group.id else { return false }
      model.use(group.id)
      model.merge(other.id, into: group.id)
      return true
    }
  }

  private func drawRoomOrder() throws -> Drawn? {
    guard let room = rooms.randomElement(using: &random) else { return nil }
    if model.group(ofRoom: room) == nil, Bool.random(using: &random) {
      return try said(.identify(room: room)) { nil }
    }
    return try drawVolume(of: room)
  }

  private func drawSilence() -> Drawn {
    let all = model.groups.flatMap(\.rooms)
    let rooms = Bool.random(using: &random) ? nil : Array(all.shuffled(using: &random).prefix(2))
    let follow: () -> Bool? = { [self] in
      for group in model.groups {
        let meant = group.rooms.filter { rooms.map(model.whole)?.contains($0) ?? true }
        if rooms == nil || !meant.isEmpty && meant.count == group.rooms.count {
          model.with(group.id) { group in (group.music, group.unheardSince) = (.resting, nil) }
        } else {
          model.leave(meant)
        }
      }
      return true
    }
    return (.silence(rooms), "silence \(rooms?.count ?? -1)", follow)
  }

  private func drawStopEverywhere() throws -> Drawn {
    let times: [Double?] = [nil, 0, 5, 30]
    let seconds = times.randomElement(using: &random) ?? nil
    let now = world.now
    return try said(.stopEverywhere(sleepInS: seconds)) { [self] in
      for group in model.groups {
        model.with(group.id) { group in
          switch seconds {
          case 0?: group.sleep = nil
          case _ where !group.music.isMeantToPlay: break
          case nil: (group.music, group.unheardSince) = (.resting, nil)
          case let seconds?: group.sleep = now + .seconds(Int64(seconds))
          }
        }
      }
      return true
    }
  }

  /// As `tutti play` asks for it.
  private func drawPlay() -> Drawn? {
    let rooms = someRooms()
    guard !rooms.isEmpty else { return nil }
    let takes = Bool.random(using: &random)
    world.mayTake = takes
    let request = PlayRequest(
      entries: [], rooms: rooms, addresses: [], shuffles: false, repetition: nil, effects: .init(),
      takes: takes)
    let entries = [Order.NewEntry(location: "/music/a.flac")]
    let follow: () -> Bool? = { [self] in
      var id = model.groups.first { Set($0.rooms) == Set(model.whole(rooms)) }?.id
      // Nobody would hear it.
      if id != nil, !takes, rooms.allSatisfy(isTaken) { return false }
      if id == nil {
        let isRefused = rooms.contains {
          !takes && isTaken($0) && model.group(ofRoom: $0) == nil
        }
        guard !isRefused else { return false }
        id = model.create(rooms, name: nil)
      }
      guard let id else { return false }
      model.use(id)
      return model.edit(id, .add(entries, at: .now), current: nil)
    }
    return (
      .play(request, entries, group: nil), "play in \(rooms.map(name(of:))) \(takes)", follow
    )
  }

  // MARK: - Music and lists

  private func drawTransport(_ group: HouseModel.Group) throws -> Drawn? {
    let all: [Order.Transport] =
      group.music == .resting ? Order.Transport.allCases : [.play, .pause, .stop]
    guard let transport = all.randomElement(using: &random) else { return nil }
    return try said(.transport(group: group.id, transport)) { [self] in
      model.transport(group.id, transport)
    }
  }

  func current(_ group: String) -> Int? {
    world.session.groups[group].flatMap { $0.place($0.player.status)?.entry }
  }

  private func drawEdit(_ group: HouseModel.Group) throws -> Drawn? {
    let edit = edit(group)
    let id = group.id
    return try said(.edit(group: id, edit, expected: nil)) { [self] in
      if case .undo = edit, let merge = model.standingMerge(of: id) {
        model.use(id)
        model.part(merge, from: id)
        return true
      }
      if case .shuffle = edit { willShuffle(id) }
      // Without a current entry, the player decides where the next one stands.
      if edit.isForNext, current(id) == nil { willShuffle(id) }
      return model.edit(id, edit, current: current(id))
    }
  }

  private func edit(_ group: HouseModel.Group) -> Order.QueueEdit {
    // After the removal of an entry that plays, the session decides what follows.
    let playing = current(group.id)
    let others = group.ids.filter { $0 != playing || group.music == .resting }
    switch Int.random(in: 0..<15, using: &random) {
    case 0..<5:
      let entries = (0..<Int.random(in: 1...3, using: &random)).map { number in
        Order.NewEntry(location: "/music/\(number).flac")
      }
      return .add(entries, at: place(group))
    case 5: return Bool.random(using: &random) ? .clear : .clearOthers
    // An undo takes the input away while it plays, and the session decides what follows.
    case 6, 7: return group.visit == nil ? .undo : .shuffle
    case 8: return .shuffle
    case 14: return .unshuffle
    case 9, 10: return others.randomElement(using: &random).map { .remove([$0]) } ?? .clear
    case 11, 12:
      guard let id = others.randomElement(using: &random) else { return .clear }
      let place = place(group)
      return .move(id, to: [.now, .nowAndKeep].contains(place) ? .end : place)
    default: return group.ids.randomElement(using: &random).map { .play($0) } ?? .clear
    }
  }

  private func place(_ group: HouseModel.Group) -> Order.Place {
    switch Int.random(in: 0..<7, using: &random) {
    case 0: return .now
    case 6: return .nowAndKeep
    // Where it rests at an entry that is gone, the session decides what is next.
    case 1:
      let isListed = current(group.id).map(group.ids.contains) ?? false
      return group.music == .resting && isListed ? .next : .end
    case 2: return .end
    case 3: return group.ids.randomElement(using: &random).map { .before($0) } ?? .end
    default: return .number(Int.random(in: 1...group.ids.count + 2, using: &random))
    }
  }

  // MARK: - Doors

  private func plain(_ order: Order, _ follow: @escaping () -> Bool?) -> Drawn {
    (.order(order), "\(order)", follow)
  }

  /// The order through any door: what reaches the household must be the same.
  func said(_ order: Order, _ follow: @escaping () -> Bool?) throws -> Drawn {
    switch Door.allCases.randomElement(using: &random) ?? .page {
    case .page: return plain(order, follow)
    case .library: return plain(order.fromLibrary, follow)
    case .terminal:
      let spoken = order.spoken(
        group: { self.spoken($0) }, room: name(of:),
        number: { id, group in
          (self.world.session.groups[group]?.items.firstIndex { $0.id == id } ?? -2) + 1
        })
      let names = HouseNames(
        world.session, meant: nil,
        receivers: { [known = world.known] text in known.records.filter { $0.name == text } })
      let heard = try spoken.resolved(by: names)
      // A pair has the name of neither of its rooms.
      if shown(heard) != shown(order) { try fail("\(spoken) was heard as \(heard)") }
      return (.order(heard), "terminal: \(order)", follow)
    }
  }

  func name(of room: String) -> String {
    model.pair(of: room).map(name(of:)) ?? nameByItself(room)
  }

  func nameByItself(_ room: String) -> String {
    world.receivers.first { $0.id == room }?.name ?? room
  }

  private func shown(_ order: Order) -> Order {
    order.spoken(
      group: { $0 }, room: { self.model.pair(of: $0)?.id ?? $0 }, number: { id, _ in id })
  }

  private func spoken(_ group: String) -> String {
    if model.meant == group { return Order.meantGroup }
    return model.group(group)?.name?.uppercased() ?? group
  }
}

extension Order {
  /// With all that a library knows of its files.
  fileprivate var fromLibrary: Order {
    guard case .edit(let group, .add(let entries, let place), let expected) = self else {
      return self
    }
    let known = entries.map { entry in
      var entry = entry
      (entry.title, entry.artist, entry.trackId) = ("Sinnerman", "Nina Simone", "t1")
      return entry
    }
    return .edit(group: group, .add(known, at: place), expected: expected)
  }

  /// As a terminal says it, with names and numbers.
  fileprivate func spoken(
    group: (String) -> String, room: (String) -> String, number: (Int, String) -> Int
  ) -> Order {
    switch self {
    case .createGroup(let rooms, let name): .createGroup(rooms: rooms.map(room), name: name)
    case .deleteGroup(let id): .deleteGroup(group(id))
    case .change(let id, var change):
      {
        change.roomIds = change.roomIds?.map(room)
        return .change(group: group(id), change)
      }()
    case .transport(let id, let transport): .transport(group: group(id), transport)
    case .seek(let id, let seconds, let isRelative):
      .seek(group: group(id), seconds: seconds, isRelative: isRelative)
    case .join(let id, let name, let takes): .join(group: group(id), room: name, takes: takes)
    case .leave(let id, let rooms): .leave(group: group(id), rooms: rooms.map(room))
    case .merge(let id, let other): .merge(group: group(id), other: group(other))
    case .edit(let id, let edit, let expected):
      .edit(group: group(id), edit.spoken { number($0, id) }, expected: expected)
    case .set(let rooms, let change): .set(rooms: rooms.map(room), change)
    case .identify(let name): .identify(room: room(name))
    case .addAlarm(let change): .addAlarm(change.spoken(room))
    case .changeAlarm(let id, let change): .changeAlarm(id, change.spoken(room))
    case .setUp(.nameRoom(let id, let name)): .setUp(.nameRoom(room(id), name))
    case .stereo(.make(let left, let right, let name)):
      .stereo(.make(left: room(left), right: room(right), name: name))
    case .stereo(.swap(let id)): .stereo(.swap(room(id)))
    case .stereo(.separate(let id)): .stereo(.separate(room(id)))
    case .stopEverywhere, .removeAlarm, .endAlarm, .night, .scene, .stereo(.show), .setUp: self
    }
  }
}

extension AlarmChange {
  fileprivate func spoken(_ room: (String) -> String) -> AlarmChange {
    var change = self
    change.roomIds = roomIds?.map(room)
    return change
  }
}

extension Order.QueueEdit {
  fileprivate var isForNext: Bool {
    switch self {
    case .add(_, at: .next), .move(_, to: .next): true
    default: false
    }
  }

  fileprivate func spoken(_ number: (Int) -> Int) -> Order.QueueEdit {
    func spoken(_ place: Order.Place) -> Order.Place {
      if case .before(let id) = place { .before(number(id)) } else { place }
    }
    return switch self {
    case .add(let entries, let place): .add(entries, at: spoken(place))
    case .clear, .clearOthers, .undo, .shuffle, .unshuffle: self
    case .remove(let ids): .remove(ids.map(number))
    case .move(let id, let place): .move(number(id), to: spoken(place))
    case .play(let id): .play(number(id))
    }
  }
}
