package import Clock
package import Driver
package import House
package import Sender

/// Decides which receivers a player's wish means, and when to give up a room that does not appear. Its owner tells it
/// what is known of the network; it searches nothing itself.
package struct RoomHunt {
  /// Time within which a named room must appear.
  static let discoveryTimeout = Nanoseconds.seconds(5)
  /// Time within which at least one room must be reached.
  static let connectTimeout = Nanoseconds.seconds(10)

  /// The state of the network and the group at one instant.
  package struct Knowledge {
    package var directory: RoomDirectory
    /// Returns true if a receiver has a room in the group.
    package var plays: (RoomRecord) -> Bool
    /// The group's rooms.
    package var rooms: [GroupStatus.Room]

    package init(
      directory: RoomDirectory, plays: @escaping (RoomRecord) -> Bool, rooms: [GroupStatus.Room]
    ) {
      self.directory = directory
      self.plays = plays
      self.rooms = rooms
    }
  }

  package let wish: RoomWish
  /// Names for which no room has been added yet.
  package private(set) var missing: [String]
  /// Time at which to call `look` again if nothing changes. Nil once all rooms were found and one was reached; from
  /// then on rooms may come and go as they like.
  package private(set) var deadline: LocalTime?
  private let startedAt: LocalTime
  private var hasReachedRoom = false

  package init(_ wish: RoomWish, at now: LocalTime) {
    self.wish = wish
    missing = wish.names
    startedAt = now
    deadline = now + Self.discoveryTimeout
  }

  /// True if the wish means this receiver. If several receivers have the same name, it means none of them.
  package func wants(_ record: RoomRecord, of directory: RoomDirectory) -> Bool {
    wish.isForAll && !directory.isImpostor(record)
      || wish.names.contains { directory.matches($0).map(\.id) == [record.id] }
  }

  /// Receivers that were seen before and can be tried at their old addresses at once.
  package func remembered(in directory: RoomDirectory) -> [RoomRecord] {
    wish.names.compactMap { try? directory.only($0) }
  }

  package mutating func reachedRoom() { hasReachedRoom = true }

  /// Updates `missing` and `deadline` from what is known now.
  ///
  /// - Throws: if a room that was asked for has not appeared in time, or none could be reached.
  package mutating func look(at now: LocalTime, _ known: Knowledge) throws(Refusal) {
    guard deadline != nil else { return }
    missing = wish.names.filter { !known.directory.matches($0).contains(where: known.plays) }
    let isFound = missing.isEmpty && !known.rooms.isEmpty
    if isFound, hasReachedRoom {
      deadline = nil
      return
    }
    let timeout = isFound ? Self.connectTimeout : Self.discoveryTimeout
    deadline = startedAt + timeout
    guard startedAt + timeout <= now else { return }
    if isFound {
      let reasons = known.rooms.map(\.explanation).joined(separator: "; ")
      throw .unavailable("no room could be reached: \(reasons)")
    }
    for name in missing { _ = try known.directory.only(name) }
    throw missing.first.map { .noRoom($0, of: known.directory) }
      ?? .unavailable(
        "no receiver was found; start tutti-receiver in a room, or name one with --at host:port")
  }
}

extension RoomDirectory {
  /// Returns the one receiver of this name. Throws if there is none, or more than one.
  package func only(_ name: String) throws(Refusal) -> RoomRecord {
    let matches = matches(name)
    guard let record = matches.first else { throw .noRoom(name, of: self) }
    guard matches.count == 1 else {
      let names = matches.map { "\($0.name)#\($0.id.prefix(4))" }.joined(separator: ", ")
      throw .invalid("there are \(matches.count) rooms called \(name); say which: \(names)")
    }
    return record
  }
}

extension RoomDirectory {
  /// Receivers of this name, with or without a part of the identity, or at this `host:port`.
  func records(meantBy text: String) -> [RoomRecord] {
    let named = matches(text)
    guard named.isEmpty, let (host, port) = try? RoomWish.address(text) else { return named }
    return records.filter { $0.port == port && $0.addresses.contains(host) }
  }
}

extension Refusal {
  static func noRoom(_ name: String, of directory: RoomDirectory) -> Refusal {
    let names = directory.present.map(\.name).joined(separator: ", ")
    let there = names.isEmpty ? "no receiver was found" : "found: \(names)"
    return .unavailable("no room called \(name) (\(there)); see: tutti receivers")
  }
}

extension GroupStatus.Room {
  /// The reason why the room does not play.
  package var explanation: String {
    if case .away(let reason) = connection { return "\(name): \(reason)" }
    return "\(name): no answer"
  }
}
