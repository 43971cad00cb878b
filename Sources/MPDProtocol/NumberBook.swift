/// Keeps the numbers by which clients know rooms and groups: an output's number, a group's port and slug. They last over
/// restarts, and while a room or a group is away.
package struct NumberBook: Hashable, Sendable {
  /// Rooms that are remembered.
  package static let roomLimit = 1_024
  /// Groups that are remembered: as many as there may be, and as many that have gone.
  package static let groupLimit = 128

  package struct Group: Hashable, Sendable {
    package let id: String
    /// Zero until it gets one.
    package fileprivate(set) var port: Int
    package fileprivate(set) var slug: String
    /// False while a room was known by its address alone, so that the slug waits for its name.
    fileprivate var isFinal: Bool
  }

  /// Who has made the name of a group.
  package enum Naming: Hashable, Sendable {
    case user, rooms
    /// Its rooms, of which one is known by its address alone.
    case address
  }

  private var rooms: [String] = []
  /// In the order in which they came.
  package private(set) var groups: [Group] = []

  package init() {}

  // MARK: - Rooms

  /// The output's number of a room that `note` has seen.
  package func number(ofRoom id: String) -> Int? { rooms.firstIndex(of: id) }

  package func room(_ number: Int) -> String? {
    rooms.indices.contains(number) ? rooms[number] : nil
  }

  /// Gives rooms numbers that have none.
  package mutating func note(rooms ids: [String]) {
    for id in ids where !rooms.contains(id) {
      if rooms.count < Self.roomLimit, Self.isPlain(id) { rooms.append(id) }
    }
  }

  // MARK: - Groups

  package func group(_ id: String) -> Group? { groups.first { $0.id == id } }
  package func group(slug: String) -> Group? { groups.first { $0.slug == slug } }
  package func group(port: Int) -> Group? { groups.first { $0.port == port } }

  /// Gives groups ports and slugs that have none, and forgets the oldest of those that have gone.
  ///
  /// - Parameter base: the lowest port; nil while nobody answers at ports, so that groups get slugs alone.
  package mutating func note(
    groups present: [(id: String, name: String, by: Naming)], base: Int?
  ) {
    let ids = present.map(\.id)
    for group in present where Self.isPlain(group.id) {
      if let place = groups.firstIndex(where: { $0.id == group.id }) {
        setName(place, to: group.name, by: group.by)
        if let base, groups[place].port == 0 { groups[place].port = freePort(from: base) }
      } else {
        groups.append(
          Group(
            id: group.id, port: base.map { freePort(from: $0) } ?? 0, slug: freeSlug(group.name),
            isFinal: group.by != .address))
      }
    }
    while groups.count > Self.groupLimit,
      let place = groups.firstIndex(where: { !ids.contains($0.id) })
    {
      groups.remove(at: place)
    }
  }

  /// Gives a group the next port that no group has.
  package mutating func setPort(of id: String, above port: Int) {
    guard let place = groups.firstIndex(where: { $0.id == id }) else { return }
    groups[place].port = freePort(from: port + 1)
  }

  private mutating func setName(_ place: Int, to name: String, by naming: Naming) {
    let wanted = Self.slug(name)
    let isSame = groups[place].slug == wanted || groups[place].slug.hasPrefix(wanted + "-")
    // One that is called by its rooms keeps the slug that it had first.
    let follows = naming == .user || !groups[place].isFinal
    groups[place].isFinal = groups[place].isFinal || naming != .address
    guard follows, !isSame else { return }
    groups[place].slug = ""
    groups[place].slug = freeSlug(name)
  }

  private func freePort(from base: Int) -> Int {
    (base...).first { port in !groups.contains { $0.port == port } } ?? base
  }

  private func freeSlug(_ name: String) -> String {
    let slug = Self.slug(name)
    if group(slug: slug) == nil { return slug }
    for number in 2... where group(slug: "\(slug)-\(number)") == nil { return "\(slug)-\(number)" }
    return slug
  }

  /// Letters and figures of a name in lower case, with a dash between its words.
  package static func slug(_ name: String) -> String {
    var slug = ""
    for character in name.lowercased().decomposed {
      if character.isASCII, character.properties.isAlphabetic || ("0"..."9").contains(character) {
        slug.unicodeScalars.append(character)
      } else if !character.properties.isDiacritic, slug.last != "-", !slug.isEmpty {
        slug.append("-")
      }
      if slug.utf8.count >= 40 { break }
    }
    while slug.last == "-" { slug.removeLast() }
    // This is the name of the group of each port.
    return slug.isEmpty || slug == "default" ? "group" : slug
  }

  /// True if it can stand in a line of the text.
  private static func isPlain(_ id: String) -> Bool {
    !id.isEmpty && id.utf8.count <= 256 && id.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}

extension String {
  /// Letters without their accents, as far as they are made of Latin letters with an accent.
  fileprivate var decomposed: [Unicode.Scalar] {
    unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
      guard let plain = Self.accents[scalar] else { return [scalar] }
      return Array(plain.unicodeScalars)
    }
  }

  private static let accents: [Unicode.Scalar: String] = [
    "ä": "a", "á": "a", "à": "a", "â": "a", "å": "a", "ã": "a", "æ": "ae", "ç": "c", "é": "e",
    "è": "e", "ê": "e", "ë": "e", "í": "i", "ì": "i", "î": "i", "ï": "i", "ñ": "n", "ö": "o",
    "ó": "o", "ò": "o", "ô": "o", "õ": "o", "ø": "o", "ß": "ss", "ü": "u", "ú": "u", "ù": "u",
    "û": "u", "ý": "y", "č": "c", "š": "s", "ž": "z", "ł": "l",
  ]
}

// MARK: - As it is kept

extension NumberBook {
  /// Larger than the longest text, in bytes.
  package static let sizeLimit = 1 << 20

  /// One line for each room and each group.
  package var text: String {
    rooms.map { "room \($0)\n" }.joined()
      + groups.map { "group \($0.id) \($0.port) \($0.slug) \($0.isFinal ? 1 : 0)\n" }.joined()
  }

  /// Leaves out lines that are not understood.
  package init(text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if words.count == 2, words[0] == "room" { note(rooms: [words[1]]) }
      guard words.count == 5, words[0] == "group", groups.count < Self.groupLimit,
        Self.isPlain(words[1]), group(words[1]) == nil, let port = UInt16(words[2]),
        Self.slug(words[3]) == words[3], group(slug: words[3]) == nil
      else { continue }
      groups.append(
        Group(id: words[1], port: Int(port), slug: words[3], isFinal: words[4] == "1"))
    }
  }
}
