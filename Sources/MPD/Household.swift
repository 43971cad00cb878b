import House
import MPDProtocol
import Service
import Synchronization
import WebServer

/// Parts of a household that all clients share.
struct Household: Sendable {
  let house: any HouseControl
  let library: any LibraryControl
  let access: HouseAccess
  let server: LineServer
  let hub: ChangeHub
  let queues: QueueShelf
  let lists = ListBudget()
  let playtime = Playtime()
  let start: ContinuousClock.Instant
}

/// Bounds the memory of all lists of commands that clients are sending.
final class ListBudget: Sendable {
  /// Bytes: five of the longest lists of the shortest commands.
  static let limit = 32 << 20
  private let held = Mutex(0)

  /// A client holds so many bytes more, or fewer. Returns false if there is no room for more.
  func change(by bytes: Int) -> Bool {
    held.withLock { held in
      guard bytes <= 0 || held + bytes <= Self.limit else { return false }
      held += bytes
      return true
    }
  }
}

/// How long all tracks of the library play together, in seconds: reckoned once for each of its revisions, as clients ask
/// again and again.
final class Playtime: Sendable {
  private let known = Mutex<(revision: UInt64, seconds: Double)?>(nil)

  func seconds(
    of revision: UInt64, else reckon: () async throws -> Double
  ) async throws -> Double {
    if let known = known.withLock({ $0 }), known.revision == revision { return known.seconds }
    let seconds = try await reckon()
    known.withLock { $0 = (revision, seconds) }
    return seconds
  }
}

/// Turns paths of the library into URIs of clients, and back. The one folder of a library is the root of all URIs; of
/// several folders, the root shows the names.
struct LibraryPaths: Hashable, Sendable {
  private let folders: [String]

  init(_ folders: [String]) { self.folders = folders }

  init(_ state: HouseState) { folders = state.library.folders }

  /// The folder that the root shows; empty if it shows the names of folders.
  private var root: String { folders.count == 1 ? folders[0] : "" }

  func uri(_ path: String) -> String {
    guard !root.isEmpty else { return path }
    if path == root { return "" }
    return path.hasPrefix(root + "/") ? String(path.dropFirst(root.utf8.count + 1)) : path
  }

  /// Takes also a slash at the end, and the whole library as `/`.
  func path(_ uri: String) -> String {
    let plain = uri.split(separator: "/").joined(separator: "/")
    if root.isEmpty { return plain }
    return plain.isEmpty ? root : "\(root)/\(plain)"
  }
}

extension Song {
  init(_ song: LibrarySong, _ paths: LibraryPaths) {
    let track = song.track
    self.init(uri: paths.uri(song.path))
    (title, artist, album, albumArtist) =
      (track.title, track.artist, track.album, track.albumArtist)
    (self.track, disc, year) = (track.track, track.disc, track.year)
    (genres, composers, durationS) = (song.genres, song.composers, track.durationS)
    modifiedS = song.modifiedS > 0 ? song.modifiedS : nil
  }

  /// One that is not of the library, as far as the queue knows it.
  init(_ entry: QueuePage.Entry) {
    self.init(uri: entry.uri.hasPrefix("/") ? "file://\(entry.uri)" : entry.uri)
    // A title that is made of the address says nothing.
    let title = entry.uri.hasSuffix(entry.title) ? nil : entry.title
    if entry.isAddress { name = title } else { self.title = title }
    (artist, album, durationS) = (entry.artist, entry.album, entry.durationS)
  }
}

extension QueuePage.Entry {
  var isAddress: Bool { WebAddress(uri) != nil }
}

extension Ack {
  init(_ refusal: Refusal) {
    let code: Code =
      switch refusal {
      case .noSuch: .noExist
      case .invalid: .argument
      case .forbidden: .permission
      case .wrong, .tooMany: .password
      case .outdated, .unavailable, .notKept, .notYet, .nothingPlayable, .damaged: .system
      }
    self.init(code, refusal.description)
  }
}
