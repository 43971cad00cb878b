import Foundation
import House
import SQLiteStore
import Service
import TestSupport

@testable import Library

/// A folder of music and its database, scanned on the test's own thread.
final class LibraryBed {
  let temporary: TemporaryFolder
  var folders: LibraryFolders
  var database: Database
  var command = LibraryBed.worker
  private(set) var reports: [String] = []
  /// Called for all news of a scan.
  var tell: (Scan.News) -> Void = { _ in }
  var isCancelled: @Sendable () -> Bool = { false }

  static let worker = [Program.path(of: "tutti"), "library-worker"]

  init() throws {
    temporary = try TemporaryFolder()
    let music = temporary.file("Music")
    try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
    folders = LibraryFolders([music])
    database = try Self.open(temporary.file("library.db"))
  }

  static func open(_ path: String) throws -> Database {
    let database = try Database(path: path)
    guard try LibrarySchema.prepare(database) else { throw Missing(description: "tables") }
    return database
  }

  /// Takes out of a file what versions after this one have added.
  static func makeOld(_ database: Database, version: Int) throws {
    guard version < 8 else { return try database.setVersion(version) }
    try database.execute("ALTER TABLE radio DROP COLUMN picture")
    guard version < 7 else {
      for column in ["picture", "picture_reach", "artwork"] {
        try database.execute("ALTER TABLE podcast DROP COLUMN \(column)")
      }
      return try database.setVersion(version)
    }
    try database.execute(
      """
      DROP TRIGGER kept_podcast_removed; DROP TRIGGER kept_episode_removed;
      DROP TRIGGER place_moved; DROP TABLE place; DROP TABLE episode; DROP TABLE podcast;
      """)
    guard version < 6 else { return try database.setVersion(version) }
    try database.execute(
      """
      DROP TRIGGER kept_track_moved; DROP TRIGGER kept_radio_removed;
      DROP TRIGGER kept_playlist_removed; DROP TABLE favourite; DROP TABLE play;
      DROP INDEX track_sort; DROP INDEX track_added; DROP TABLE track_tag; DROP TABLE tag;
      ALTER TABLE track DROP COLUMN sort;
      DROP INDEX track_unmeasured; ALTER TABLE track DROP COLUMN measured;
      ALTER TABLE track DROP COLUMN loudness; ALTER TABLE track DROP COLUMN peak;
      """)
    try database.execute("ALTER TABLE playlist DROP COLUMN revision")
    if version < 2 { try database.execute("ALTER TABLE playlist_entry DROP COLUMN reach") }
    try database.setVersion(version)
  }

  func scan(_ paths: [String]? = nil) throws {
    reports = []
    let isFirst = try LibraryQueries.figures(database).trackCount == 0
    let scan = Scan(
      folders, TrackWriter(database, folders, isFirstScan: isFirst), WorkerPool(command),
      isCancelled: isCancelled, watch: { _, _ in },
      tell: { [self] news in
        if case .report(let line) = news { reports.append(line) }
        tell(news)
      })
    try scan.run(paths)
  }

  /// Returns the path of a file in the library, such as `Nina/1.flac`.
  func path(_ name: String) -> String { temporary.file("Music/\(name)") }

  func write(_ file: TaggedFile, to name: String) throws {
    try temporary.write(file.bytes, to: "Music/\(name)")
  }

  func move(_ name: String, to other: String) throws {
    let target = URL(filePath: path(other))
    try FileManager.default.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: path(name), toPath: path(other))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path(name))
  }

  func tracks() throws -> [Track] {
    try FoundTrack.all(database, where: "1", [], order: " ORDER BY f.path, t.name").map(\.track)
  }

  func track(_ title: String) throws -> Track? { try tracks().first { $0.title == title } }

  func albums() throws -> [Album] {
    try LibraryQueries.albums(AlbumQuery(order: .artist, limit: 100), database).albums
  }

  func search(_ text: String) throws -> SearchResult {
    try SearchQuery(text)?.result(database, limit: 20) ?? SearchResult()
  }
}

/// Lets others work while a test waits, until its time is over.
func giveWay() async throws(CancellationError) {
  if Task.isCancelled { throw CancellationError() }
  await Task.yield()
}
