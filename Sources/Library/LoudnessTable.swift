import Driver
import FFmpegSource
import SQLiteStore
import Sender

/// The loudness of tracks in the library's tables. For one thread.
final class LoudnessTable {
  struct Track {
    let number: Int64
    let album: Int64?
    let location: String
  }

  /// As the column `measured` has them.
  private enum Attempt: Int64 {
    case none, done
    /// The file was not there, or could not be read: it is tried again by the next process.
    case failed
  }

  private let statements: Statements
  private let folders: LibraryFolders
  private let database: Database
  /// The album that was worked on last.
  private var album: Int64?

  init(_ database: Database, _ folders: LibraryFolders) {
    (self.database, self.folders) = (database, folders)
    statements = Statements(database)
  }

  func forgetFailures() throws(SQLiteError) {
    try statements.run(
      "UPDATE track SET measured = ? WHERE measured = ?", SQLiteValue(Attempt.none.rawValue),
      SQLiteValue(Attempt.failed.rawValue))
  }

  func waitingCount() throws(SQLiteError) -> Int64 {
    try statements.number(
      "SELECT count(*) FROM track WHERE measured = 0 AND missing IS NULL") ?? 0
  }

  /// Returns a track that waits: the one that is wished for, one of the same album as the last, any other.
  func next(wish: String?) throws(SQLiteError) -> Track? {
    var found: Track?
    if let wish, let path = folders.path(of: wish), let folder = LibraryPath.parent(path) {
      found = try first(.file, SQLiteValue(folder), SQLiteValue(LibraryPath.name(path)))
    }
    if found == nil, let album { found = try first(.album, SQLiteValue(album)) }
    if found == nil { found = try first(.all) }
    album = found?.album
    return found
  }

  /// The tracks that a question is about.
  private enum Choice: String {
    case all = ""
    case album = "AND t.album_id = ?"
    case file = "AND f.path = ? AND t.name = ?"
    case track = "AND t.id = ?"
  }

  private func first(
    _ choice: Choice, _ values: SQLiteValue...
  ) throws(SQLiteError) -> Track? {
    let row = try statements.prepared(
      "SELECT t.id, t.album_id, f.path, t.name FROM track t JOIN folder f ON f.id = t.folder "
        + "WHERE t.measured = 0 AND t.missing IS NULL \(choice.rawValue) LIMIT 1"
    ).first(values) { row in
      (row.int64(0) ?? 0, row.int64(1), row.text(2) ?? "", row.text(3) ?? "")
    }
    return row.map { number, album, folder, name in
      Track(number: number, album: album, location: location(folder, name))
    }
  }

  private func location(_ folder: String, _ name: String) -> String {
    "\(folders.location(of: folder) ?? "")/\(name)"
  }

  func write(_ answer: WorkerAnswer, of track: Track) throws(SQLiteError) {
    var (attempt, sound) = (Attempt.done, MeasuredSound?.none)
    switch answer {
    case .loudness(let measured): sound = measured
    case .gone, .unreadable: attempt = .failed
    case .tags, .feed, .songs, .shelf, .picture, .answered, .done, .broken, .useless: break
    }
    try statements.run(
      "UPDATE track SET measured = ?, loudness = ?, peak = ? WHERE id = ?",
      SQLiteValue(attempt.rawValue), SQLiteValue(sound?.blocks.text), SQLiteValue(sound?.peak),
      SQLiteValue(track.number))
  }

  /// Those that are known, by their locations.
  func all() throws(SQLiteError) -> [String: MeasuredLoudness.Track] { try tracks(.all) }

  /// This track, and those of its album.
  func tracks(besides track: Track) throws(SQLiteError) -> [String: MeasuredLoudness.Track] {
    guard let album = track.album else {
      return try tracks(.track, SQLiteValue(track.number))
    }
    return try tracks(.album, SQLiteValue(album))
  }

  private func tracks(
    _ choice: Choice, _ values: SQLiteValue...
  ) throws(SQLiteError) -> [String: MeasuredLoudness.Track] {
    var found: [String: MeasuredLoudness.Track] = [:]
    var albums: [Int64: (blocks: LoudnessBlocks, peak: Double)] = [:]
    try statements.prepared(
      "SELECT t.album_id, f.path, t.name, t.loudness, t.peak FROM track t "
        + "JOIN folder f ON f.id = t.folder "
        + "WHERE t.loudness IS NOT NULL AND t.missing IS NULL \(choice.rawValue)"
    ).forEach(values) { row in
      guard let blocks = LoudnessBlocks(text: row.text(3) ?? ""), let loudness = blocks.loudness
      else { return }
      let (album, peak) = (row.int64(0), row.double(4) ?? 1)
      found[location(row.text(1) ?? "", row.text(2) ?? "")] = MeasuredLoudness.Track(
        ItemLevel(loudness: loudness, peak: peak), album: album)
      guard let album else { return }
      var sum = albums[album] ?? (LoudnessBlocks(), 0)
      sum.blocks.add(blocks)
      albums[album] = (sum.blocks, max(sum.peak, peak))
    }
    let levels = albums.compactMapValues { sum in
      sum.blocks.loudness.map { ItemLevel(loudness: $0, peak: sum.peak) }
    }
    return found.mapValues { track in
      var track = track
      track.albumLevel = track.album.flatMap { levels[$0] }
      return track
    }
  }
}
