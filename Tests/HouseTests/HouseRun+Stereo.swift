import Clock
import TestSupport
import WireProtocol

@testable import House

/// Stereo pairs in an evening: what is asked of them, and what must hold.
extension HouseRun {
  /// The run compares the channels of a speaker only where nothing has happened to its room for a while.
  struct Speakers {
    struct Sight: Equatable {
      var group: String?
      /// Its group's player has it.
      var isHeld: Bool
      /// It could play, if it does not.
      var canPlay: Bool
      var pair: HouseModel.Pair?
      /// The pair is on the disk: before, no room is told its channel.
      var isKept: Bool
    }

    var sights: [String: (sight: Sight, since: LocalTime)] = [:]
  }

  private static let settling = Nanoseconds.milliseconds(2_500)
  /// A free room is told by a visit, of which there are few at a time.
  private static let visiting = Nanoseconds.seconds(20)

  /// The household looks at its rooms at least so often.
  private static let looking = Nanoseconds.seconds(1)

  // MARK: - Orders

  func name(of pair: HouseModel.Pair) -> String {
    pair.name ?? pair.rooms.map(nameByItself).joined(separator: " + ")
  }

  func drawPair() throws -> Drawn? {
    guard let room = rooms.randomElement(using: &random),
      let other = rooms.randomElement(using: &random)
    else { return nil }
    let pair = model.pair(of: room)
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<4: return try drawMaking(room, other)
    case 4, 5:
      return try said(.stereo(.separate(room))) { [self] in
        model.pairs.removeAll { $0.id == pair?.id }
        return pair != nil
      }
    case 6:
      return try said(.stereo(.swap(room))) { [self] in
        if let pair { model.withPair(pair.id) { ($0.left, $0.right) = ($0.right, $0.left) } }
        return pair != nil
      }
    default:
      guard let pair else { return nil }
      let name = drawName()
      return try said(.setUp(.nameRoom(room, name))) { [self] in
        guard name.map({ isFree($0, for: pair.rooms) }) ?? true else { return false }
        model.withPair(pair.id) { $0.name = name }
        return true
      }
    }
  }

  private func drawMaking(_ left: String, _ right: String) throws -> Drawn? {
    let name = drawName()
    return try said(.stereo(.make(left: left, right: right, name: name))) { [self] in
      let rooms = [left, right]
      let isRefused =
        left == right || rooms.contains { model.pair(of: $0) != nil || needsPIN($0) }
        || !(name.map { isFree($0, for: rooms) } ?? true)
      if !isRefused { model.makePair(left, right, name: name) }
      loudness.levels[left] = nil
      return !isRefused
    }
  }

  private func drawName() -> String? {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: nil
    case 1: rooms.randomElement(using: &random).map(nameByItself)
    default: "Den \(Int.random(in: 0..<3, using: &random))"
    }
  }

  /// Rooms of other pairs keep their own names, which they get back.
  private func isFree(_ name: String, for meant: [String]) -> Bool {
    rooms.allSatisfy { room in
      meant.contains(room) || self.name(of: room) != name && nameByItself(room) != name
    }
  }

  private func needsPIN(_ room: String) -> Bool {
    world.receivers.contains { $0.id == room && $0.needsPIN }
  }

  // MARK: - Comparison

  private func sight(_ receiver: SimulatedWorld.Receiver) -> Speakers.Sight {
    let group = model.group(ofRoom: receiver.id)?.id
    let isOurs = if case .ours = receiver.holder { true } else { false }
    let isWaiting =
      receiver.holder == .nobody && group.map { !world.isLost(receiver, by: $0) } ?? true
    return .init(
      group: group, isHeld: group.map { world.holds(receiver, $0) } ?? false,
      canPlay: receiver.answers && (isOurs || isWaiting), pair: model.pair(of: receiver.id),
      isKept: kept.pairs.contains { Set($0.rooms) == Set(model.whole([receiver.id])) })
  }

  func lookAtSpeakers() {
    for receiver in world.receivers {
      let sight = sight(receiver)
      let before = speakers.sights[receiver.id]?.sight
      if before?.group != sight.group {
        // A player knows a room that comes again by another number.
        for group in [before?.group, sight.group].compactMap(\.self)
        where loudness.sliders[group]?.last[receiver.id] != nil {
          loudness.sliders[group] = nil
        }
      }
      if before != sight {
        speakers.sights[receiver.id] = (sight, world.now)
      }
    }
    // The first that comes back is as loud as it was, also where the other one goes before the household has looked.
    for pair in model.pairs
    where !pair.rooms.contains(where: { isHeld($0) && calm($0) > Self.looking }) {
      loudness.levels[pair.id] = nil
    }
  }

  private func isHeld(_ room: String) -> Bool { speakers.sights[room]?.sight.isHeld ?? false }

  /// For how long nothing has happened to the room.
  private func calm(_ room: String) -> Nanoseconds {
    speakers.sights[room].map { world.now - $0.since } ?? .zero
  }

  func compareSpeakers(_ session: HouseSession) throws {
    lookAtSpeakers()
    let pairs = session.stereo.pairs.map {
      "\($0.id) \($0.left.room) \($0.right.room) \($0.name ?? "-")"
    }
    let wanted = model.pairs.map { "\($0.id) \($0.left) \($0.right) \($0.name ?? "-")" }
    if pairs != wanted { try fail("pairs \(pairs), not \(wanted)") }
    for pair in model.pairs where pair.rooms.allSatisfy({ calm($0) > Self.settling }) {
      try compare(pair)
    }
    for receiver in world.receivers where model.pair(of: receiver.id) == nil {
      guard let sight = speakers.sights[receiver.id]?.sight else { continue }
      let span = sight.isHeld ? Self.settling : Self.visiting
      let isReached = sight.isHeld || sight.group == nil && receiver.holder == .nobody
      if receiver.answers, isReached, calm(receiver.id) > span,
        receiver.settings.channelMap != .stereo
      {
        try fail("\(receiver.name) is in no pair and plays \(receiver.settings.channelMap)")
      }
    }
  }

  private func compare(_ pair: HouseModel.Pair) throws {
    let both = pair.rooms.compactMap { room in world.receivers.first { $0.id == room } }
    let sights = both.map(sight)
    for index in both.indices where sights[index].isHeld && sights[index].isKept {
      let side = index == 0 ? RoomSettings.ChannelMap.left : .right
      let wanted = sights[1 - index].canPlay ? side : .mono
      let channels = both[index].settings.channelMap
      if channels != wanted {
        try fail("\(both[index].name) of \(name(of: pair)) plays \(channels), not \(wanted)")
      }
    }
    let held = both.indices.filter { sights[$0].isHeld && sights[$0].isKept }
      .map { both[$0].settings }
    let volumes = Set(held.map(\.volume))
    let level = loudness.levels[pair.id]
    if volumes.count > 1 || !volumes.isEmpty && level != nil && volumes.first != level {
      try fail("\(name(of: pair)): volumes \(held.map(\.volume)), not \(level ?? 0)")
    }
    loudness.levels[pair.id] = volumes.first
    if !pair.rooms.contains(where: isVisited) {
      try compareShown(pair, sights)
    }
  }

  /// Surfaces see one room.
  private func compareShown(_ pair: HouseModel.Pair, _ sights: [Speakers.Sight]) throws {
    let state = world.session.state(at: world.now)
    let rooms = state.rooms.filter { pair.rooms.contains($0.id) }
    guard let room = rooms.first, rooms.count == 1, room.id == pair.id else {
      return try fail("\(name(of: pair)) is shown as \(rooms.map(\.name))")
    }
    let canPlay = sights.map(\.canPlay)
    let missing: HouseState.Stereo.Side? =
      canPlay[0] == canPlay[1] ? nil : canPlay[0] ? .right : .left
    if room.name != name(of: pair) || room.stereo?.missing != missing {
      try fail("\(room.name) misses \(String(describing: room.stereo?.missing))")
    }
    let group = model.group(ofRoom: pair.id)
    let shown = state.groups.first { $0.id == group?.id }?.roomIds.filter(pair.rooms.contains)
    if room.groupId != group?.id || shown ?? [pair.id] != [pair.id] {
      try fail("\(room.name) is shown in \(room.groupId ?? "no group"), with \(shown ?? [])")
    }
  }
}
