import Sender

/// Rooms that somebody wants to hear together again, each as loud as it was.
package struct Scene: Codable, Hashable, Sendable {
  /// More than anybody finds in a list.
  package static let limit = 64
  package static let roomLimit = 64

  package struct Room: Codable, Hashable, Sendable {
    package var id: String
    /// 0 to 100; nil where it was not known.
    package var volume: Double?

    package init(id: String, volume: Double?) { (self.id, self.volume) = (id, volume) }
  }

  package let id: String
  package var name: String
  package var rooms: [Room]

  package init(id: String, name: String, rooms: [Room]) {
    (self.id, self.name, self.rooms) = (id, name, rooms)
  }

  /// False where somebody else has written it.
  package var isSound: Bool {
    number != nil && (try? HouseName.checked(name)) == name && rooms.count <= Self.roomLimit
      && rooms.allSatisfy { $0.volume.map(RoomChange.volumes.contains) ?? true }
  }

  /// The number in its identity; nil where somebody else has written it.
  package var number: Int? {
    guard let number = Int(id.dropFirst()), id == "s\(number)",
      (1...AlarmRecord.numberLimit).contains(number)
    else { return nil }
    return number
  }
}

/// The names that people give to groups and scenes.
enum HouseName {
  /// Longer than anybody calls one.
  private static let limit = 100

  /// Nil for an empty one.
  static func checked(_ name: String) throws(Refusal) -> String? {
    guard name.count <= limit, name.utf8.count <= 4 * limit else {
      throw .invalid("a name has at most \(limit) characters")
    }
    let shown = ItemMetadata.shown(FileName.shown(name))
    return shown.allSatisfy(\.isWhitespace) ? nil : shown
  }
}

/// A household's scenes, in the order in which they were first saved.
struct SceneBook: Hashable {
  private(set) var scenes: [Scene]
  /// The number of the newest: no identity is used twice.
  private(set) var lastNumber: Int

  init(restoring scenes: [Scene], lastNumber: Int) {
    self.scenes = Array(scenes.prefix(Scene.limit))
    self.lastNumber = lastNumber
  }

  func scene(_ id: String) throws(Refusal) -> Scene {
    guard let scene = scenes.first(where: { $0.id == id }) else {
      throw .noSuch("there is no such scene any more")
    }
    return scene
  }

  /// Replaces the one of this name.
  mutating func save(_ rooms: [Scene.Room], as name: String) throws(Refusal) -> Scene {
    if let index = scenes.firstIndex(where: { $0.name == name }) {
      scenes[index].rooms = rooms
      return scenes[index]
    }
    guard scenes.count < Scene.limit else {
      throw .unavailable("there are \(Scene.limit) scenes already; remove one")
    }
    lastNumber += 1
    scenes.append(Scene(id: "s\(lastNumber)", name: name, rooms: rooms))
    return scenes[scenes.count - 1]
  }

  mutating func remove(_ id: String) { scenes.removeAll { $0.id == id } }

  /// Numbers that were given stay so.
  mutating func revert(to scenes: [Scene]) { self.scenes = scenes }
}
