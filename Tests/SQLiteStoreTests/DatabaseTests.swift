import Glibc
import SQLiteStore
import TestSupport
import Testing

@Suite struct DatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Database { try Database(path: folder.file("test.db")) }

  @Test func `each kind of value comes back as it was`() throws {
    let database = try open()
    try database.execute("CREATE TABLE t (a, b, c, d, e)")
    let insert = try database.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)")
    try insert.run(.integer(.min), 1.5, "Ärger\0 😀", .blob([0, 255]), nil)
    try insert.run(7, -0.25, "", .blob([]), nil)
    #expect(database.lastInsertedID == 2)
    #expect(database.changedRows == 1)
    let read = try database.prepare("SELECT * FROM t WHERE rowid = ?")
    try read.forEach([1]) { row in
      #expect(row.int64(0) == .min)
      #expect(row.double(1) == 1.5)
      #expect(row.text(2) == "Ärger\0 😀")
      #expect(row.blob(3) == [0, 255])
      #expect(row.text(4) == nil && row.int(4) == nil && row.blob(4) == nil && !row.bool(4))
    }
    try read.forEach([2]) { row in
      #expect(row.text(2) == "")
      #expect(row.blob(3) == [])
    }
    #expect(try database.prepare("SELECT a FROM t").all { $0.int(0) ?? 0 } == [.min, 7])
    #expect(try read.first([3]) { $0.int(0) } == nil)
  }

  @Test func `only its user may read it, also one that others could read before`() throws {
    let path = folder.file("test.db")
    try folder.write([], to: "test.db")
    #expect(chmod(path, 0o644) == 0)
    let database = try open()
    try database.execute("CREATE TABLE t (a)")
    for name in [path, path + "-wal", path + "-shm"] {
      var status = stat()
      #expect(stat(name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
  }

  @Test(arguments: ["", "-wal", "-shm"]) func `a pipe or a folder in its place is refused at once`(
    ending: String
  ) throws {
    let path = folder.file("test.db") + ending
    #expect(mkfifo(path, 0o600) == 0)
    #expect(throws: SQLiteError.self) { try open() }
    #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
    let error = #expect(throws: SQLiteError.self) { try open() }
    #expect(error?.description.contains("is no regular file") == true)
  }

  @Test func `a transaction that fails has changed nothing`() throws {
    let database = try open()
    try database.execute("CREATE TABLE t (a UNIQUE)")
    try database.transaction { () throws(SQLiteError) in
      try database.run("INSERT INTO t VALUES (1)")
    }
    let failure = #expect(throws: SQLiteError.self) {
      try database.transaction { () throws(SQLiteError) in
        try database.run("INSERT INTO t VALUES (?)", 2)
        try database.transaction { () throws(SQLiteError) in
          try database.run("INSERT INTO t VALUES (?)", 1)
        }
      }
    }
    #expect(failure?.kind == .constraint)
    #expect(try database.prepare("SELECT a FROM t").all { $0.int(0) } == [1])
  }

  @Test func `a reader sees whole transactions while another connection writes`() throws {
    let writer = try open()
    let reader = try open()
    try writer.execute("CREATE TABLE t (a)")
    let count = try reader.prepare("SELECT count(*) FROM t")
    try writer.transaction { () throws(SQLiteError) in
      try writer.run("INSERT INTO t VALUES (1)")
      #expect(try count.first { $0.int(0) } == 0)
    }
    #expect(try count.first { $0.int(0) } == 1)
  }

  @Test func `what was written is there after it was opened again`() throws {
    do {
      let database = try open()
      try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES ('x')")
      try database.setVersion(3)
    }
    let database = try open()
    #expect(try database.version() == 3)
    #expect(try database.damage() == nil)
    #expect(try database.prepare("SELECT a FROM t").first { $0.text(0) } == "x")
  }

  @Test func `a file that is no database is told from a mistake and from a missing directory`()
    throws
  {
    try folder.write(Array("This is a letter, and no database at all.".utf8), to: "test.db")
    #expect(throws: SQLiteError.self) { try open() }
    #expect(
      kind { () throws(SQLiteError) in _ = try Database(path: folder.file("test.db")) } == .damaged)
    #expect(
      kind { () throws(SQLiteError) in _ = try Database(path: folder.file("no/where.db")) } == .disk
    )
    let database = try Database(path: folder.file("other.db"))
    #expect(kind { () throws(SQLiteError) in try database.execute("SELEKT") } == .other)
    let error = #expect(throws: SQLiteError.self) { try database.run("SELECT * FROM missing") }
    #expect("\(try #require(error))" == folder.file("other.db") + ": no such table: missing")
  }

  private func kind(_ body: () throws(SQLiteError) -> Void) -> SQLiteError.Kind? {
    do {
      try body()
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func `full-text search is there, without regard to accents`() throws {
    let database = try open()
    try database.execute(
      "CREATE VIRTUAL TABLE t USING fts5(title, tokenize = 'unicode61 remove_diacritics 2')")
    try database.run("INSERT INTO t VALUES (?)", "Ménage à trois")
    #expect(
      try database.prepare("SELECT title FROM t WHERE t MATCH ?").all(["menage*"]) { $0.text(0) }
        == ["Ménage à trois"])
  }
}
