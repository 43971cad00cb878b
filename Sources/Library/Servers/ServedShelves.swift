import Glibc
import House
import SQLiteStore
import Synchronization

/// Takes what servers list into the tables. For the scanner's thread.
final class ServedShelves {
  private struct Shelf {
    let reader: ServerReader
    var scan: ServedScan?
    var isAway = false
    /// True once all of its songs were told.
    var isKnown = false
  }

  private let database: Database
  private let folders: LibraryFolders
  private let absences: AwayServers
  private let report: (String) -> Void
  private var shelves: [Shelf]

  init(
    _ readers: [ServerReader], _ database: Database, _ folders: LibraryFolders,
    away: AwayServers, report: @escaping (String) -> Void
  ) {
    shelves = readers.map { Shelf(reader: $0) }
    (self.database, self.folders, self.report) = (database, folders, report)
    absences = away
  }

  /// Names of those that do not answer.
  var away: [String] { shelves.filter(\.isAway).map(\.reader.server.name) }

  /// True while a server tells its songs.
  var isListing: Bool { shelves.contains { $0.scan != nil } }

  /// Returns nil if there was nothing to take; else true if the tables have changed.
  func take() throws(SQLiteError) -> Bool? {
    var hasChanged: Bool?
    for place in shelves.indices {
      guard let news = shelves[place].reader.take() else { continue }
      let isWritten = try take(news, &shelves[place])
      hasChanged = hasChanged == true || isWritten
    }
    return hasChanged
  }

  private func take(_ news: ServerReader.News, _ shelf: inout Shelf) throws(SQLiteError) -> Bool {
    let name = shelf.reader.server.name
    do throws(SQLiteError) {
      switch news {
      case .page(let songs):
        return try scan(&shelf).take(songs)
      case .end(let count):
        let scan = try scan(&shelf)
        shelf.scan = nil
        // One that has lost its disk lists nothing.
        guard count > 0 || !scan.isKnown else {
          fail(&shelf, "it lists no songs")
          return false
        }
        let hasChanged = try scan.end()
        tell(&shelf, count)
        return hasChanged
      case .failed(let reason):
        fail(&shelf, reason)
        return false
      }
    } catch {
      shelf.scan = nil
      if error.kind == .damaged { throw error }
      report("library \(name): its songs cannot be kept: \(error)")
      return false
    }
  }

  /// The listing under way, or a new one.
  private func scan(_ shelf: inout Shelf) throws(SQLiteError) -> ServedScan {
    if let scan = shelf.scan { return scan }
    let scan = try ServedScan(shelf.reader.server.name, database, folders)
    shelf.scan = scan
    return scan
  }

  private func tell(_ shelf: inout Shelf, _ count: Int) {
    if shelf.isAway || !shelf.isKnown {
      let server = shelf.reader.server
      report(
        "library \(server.name): \(server.address.host) has \(count) song\(count == 1 ? "" : "s")")
    }
    if count >= ServerReader.songLimit, !shelf.isKnown {
      report("library \(shelf.reader.server.name): only \(ServerReader.songLimit) songs are read")
    }
    (shelf.isAway, shelf.isKnown) = (false, true)
    absences.isThere(shelf.reader.server.name)
  }

  private func fail(_ shelf: inout Shelf, _ reason: String) {
    if !shelf.isAway {
      report(
        "library \(shelf.reader.server.name): it cannot be listed: \(reason); "
          + "what was in it is kept, and it is asked again")
    }
    (shelf.scan, shelf.isAway) = (nil, true)
    absences.isAway(shelf.reader.server.name)
  }
}

/// Since when servers do not answer, for any thread. Outlives the scanner, which is made anew with each change of folders.
final class AwayServers: Sendable {
  private let since = Mutex<[String: Int64]>([:])

  /// In seconds of UNIX time.
  var all: [String: Int64] { since.withLock { $0 } }

  /// Forgets the others.
  func keep(_ names: [String]) {
    since.withLock { since in since = since.filter { names.contains($0.key) } }
  }

  func isAway(_ name: String) { since.withLock { $0[name] = $0[name] ?? Int64(time(nil)) } }

  func isThere(_ name: String) { since.withLock { $0[name] = nil } }
}
