import Glibc
import Sender

/// The locations of the library's folders. Within the library a path begins with the name of one of them,
/// such as `Music/Jazz`; a location is the same place on this machine.
struct LibraryFolders: Sendable {
  struct Root: Hashable, Sendable {
    let name: String
    let location: String

    /// True for the library of a server, which is no folder.
    var isServed: Bool { ServedLocation.isOne(location) }
  }

  let roots: [Root]

  /// Gives the second of two folders with the same name a number. Skips a folder inside another.
  ///
  /// - Parameter served: the names of servers' libraries, which come first.
  init(_ locations: [String], served: [String] = []) {
    var roots = served.map { Root(name: $0, location: ServedLocation.scheme + $0) }
    // Uses the folder's own name, not that of a link's target: a link to something that is not mounted has
    // no target.
    let all = locations.map(Self.plain)
    for (place, whole) in all.enumerated() {
      let isCovered = all.enumerated().contains { other, folder in
        whole.hasPrefix(folder + "/") || (whole == folder && other < place)
      }
      if isCovered { continue }
      let last = whole.split(separator: "/").last.map(String.init) ?? "Music"
      var name = last
      for number in 2... {
        if !roots.contains(where: { $0.name == name }) { break }
        name = "\(last) \(number)"
      }
      roots.append(Root(name: name, location: whole))
    }
    self.roots = roots
  }

  /// Returns nil if the path begins with none of the folders.
  func location(of path: String) -> String? {
    let parts = path.split(separator: "/", maxSplits: 1)
    guard let root = roots.first(where: { $0.name == parts.first ?? "" }) else { return nil }
    return parts.count == 2 ? "\(root.location)/\(parts[1])" : root.location
  }

  /// Returns nil for a location outside the folders. Does not look at the disk.
  func path(of location: String) -> String? {
    let plain = ServedLocation.isOne(location) ? location : Self.plain(location)
    for root in roots {
      if plain == root.location { return root.name }
      if plain.hasPrefix(root.location + "/") {
        return root.name + plain.dropFirst(root.location.count)
      }
    }
    return nil
  }

  /// True for the library of a server, and what is in it.
  func isServed(_ path: String) -> Bool {
    roots.contains { $0.isServed && LibraryPath.isInside(path, $0.name) }
  }

  /// Returns the location without links, or nil if it is outside the folders: a link in them may lead out.
  func confined(_ location: String) -> String? {
    guard location.hasPrefix("/"), let real = Self.resolved(location) else { return nil }
    let isInside = roots.contains { root in
      if root.isServed { return false }
      let base = Self.resolved(root.location) ?? root.location
      return real.hasPrefix(base + "/")
    }
    return isInside ? real : nil
  }

  private static func resolved(_ location: String) -> String? {
    guard let real = realpath(FileName.bytes(of: location), nil) else { return nil }
    defer { free(real) }
    let count = strlen(real)
    return real.withMemoryRebound(to: UInt8.self, capacity: count) {
      FileName.text(UnsafeBufferPointer(start: $0, count: count))
    }
  }

  /// Removes `.`, `..` and doubled slashes.
  private static func plain(_ location: String) -> String {
    var parts: [Substring] = []
    for part in location.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }
}

/// A path within the library.
enum LibraryPath {
  /// Returns nil for a library folder itself.
  static func parent(_ path: String) -> String? {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
  }

  static func name(_ path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) }
      ?? path
  }

  static func isInside(_ path: String, _ folder: String) -> Bool {
    path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: "\(folder)/".utf8)
  }

  /// Returns the name for people, without its extension.
  static func title(_ name: String) -> String {
    let shown = ItemMetadata.shown(FileName.shown(name))
    guard let dot = shown.lastIndex(of: "."), dot > shown.startIndex else { return shown }
    return String(shown[..<dot])
  }

  /// True if the folder is one disc of an album, by its name: `CD1`, `Disc 2 - Live`.
  static func isDisc(_ path: String) -> Bool {
    let name = name(path).lowercased()
    for word in ["cd", "disc", "disk", "disque"] where name.hasPrefix(word) {
      let rest = name.dropFirst(word.count).drop { " -_#.".contains($0) }
      return rest.first.map { $0.isASCII && $0.isNumber } ?? false
    }
    return false
  }
}
