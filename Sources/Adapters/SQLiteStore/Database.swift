internal import CSQLite
internal import Glibc

/// A connection to an SQLite file with a write-ahead log: readers and one writer do not wait for each other, and a
/// killed process leaves whole transactions. For one thread at a time; open one connection per thread.
package final class Database {
  /// Timeout of a statement that waits for another connection's transaction, in milliseconds.
  private static let busyTimeout: Int32 = 5000

  package let path: String
  let handle: OpaquePointer
  private var isInTransaction = false

  /// Opens the file, and makes it if there is none. The directory must exist.
  ///
  /// - Parameter survivesPowerCuts: if true, each transaction is on the disk when it is done. If false, a power cut
  ///   may lose the last ones, but a killed process loses none.
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

  /// Replaces the path of a database that is not kept.
  package static let inMemory = ":memory:"

  /// Makes the file private to its user. Refuses pipes and devices in its place, because opening them could wait.
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

  /// The connection stays open until its last statement has gone, too.
  deinit { sqlite3_close_v2(handle) }

  /// Executes statements separated by semicolons. Drops the rows that they return.
  package func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Prepares one statement, with `?` for each value.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(sql, in: self)
  }

  /// Executes one statement.
  package func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) {
    try prepare(sql).run(values)
  }

  /// Executes `body` as one transaction: if it throws, none of its writes remain. A nested transaction is part of the
  /// outer one.
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
      // Some errors have ended the transaction already.
      if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// The rowid of the last inserted row.
  package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Number of rows that the last statement has changed.
  package var changedRows: Int { Int(sqlite3_changes64(handle)) }

  /// Number of rows that this connection has changed so far.
  package var totalChanges: Int64 { sqlite3_total_changes64(handle) }

  /// Returns the version of the tables that is stored in the file, 0 at first.
  package func version() throws(SQLiteError) -> Int {
    try prepare("PRAGMA user_version").first { $0.int(0) ?? 0 } ?? 0
  }

  package func setVersion(_ version: Int) throws(SQLiteError) {
    try execute("PRAGMA user_version = \(version)")
  }

  /// Reads the whole file. Returns the first damage, in SQLite's words, or nil.
  package func damage() throws(SQLiteError) -> String? {
    let found = try prepare("PRAGMA quick_check(1)").first { $0.text(0) ?? "" }
    return found == "ok" ? nil : found
  }

  /// Changes with each commit of another connection.
  package func dataVersion() throws(SQLiteError) -> Int {
    try prepare("PRAGMA data_version").first { $0.int(0) ?? 0 } ?? 0
  }

  /// Returns the file as it stands now, with what its log holds; nil if it has more than `limit` bytes.
  package func contents(limit: Int) throws(SQLiteError) -> [UInt8]? {
    try execute("BEGIN")
    defer { try? execute("COMMIT") }
    // The pages are those of this moment from here on.
    let count = try prepare("SELECT * FROM pragma_page_count").first { $0.int(0) ?? 0 } ?? 0
    let size = try prepare("SELECT * FROM pragma_page_size").first { $0.int(0) ?? 0 } ?? 0
    guard count * size <= limit else { return nil }
    var length: sqlite3_int64 = 0
    guard let start = sqlite3_serialize(handle, "main", &length, 0) else {
      throw failure(SQLITE_NOMEM)
    }
    defer { sqlite3_free(start) }
    return Array(UnsafeBufferPointer(start: start, count: Int(length)))
  }

  func failure(_ code: Int32) -> SQLiteError {
    SQLiteError(
      code: code, path: path,
      reason: code == sqlite3_extended_errcode(handle)
        ? String(cString: sqlite3_errmsg(handle)) : String(cString: sqlite3_errstr(code)))
  }
}
