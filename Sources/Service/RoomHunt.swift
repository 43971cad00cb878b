package import Clock
package import Driver
package import Sender

/// Decides which receivers a player means by its wish, and when to give up a room that does not appear. It is told what
/// is known of the network, and looks for nothing itself.
package struct RoomHunt {
  /// How long a named room may take to appear.
  static let discoveryPatience = Nanoseconds.seconds(5)
  /// How long no room at all may be reached before that is given up.
  static let connectPatience = Nanoseconds.seconds(10)

  /// What is known at one instant.
  package struct Knowledge {
    package var directory: RoomDirectory
    /// Whether a receiver has a room in the group.
    package var plays: (RoomRecord) -> Bool
    /// Those of the group.
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
  /// Names that no room was added for.
  package private(set) var missing: [String]
  /// When to look again, if nothing changes; nil once all rooms were found and one was reached. From then on rooms may
  /// leave and go as they like.
  package private(set) var deadline: LocalTime?
  private let startedAt: LocalTime
  private var hasReachedRoom = false

  package init(_ wish: RoomWish, at now: LocalTime) {
    self.wish = wish
    missing = wish.names
    startedAt = now
    deadline = now + Self.discoveryPatience
  }

  /// Whether this receiver is meant. Of several that have one name none is.
  package func wants(_ record: RoomRecord, of directory: RoomDirectory) -> Bool {
    wish.isForAll && !directory.isImpostor(record)
      || wish.names.contains { directory.matches($0).map(\.id) == [record.id] }
  }

  /// Receivers that were seen before, to be tried at their old addresses at once.
  package func remembered(in directory: RoomDirectory) -> [RoomRecord] {
    wish.names.compactMap { try? directory.only($0) }
  }

  package mutating func reachedRoom() { hasReachedRoom = true }

  /// Looks at what is known now.
  ///
  /// - Throws: where a room that was asked for has not appeared, or none could be reached.
  package mutating func look(at now: LocalTime, _ known: Knowledge) throws(Refusal) {
    guard deadline != nil else { return }
    missing = wish.names.filter { !known.directory.matches($0).contains(where: known.plays) }
    let isFound = missing.isEmpty && !known.rooms.isEmpty
    if isFound, hasReachedRoom {
      deadline = nil
      return
    }
    let patience = isFound ? Self.connectPatience : Self.discoveryPatience
    deadline = startedAt + patience
    guard startedAt + patience <= now else { return }
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
  /// The one receiver of this name.
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
  /// Why it does not play.
  package var explanation: String {
    if case .away(let reason) = connection { return "\(name): \(reason)" }
    return "\(name): no answer"
  }
}
