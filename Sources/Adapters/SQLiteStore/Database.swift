internal import CSQLite
internal import Glibc

/// A connection to an SQLite file with a write-ahead log: readers and one writer do not wait for each other, and a
/// process that is killed leaves whole transactions. For one thread at a time; open one for each thread.
package final class Database {
  /// How long a statement waits for another connection's transaction, in milliseconds.
  private static let busyTimeout: Int32 = 5000

  package let path: String
  let handle: OpaquePointer
  private var isInTransaction = false

  /// Makes the file where there is none. The directory must exist.
  ///
  /// - Parameter survivesPowerCuts: whether each transaction is on the disk when it is done. Else a power cut may lose
  ///   the last ones, but none of a process that is killed.
  package init(path: String, survivesPowerCuts: Bool = false) throws(SQLiteError) {
    if path != Self.inMemory { try Self.secure(path) }
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened else {
      throw SQLiteError(code: SQLITE_NOMEM, path: path, reason: "out of memory")
    }
    self.path = path
    handle = opened
    guard code == SQLITE_OK else { throw failure(code) }
    sqlite3_busy_timeout(opened, Self.busyTimeout)
    try execute("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;")
    try execute(survivesPowerCuts ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
  }

  /// In the place of a path, for one that nobody keeps.
  package static let inMemory = ":memory:"

  /// What is in it concerns its user alone, and pipes and devices in its place would be waited for.
  private static func secure(_ path: String) throws(SQLiteError) {
    let fresh = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if fresh >= 0 { close(fresh) }
    for name in [path, path + "-wal", path + "-shm"] {
      var status = stat()
      guard stat(name, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw SQLiteError(
          code: SQLITE_CANTOPEN, path: path,
          reason: "\(name) is no regular file; remove it, or move it out of the way")
      }
      if status.st_mode & 0o777 != 0o600 { chmod(name, 0o600) }
    }
  }

  /// The connection closes when the last of its statements has gone, too.
  deinit { sqlite3_close_v2(handle) }

  /// Statements with semicolons between them. Rows that they return are dropped.
  package func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// One statement, with `?` for each value.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(sql, in: self)
  }

  /// Carries one statement out.
  package func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) {
    try prepare(sql).run(values)
  }

  /// All of what `body` writes, or, where it throws, nothing. One within another is part of it.
  package func transaction<Value>(
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN IMMEDIATE")
    isInTransaction = true
    defer { isInTransaction = false }
    do {
      let value = try body()
      try execute("COMMIT")
      return value
    } catch {
      // Some errors have ended it already.
      if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Of the row that was inserted last.
  package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// How many rows the last statement has changed.
  package var changedRows: Int { Int(sqlite3_changes64(handle)) }

  /// The number that the tables' maker has given the file, 0 at first: for changes of the tables.
  package func version() throws(SQLiteError) -> Int {
    try prepare("PRAGMA user_version").first { $0.int(0) ?? 0 } ?? 0
  }

  package func setVersion(_ version: Int) throws(SQLiteError) {
    try execute("PRAGMA user_version = \(version)")
  }

  /// Reads the whole file: what is damaged in it, in SQLite's words, or nothing.
  package func damage() throws(SQLiteError) -> String? {
    let found = try prepare("PRAGMA quick_check(1)").first { $0.text(0) ?? "" }
    return found == "ok" ? nil : found
  }

  func failure(_ code: Int32) -> SQLiteError {
    SQLiteError(
      code: code, path: path,
      reason: code == sqlite3_extended_errcode(handle)
        ? String(cString: sqlite3_errmsg(handle)) : String(cString: sqlite3_errstr(code)))
  }
}
