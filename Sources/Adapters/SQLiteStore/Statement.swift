internal import CSQLite

/// A prepared statement, which can be executed repeatedly. For its database's thread.
package final class Statement {
  private let database: Database
  private let handle: OpaquePointer

  init(_ sql: String, in database: Database) throws(SQLiteError) {
    self.database = database
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(
      database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK else { throw database.failure(code) }
    // Only an empty text gives no statement, which is a bug of the caller.
    guard let prepared else { preconditionFailure("no statement: \(sql)") }
    handle = prepared
  }

  deinit { sqlite3_finalize(handle) }

  package func run(_ values: [SQLiteValue] = []) throws(SQLiteError) {
    try forEach(values) { _ in }
  }

  package func run(_ values: SQLiteValue...) throws(SQLiteError) { try run(values) }

  /// Calls `body` with each row in turn; the row is valid only during the call.
  package func forEach(
    _ values: [SQLiteValue] = [], _ body: (borrowing Row) -> Void
  ) throws(SQLiteError) {
    try bind(values)
    defer { sqlite3_reset(handle) }
    while try step() { body(Row(handle: handle)) }
  }

  /// Returns the results of `make` for all rows.
  package func all<Value>(
    _ values: [SQLiteValue] = [], _ make: (borrowing Row) -> Value
  ) throws(SQLiteError) -> [Value] {
    var made: [Value] = []
    try forEach(values) { made.append(make($0)) }
    return made
  }

  /// Returns the result of `make` for the first row, or nil if there is none.
  package func first<Value>(
    _ values: [SQLiteValue] = [], _ make: (borrowing Row) -> Value
  ) throws(SQLiteError) -> Value? {
    try bind(values)
    defer { sqlite3_reset(handle) }
    return try step() ? make(Row(handle: handle)) : nil
  }

  private func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw database.failure(code)
    }
  }

  private func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
    precondition(values.count == Int(sqlite3_bind_parameter_count(handle)), "values do not fit")
    for (place, value) in values.enumerated() {
      let code = bind(value, at: Int32(place + 1))
      guard code == SQLITE_OK else { throw database.failure(code) }
    }
  }

  private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let number): return sqlite3_bind_int64(handle, index, number)
    case .real(let number): return sqlite3_bind_double(handle, index, number)
    case .text(var text):
      return text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { characters in
          // A null pointer would mean NULL instead of an empty text.
          characters.baseAddress.map {
            csqlite_bind_text(handle, index, $0, UInt64(characters.count))
          } ?? csqlite_bind_text(handle, index, "", 0)
        }
      }
    case .blob(let bytes):
      return bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : csqlite_bind_blob(handle, index, bytes, UInt64(bytes.count))
    }
  }
}

/// A row of a result. Columns count from 0; nil is NULL.
package struct Row: ~Copyable {
  let handle: OpaquePointer

  private func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  package func int64(_ column: Int32) -> Int64? {
    isNull(column) ? nil : sqlite3_column_int64(handle, column)
  }

  package func int(_ column: Int32) -> Int? { int64(column).map(Int.init(clamping:)) }

  package func bool(_ column: Int32) -> Bool { (int64(column) ?? 0) != 0 }

  package func double(_ column: Int32) -> Double? {
    isNull(column) ? nil : sqlite3_column_double(handle, column)
  }

  package func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  package func blob(_ column: Int32) -> [UInt8]? {
    guard !isNull(column) else { return nil }
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, column))
    return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }
}
