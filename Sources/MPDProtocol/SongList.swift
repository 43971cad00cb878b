/// The part and the order of the songs that a client wants.
package struct SongOrder: Hashable, Sendable {
  package var window: Range<Int>?
  package var sort: SortKey?
  package var isDescending = false

  package enum SortKey: Hashable, Sendable {
    case tag(TagType)
    case lastModified
    case none
  }

  package init() {}

  /// Takes `sort TYPE` and `window START:END` from the end of the arguments.
  package init(takenFrom arguments: inout [String]) throws(Ack) {
    while arguments.count >= 2 {
      let (key, value) = (arguments[arguments.count - 2], arguments[arguments.count - 1])
      if key == "window", window == nil {
        window = try Argument.range(value)
      } else if key == "sort", sort == nil {
        isDescending = value.hasPrefix("-")
        sort = try Self.key(String(value.drop { $0 == "-" }))
      } else {
        return
      }
      arguments.removeLast(2)
    }
  }

  private static func key(_ text: String) throws(Ack) -> SortKey {
    if text.lowercased() == "last-modified" { return .lastModified }
    let base = text.lowercased().hasSuffix("sort") ? String(text.dropLast(4)) : text
    if let tag = TagType(base) { return .tag(tag) }
    guard TagType.isKnown(text) else { throw .argument("Unknown sort tag") }
    return SortKey.none
  }

  /// Puts songs in order, and leaves out what is not wanted.
  package func applied(to songs: [Song]) -> [Song] {
    var songs = songs
    switch sort {
    case .tag(let tag):
      let keys = songs.map { Self.key(of: $0, tag) }
      let order = songs.indices.sorted {
        keys[$0] == keys[$1] ? $0 < $1 : (keys[$0] < keys[$1]) != isDescending
      }
      songs = order.map { songs[$0] }
    case .lastModified:
      let order = songs.indices.sorted {
        let (one, other) = (songs[$0].modifiedS ?? 0, songs[$1].modifiedS ?? 0)
        return one == other ? $0 < $1 : (one < other) != isDescending
      }
      songs = order.map { songs[$0] }
    case .none?, nil: break
    }
    guard let window else { return songs }
    return Array(songs[min(window.lowerBound, songs.count)..<min(window.upperBound, songs.count)])
  }

  private struct Key: Comparable {
    let number: Int
    let text: String

    static func < (one: Key, other: Key) -> Bool {
      (one.number, one.text) < (other.number, other.text)
    }
  }

  private static func key(of song: Song, _ tag: TagType) -> Key {
    switch tag {
    case .track: Key(number: song.track ?? 0, text: "")
    case .disc: Key(number: song.disc ?? 0, text: "")
    case .date: Key(number: song.year ?? 0, text: "")
    default: Key(number: 0, text: song.values(orFallback: tag).first ?? "")
    }
  }
}

/// The values of a tag in songs, by the values of other tags: the answer to `list … group …`.
package struct TagTree: Sendable {
  /// Values and groups; more than a large library has.
  package static let limit = 200_000

  private let tags: [TagType]
  private var rows: Set<[String]> = []

  /// - Parameters:
  ///   - tag: the tag that is listed.
  ///   - groups: in the order in which the client named them; the last is the outermost.
  package init(_ tag: TagType, groups: [TagType]) { tags = groups.reversed() + [tag] }

  package mutating func add(_ song: Song) {
    guard rows.count < Self.limit else { return }
    var rows: [[String]] = [[]]
    for tag in tags {
      let values = song.values(orFallback: tag)
      rows = rows.flatMap { row in (values.isEmpty ? [""] : values).map { row + [$0] } }
      // A song with many genres and composers would make many rows.
      rows = Array(rows.prefix(64))
    }
    self.rows.formUnion(rows)
  }

  package func write(to reply: inout Reply) {
    var before: [String] = []
    for row in rows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let same = zip(row, before).prefix { $0 == $1 }.count
      for place in min(same, tags.count - 1)..<tags.count {
        reply.pair(tags[place].rawValue, row[place])
      }
      before = row
    }
  }
}

/// The numbers of songs and seconds, maybe by the values of a tag: the answer to `count`.
package struct SongCount: Sendable {
  private let group: TagType?
  private var figures: [String: (songs: Int, seconds: Double)] = [:]

  package init(group: TagType?) { self.group = group }

  package mutating func add(_ song: Song) {
    let values = group.map { song.values(orFallback: $0) } ?? [""]
    for value in values.isEmpty ? [""] : values {
      guard figures.count < TagTree.limit || figures[value] != nil else { continue }
      figures[value, default: (0, 0)].songs += 1
      figures[value, default: (0, 0)].seconds += song.durationS ?? 0
    }
  }

  package func write(to reply: inout Reply) {
    if group == nil { return Self.write(figures[""] ?? (0, 0), to: &reply) }
    for value in figures.keys.sorted() {
      if let group { reply.pair(group.rawValue, value) }
      Self.write(figures[value] ?? (0, 0), to: &reply)
    }
  }

  private static func write(_ figures: (songs: Int, seconds: Double), to reply: inout Reply) {
    reply.pair("songs", figures.songs)
    reply.pair("playtime", Int(min(figures.seconds, 1e12)))
  }
}
