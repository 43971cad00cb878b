import SQLiteStore

/// Statements that are executed many times, each prepared once. For its database's thread.
final class Statements {
  private let database: Database
  private var prepared: [String: Statement] = [:]

  init(_ database: Database) { self.database = database }

  func prepared(_ sql: String) throws(SQLiteError) -> Statement {
    if let statement = prepared[sql] { return statement }
    let statement = try database.prepare(sql)
    prepared[sql] = statement
    return statement
  }

  func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) {
    try prepared(sql).run(values)
  }

  /// Returns the first column of the first row.
  func number(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) -> Int64? {
    try prepared(sql).first(values) { $0.int64(0) } ?? nil
  }
}
