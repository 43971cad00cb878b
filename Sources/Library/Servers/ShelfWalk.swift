import ExpatFeeds
import PlaylistFormats

/// A question to a media server of UPnP.
enum ShelfQuestion: Hashable {
  /// Where its ContentDirectory is: a path.
  case description
  /// The name that it gives itself.
  case name
  /// The properties that a search may name.
  case capabilities(control: String)
  /// All songs, from a number on.
  case search(control: String, from: Int)
  /// The objects in a container.
  case browse(control: String, String, from: Int)

  static let wordCount = 4

  var words: [String] {
    switch self {
    case .description: ["description", "", "", ""]
    case .name: ["name", "", "", ""]
    case .capabilities(let control): ["capabilities", control, "", ""]
    case .search(let control, let offset): ["search", control, "", "\(offset)"]
    case .browse(let control, let container, let offset):
      ["browse", control, container, "\(offset)"]
    }
  }

  init?(words: ArraySlice<String>) {
    let words = Array(words)
    guard words.count == Self.wordCount else { return nil }
    let offset = Int(words[3]) ?? 0
    switch words[0] {
    case "description": self = .description
    case "name": self = .name
    case "capabilities": self = .capabilities(control: words[1])
    case "search": self = .search(control: words[1], from: offset)
    case "browse": self = .browse(control: words[1], words[2], from: offset)
    default: return nil
    }
  }
}

/// Lists the songs of a media server of UPnP once: by a search where the server can, else container by container, inner ones
/// first. A song that stands in several containers is told once, as the first of them has it.
final class ShelfWalk {
  /// Containers of one server, and those in each other; further ones are left out.
  static let containerLimit = 10_000
  static let depthLimit = 16
  /// Pages of one listing: a server may tell the same songs for ever.
  static let pageLimit = 20_000
  /// Objects and files that were told: the listing ends there. A server may call one file by other names for ever.
  static let toldLimit = 4 * ServerReader.songLimit
  private static let root = "0"

  private struct Place {
    /// Nil for a search.
    var container: String?
    var depth = 0
  }

  private let ask: (ShelfQuestion) -> WorkerAnswer?
  private var control: String?
  private var places: [Place] = []
  private var current = 0
  private var offset = 0
  private var pages = 0
  private var containers: Set<String> = [root]
  /// Those in the current one. They are walked before those beside it: Gerbera 1.1 has albums before lists of all songs, where
  /// titles have the artist before them, and pictures are those of any album.
  private var inner: [Place] = []
  /// Counts the songs of the current one that look the same, by the hash of their looks.
  private var alike: [Int: Int] = [:]
  /// The hashes of their names.
  private var told: Set<Int> = []

  init(_ ask: @escaping (ShelfQuestion) -> WorkerAnswer?) { self.ask = ask }

  /// Returns songs that were not told before, none at the end; or why there are none. Blocks.
  func next() -> WorkerAnswer? {
    if control == nil {
      let answer = ask(.description)
      guard case .done(let path) = answer else { return answer }
      control = path
      places = [Place(container: canSearch(path) ? nil : Self.root)]
    }
    while let control, current < places.count, pages < Self.pageLimit, told.count < Self.toldLimit {
      pages += 1
      let place = places[current]
      let answer = ask(
        place.container.map { .browse(control: control, $0, from: offset) }
          ?? .search(control: control, from: offset))
      // Some say that they can search, and then cannot, or find nothing. The first search after its scan fails at minidlna 1.3.
      if place.container == nil, offset == 0, !answer.hasObjects {
        if pages > 1 { places[current].container = Self.root }
        continue
      }
      guard case .shelf(let page) = answer else { return answer }
      let songs = take(page, in: place)
      if !songs.isEmpty { return .songs(songs, count: songs.count) }
    }
    return .songs([], count: 0)
  }

  private func canSearch(_ control: String) -> Bool {
    guard case .done(let text)? = ask(.capabilities(control: control)) else { return false }
    return text.split { $0 == "," || $0 == " " }.contains { $0 == "*" || $0 == "upnp:class" }
  }

  private func take(_ page: ShelfPage, in place: Place) -> [ServedSong] {
    if place.container != nil, place.depth < Self.depthLimit {
      for id in page.containers where containers.count < Self.containerLimit {
        if containers.insert(id).inserted {
          inner.append(Place(container: id, depth: place.depth + 1))
        }
      }
    }
    let songs = zip(page.songs, page.objects).compactMap { song, object -> ServedSong? in
      guard place.container == nil || looksNew(song) else { return nil }
      // No object's identifier begins as a file's path does.
      let isNew = told.insert("#\(object)".hashValue).inserted
      return told.insert(song.id.hashValue).inserted && isNew ? song : nil
    }
    offset += page.count
    if page.count == 0 || page.total > 0 && offset >= page.total {
      (current, offset) = (current + 1, 0)
      places.insert(contentsOf: inner, at: current)
      (inner, alike) = ([], [:])
    }
    return songs
  }

  /// False for a song that another container had. Gerbera 1.1 does not say what a song refers to, and each of its places has an
  /// address of its own. Two that look the same in one container are two.
  private func looksNew(_ song: ServedSong) -> Bool {
    guard let looks = Self.looks(of: song)?.hashValue else { return true }
    let count = alike[looks, default: 0]
    alike[looks] = count + 1
    return told.insert("=\(looks) \(count)".hashValue).inserted
  }

  /// Returns the tags that are the same wherever the song stands; nil if the server does not tell the size of its file. Its
  /// title is not, for it is the file's name in some containers; without album and number it counts all the same.
  private static func looks(of song: ServedSong) -> [String]? {
    guard song.size > 0 else { return nil }
    let isKnown = !song.album.isEmpty && song.track != nil
    let texts = [song.suffix, song.artist, song.albumArtist, song.album, song.genre]
    let numbers = [song.track, song.disc, song.year].map { "\($0 ?? 0)" }
    return texts + numbers + [isKnown ? "" : song.title, "\(song.size)", "\(song.durationS ?? 0)"]
  }
}

extension WorkerAnswer? {
  fileprivate var hasObjects: Bool {
    if case .shelf(let page) = self { page.count > 0 } else { false }
  }
}

extension ShelfPage {
  /// None has a zero.
  var words: [String] {
    ["\(count)", "\(total)", "\(containers.count)"] + containers + objects
      + songs.flatMap(\.words)
  }

  init?(words: ArraySlice<String>) {
    let words = Array(words)
    let numbers = words.prefix(3).compactMap { Int($0) }
    guard numbers.count == 3, numbers.allSatisfy((0...1_000_000_000).contains) else { return nil }
    let (count, total, containerCount) = (numbers[0], numbers[1], numbers[2])
    let rest = words.count - 3 - containerCount
    let songCount = rest / (ServedSong.wordCount + 1)
    guard (0...Self.objectLimit).contains(containerCount), rest >= 0,
      rest % (ServedSong.wordCount + 1) == 0,
      let songs = ServedSong.songs(words[(3 + containerCount + songCount)...])
    else { return nil }
    self.init()
    (self.count, self.total, self.songs) = (count, total, songs)
    containers = Array(words[3..<3 + containerCount])
    objects = Array(words[(3 + containerCount)..<(3 + containerCount + songCount)])
  }
}
