import WireProtocol

/// Two rooms that play as one: the left and the right channel, with one name and one volume. Every surface shows it as a
/// room; groups and players have both.
package struct StereoPair: Codable, Hashable, Sendable {
  /// More than a household has pairs of loudspeakers.
  package static let limit = 64

  /// One of its two rooms.
  package struct Speaker: Codable, Hashable, Sendable {
    package var room: String
    /// The channels that it played before, such as `stereo`.
    package var channels: String

    package init(room: String, channels: String) { (self.room, self.channels) = (room, channels) }

    var map: RoomChange.ChannelMap { RoomChange.ChannelMap(name: channels) ?? .stereo }
  }

  /// The identity of the room that was its left one at first: what was chosen for that before is meant for the pair.
  package let id: String
  package var left: Speaker
  package var right: Speaker
  /// Nil is made of the names of its rooms.
  package var name: String?

  package init(left: Speaker, right: Speaker, name: String?) {
    id = left.room
    (self.left, self.right, self.name) = (left, right, name)
  }

  package var rooms: [String] { [left.room, right.room] }

  mutating func swap() { (left, right) = (right, left) }
}

/// A household's pairs, and what is still to be told to rooms that were in one.
package struct StereoBook: Codable, Hashable, Sendable {
  /// Rooms that are to get back their channels: both rooms of as many pairs as there may be.
  package static let owedLimit = 2 * StereoPair.limit

  /// In the order in which they were made.
  package private(set) var pairs: [StereoPair] = []
  /// Rooms that are in no pair any more, and the channels that they are to play again.
  package private(set) var owed: [StereoPair.Speaker] = []

  package init() {}

  package func pair(of room: String) -> StereoPair? {
    pairs.first { $0.left.room == room || $0.right.room == room }
  }

  /// True if both are the rooms of one pair.
  func isPair(_ rooms: [String]) -> Bool { pairs.contains { Set($0.rooms) == Set(rooms) } }

  /// The same rooms, each one of a pair with the other one.
  package func whole(_ rooms: [String]) -> [String] {
    guard !pairs.isEmpty else { return rooms }
    var seen: Set<String> = []
    return rooms.flatMap { pair(of: $0)?.rooms ?? [$0] }.filter { seen.insert($0).inserted }
  }

  /// The same rooms as people see them: of a pair, its identity alone.
  package func shown(_ rooms: [String]) -> [String] {
    guard !pairs.isEmpty else { return rooms }
    var seen: Set<String> = []
    return rooms.map { pair(of: $0)?.id ?? $0 }.filter { seen.insert($0).inserted }
  }

  // MARK: - Changes

  /// - Parameter channels: of each of the rooms, as they are now.
  mutating func make(
    _ left: String, _ right: String, name: String?, channels: (String) -> String?
  ) throws(Refusal) -> StereoPair {
    guard left != right else { throw .invalid("a stereo pair is made of two rooms") }
    guard pairs.count < StereoPair.limit else {
      throw .unavailable("there are \(StereoPair.limit) stereo pairs already; separate one")
    }
    func speaker(_ room: String) -> StereoPair.Speaker {
      let due = owed.first { $0.room == room }?.channels
      return .init(room: room, channels: due ?? channels(room) ?? RoomChange.ChannelMap.stereo.name)
    }
    let pair = StereoPair(left: speaker(left), right: speaker(right), name: name)
    owed.removeAll { pair.rooms.contains($0.room) }
    pairs.append(pair)
    return pair
  }

  mutating func swap(_ id: String) { with(id) { $0.swap() } }
  mutating func rename(_ id: String, to name: String?) { with(id) { $0.name = name } }

  /// Its rooms are to play the channels that they played before.
  mutating func separate(_ pair: StereoPair) {
    pairs.removeAll { $0.id == pair.id }
    let freed = [pair.left, pair.right]
    owed = owed.filter { !pair.rooms.contains($0.room) } + freed
    // Who waits longest is a room that is gone for good.
    owed.removeFirst(max(0, owed.count - Self.owedLimit))
  }

  mutating func paid(_ room: String) { owed.removeAll { $0.room == room } }

  private mutating func with(_ id: String, _ body: (inout StereoPair) -> Void) {
    guard let index = pairs.firstIndex(where: { $0.id == id }) else { return }
    body(&pairs[index])
  }

  /// Leaves out what nobody can have chosen; others may have written it.
  package var sound: StereoBook {
    var (sound, seen) = (StereoBook(), Set<String>())
    for pair in pairs.prefix(StereoPair.limit) where Set(pair.rooms).count == 2 {
      let isNamed = pair.name.map { (try? SetUp.check(name: $0)) != nil } ?? true
      guard isNamed, pair.rooms.contains(pair.id), seen.isDisjoint(with: pair.rooms) else {
        continue
      }
      seen.formUnion(pair.rooms)
      sound.pairs.append(pair)
    }
    sound.owed = owed.suffix(Self.owedLimit).filter { seen.insert($0.room).inserted }
    return sound
  }
}
