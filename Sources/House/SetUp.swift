/// The choices that a household's people have made for it, beside what its configuration names.
package struct SetUp: Codable, Hashable, Sendable {
  /// Folders with music, as locations on this machine, in the order in which they were added.
  package private(set) var folders: [String] = []
  /// In the order in which they were added; nil in records of older programs.
  package private(set) var servers: [ChosenServer]?
  /// In the order of the rooms' identities.
  package private(set) var names: [RoomName] = []
  /// The language in which pages write dates, such as `de-AT`; nil is that of each browser.
  package private(set) var dates: String?

  package struct RoomName: Codable, Hashable, Sendable {
    package var room: String
    package var name: String

    package init(room: String, name: String) { (self.room, self.name) = (room, name) }
  }

  /// The keys of the configuration that decide something, so that nobody can change it elsewhere.
  package struct Fixed: Hashable, Sendable {
    /// Such as `library`.
    package var keys: [String]
    package var folders: [String]
    package var servers: [MediaServer]

    package init(
      keys: [String] = [], folders: [String] = [], servers: [MediaServer] = []
    ) {
      (self.keys, self.folders, self.servers) = (keys, folders, servers)
    }
  }

  /// More folders than a household has disks.
  package static let folderLimit = 32
  /// Each has a thread.
  package static let serverLimit = 8
  /// In bytes of UTF-8, as a receiver's own.
  package static let longestName = 64
  /// As many as rooms are remembered.
  package static let roomLimit = 256
  private static let pathLimit = 4_096

  package init() {}

  package func name(ofRoom room: String) -> String? { names.first { $0.room == room }?.name }

  // MARK: - Changes

  /// Adds a folder. It takes the place of folders within it.
  package mutating func add(folder path: String, _ fixed: Fixed) throws(Refusal) {
    try Self.check(path: path)
    if let other = (fixed.folders + folders).first(where: { Self.isInside(path, $0) }) {
      throw .invalid("\(path) is in the library already\(other == path ? "" : ", within \(other)")")
    }
    let left = folders.filter { !Self.isInside($0, path) }
    guard left.count < Self.folderLimit else {
      throw .unavailable("no more than \(Self.folderLimit) folders are taken; remove one first")
    }
    folders = left + [path]
  }

  package mutating func remove(folder path: String, _ fixed: Fixed) throws(Refusal) {
    if fixed.folders.contains(path) {
      throw .unavailable("the configuration names this folder: library = \(path)")
    }
    guard let index = folders.firstIndex(of: path) else {
      throw .noSuch("\(path) is no folder of the library; see: tutti folders")
    }
    folders.remove(at: index)
  }

  /// Adds the library of a server.
  package mutating func add(server: ChosenServer, _ fixed: Fixed) throws(Refusal) {
    _ = try server.server()
    let name = server.name.lowercased()
    let names = fixed.servers.map(\.name) + (servers ?? []).map(\.name)
    guard !names.contains(where: { $0.lowercased() == name }) else {
      throw .invalid("there is a library \(server.name) already")
    }
    // Its songs would take the places of the folder's.
    guard !(fixed.folders + folders).contains(where: { $0.lowercased().hasSuffix("/" + name) })
    else { throw .invalid("a folder of the library is called \(server.name)") }
    guard names.count < Self.serverLimit else {
      throw .unavailable(
        "no more than \(Self.serverLimit) libraries of servers are taken; remove one first")
    }
    servers = (servers ?? []) + [server]
  }

  package mutating func remove(server name: String, _ fixed: Fixed) throws(Refusal) {
    if fixed.servers.contains(where: { $0.name == name }) {
      throw .unavailable("the configuration names this server: [library \(name)]")
    }
    guard let index = servers?.firstIndex(where: { $0.name == name }) else {
      throw .noSuch("\(name) is no server of the library; see: tutti servers")
    }
    servers?.remove(at: index)
  }

  /// - Parameter name: nil is the room's own.
  package mutating func name(room: String, _ name: String?) throws(Refusal) {
    var others = names.filter { $0.room != room }
    if let name {
      try Self.check(name: name)
      guard others.count < Self.roomLimit else {
        throw .unavailable("no more than \(Self.roomLimit) rooms get names")
      }
      others.append(RoomName(room: room, name: name))
    }
    names = others.sorted { $0.room < $1.room }
  }

  package mutating func set(dates language: String?) throws(Refusal) {
    if let language, !Self.isLanguage(language) {
      throw .invalid("a language is written such as en, de or de-AT")
    }
    dates = language
  }

  /// Leaves out what nobody can have chosen; others may have written it.
  package var sound: SetUp {
    var sound = SetUp()
    for folder in folders { do throws(Refusal) { try sound.add(folder: folder, Fixed()) } catch {} }
    for server in servers ?? [] {
      do throws(Refusal) { try sound.add(server: server, Fixed()) } catch {}
    }
    for room in names {
      do throws(Refusal) { try sound.name(room: room.room, room.name) } catch {}
    }
    do throws(Refusal) { try sound.set(dates: dates) } catch {}
    return sound
  }

  // MARK: - Rules

  /// Throws unless a room or a stereo pair can be called so.
  static func check(name: String) throws(Refusal) {
    guard (1...longestName).contains(name.utf8.count),
      name.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace || $0 == " " }),
      name.first != " ", name.last != " "
    else { throw .invalid("a room's name has 1 to 64 bytes, in one line") }
  }

  private static func check(path: String) throws(Refusal) {
    let steps = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard path.hasPrefix("/"), path.utf8.count <= pathLimit, !path.unicodeScalars.contains("\0"),
      steps.allSatisfy({ !["", ".", ".."].contains($0) })
    else { throw .invalid("a folder is named by its whole path, such as /srv/music") }
  }

  private static func isInside(_ path: String, _ folder: String) -> Bool {
    path == folder || path.hasPrefix(folder + "/")
  }

  /// A tag of BCP 47: parts of letters and digits, the first of two or three letters.
  private static func isLanguage(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard text.utf8.count <= 35, let first = parts.first, (2...3).contains(first.count) else {
      return false
    }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return first.allSatisfy { letters.contains($0 | 32) }
      && parts.allSatisfy { part in
        (1...8).contains(part.count)
          && part.allSatisfy { letters.contains($0 | 32) || digits.contains($0) }
      }
  }
}

/// A folder of the library, and whether the configuration names it.
package struct HouseFolder: Hashable, Sendable {
  package var path: String
  package var isFixed: Bool

  package init(path: String, isFixed: Bool) { (self.path, self.isFixed) = (path, isFixed) }
}
