import FFmpegSource
import SQLiteStore
import Service

/// The genres and composers that tracks name. For the scanner's thread.
final class TagKeeper {
  /// Numbers that are kept in memory.
  private static let cacheLimit = 5_000

  private let statements: Statements
  private var numbers: [String: Int64] = [:]

  init(_ statements: Statements) { self.statements = statements }

  func forget() { numbers = [:] }

  func set(_ tags: FileTags, ofTrack track: Int64) throws(SQLiteError) {
    try statements.run("DELETE FROM track_tag WHERE track = ?", SQLiteValue(track))
    for name in tags.genres { try add(.genre, name, to: track) }
    for name in tags.composers { try add(.composer, name, to: track) }
  }

  private func add(
    _ kind: LibraryTag.Kind, _ name: String, to track: Int64
  ) throws(SQLiteError) {
    try statements.run(
      "INSERT OR IGNORE INTO track_tag (tag, track) VALUES (?, ?)",
      SQLiteValue(try number(kind, name)), SQLiteValue(track))
  }

  private func number(_ kind: LibraryTag.Kind, _ name: String) throws(SQLiteError) -> Int64 {
    let key = SortKey.of(name)
    let cached = "\(kind.rawValue) \(key)"
    if let number = numbers[cached] { return number }
    try statements.run(
      "INSERT INTO tag (kind, key, name, sort) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      .text(kind.rawValue), .text(key), .text(name), .text(SortKey.ofShelf(name)))
    let number =
      try statements.number(
        "SELECT id FROM tag WHERE kind = ? AND key = ?", .text(kind.rawValue), .text(key)) ?? 0
    if numbers.count >= Self.cacheLimit { numbers = [:] }
    numbers[cached] = number
    return number
  }
}
