import Dispatch
import House
import ProgramJSON
import SQLiteStore
import Service
import Synchronization

/// The listens that wait to be sent, and how far tracks are heard, in a file. On a thread of its own.
final class ListenStore: Sendable {
  /// Listens that wait for one service: some weeks of music all day. The oldest are dropped.
  static let limit = 10_000
  private static let version = 1

  struct Waiting: Sendable {
    var id: Int64
    var listen: Listen
  }

  /// A listen for some services, by their names.
  struct Entry: Sendable {
    var listen: Listen
    var services: [String]
  }

  private let queue = DispatchQueue(label: "tutti listens file")
  private let database: Mutex<Database>

  /// Opens the file. A damaged one is set aside and made anew.
  ///
  /// - Parameter services: the names of those that are configured; what waits for others is dropped.
  init(
    path: String, services: [String], report: (String) -> Void
  ) throws(SQLiteError) {
    var opened: Database
    do {
      opened = try Self.open(path, services)
    } catch {
      let aside = try StoreFile.setAside(path, because: error)
      report("\(error); it was set aside as \(aside), and the listens in it are not sent")
      opened = try Self.open(path, services)
    }
    database = Mutex(opened)
  }

  private static func open(_ path: String, _ services: [String]) throws(SQLiteError) -> Database {
    let database = try Database(path: path)
    let found = try database.version()
    guard found <= version else {
      throw SQLiteError(unreadable: path, "it is of a newer version of tutti; update tutti")
    }
    try database.transaction { () throws(SQLiteError) in
      if found < 1 {
        try database.execute(
          """
          CREATE TABLE listen (
            id INTEGER PRIMARY KEY AUTOINCREMENT, service TEXT NOT NULL, listen BLOB NOT NULL);
          CREATE INDEX listen_service ON listen (service, id);
          CREATE TABLE hearing (place TEXT PRIMARY KEY, hearing BLOB NOT NULL) WITHOUT ROWID;
          """)
        try database.setVersion(version)
      }
      let waiting = try database.prepare("SELECT DISTINCT service FROM listen")
        .all { $0.text(0) ?? "" }
      for name in waiting where !services.contains(name) {
        try database.run("DELETE FROM listen WHERE service = ?", .text(name))
      }
    }
    return database
  }

  /// The hearings of all groups.
  func hearings() async throws(SQLiteError) -> [String: ListenCounter.Hearing] {
    let rows = try await answer { database throws(SQLiteError) in
      try database.prepare("SELECT place, hearing FROM hearing")
        .all { ($0.text(0) ?? "", $0.blob(1) ?? []) }
    }
    var hearings: [String: ListenCounter.Hearing] = [:]
    for (group, bytes) in rows {
      hearings[group] = try? JSON.decode(ListenCounter.Hearing.self, from: bytes)
    }
    return hearings
  }

  /// Keeps listens together with the hearings that they come from: after a crash there are both or none.
  ///
  /// - Parameter hearings: nil removes one.
  /// - Returns: how many listens were dropped to make room.
  func keep(
    _ entries: [Entry], _ hearings: [String: ListenCounter.Hearing?]
  ) async throws(SQLiteError) -> Int {
    try await answer { database throws(SQLiteError) in
      try database.transaction { () throws(SQLiteError) in
        for (group, hearing) in hearings {
          guard let bytes = hearing.flatMap({ try? JSON.encode($0) }) else {
            try database.run("DELETE FROM hearing WHERE place = ?", .text(group))
            continue
          }
          try database.run(
            "INSERT OR REPLACE INTO hearing (place, hearing) VALUES (?, ?)", .text(group),
            .blob(bytes))
        }
        for entry in entries {
          guard let bytes = try? JSON.encode(entry.listen) else { continue }
          for service in entry.services {
            try database.run(
              "INSERT INTO listen (service, listen) VALUES (?, ?)", .text(service), .blob(bytes))
          }
        }
        var dropped = 0
        for service in Set(entries.flatMap(\.services)) {
          try database.run(
            """
            DELETE FROM listen WHERE service = ?1 AND id <= (
              SELECT id FROM listen WHERE service = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """, .text(service), SQLiteValue(Self.limit))
          dropped += database.changedRows
        }
        return dropped
      }
    }
  }

  /// Those that have waited longest.
  func oldest(of service: String, limit: Int) async throws(SQLiteError) -> [Waiting] {
    try await answer { database throws(SQLiteError) in
      let rows = try database.prepare(
        "SELECT id, listen FROM listen WHERE service = ? ORDER BY id LIMIT ?"
      ).all([.text(service), SQLiteValue(limit)]) { ($0.int64(0) ?? 0, $0.blob(1) ?? []) }
      var waiting: [Waiting] = []
      for (id, bytes) in rows {
        if let listen = try? JSON.decode(Listen.self, from: bytes) {
          waiting.append(Waiting(id: id, listen: listen))
        } else {
          try database.run("DELETE FROM listen WHERE id = ?", SQLiteValue(id))
        }
      }
      return waiting
    }
  }

  func remove(_ waiting: [Waiting]) async throws(SQLiteError) {
    try await answer { database throws(SQLiteError) in
      try database.transaction { () throws(SQLiteError) in
        for one in waiting {
          try database.run("DELETE FROM listen WHERE id = ?", SQLiteValue(one.id))
        }
      }
    }
  }

  private func answer<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws(SQLiteError) -> Value
  ) async throws(SQLiteError) -> Value {
    let result: Result<Value, SQLiteError> = await withCheckedContinuation { continuation in
      queue.async { [self] in
        continuation.resume(
          returning: database.withLock { database in
            Result { () throws(SQLiteError) in try body(database) }
          })
      }
    }
    return try result.get()
  }
}
