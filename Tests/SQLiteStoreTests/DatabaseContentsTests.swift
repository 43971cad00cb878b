import SQLiteStore
import TestSupport
import Testing

/// The whole of a database that others write, for a machine that keeps a copy.
@Suite struct DatabaseContentsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ name: String = "test.db") throws -> Database {
    try Database(path: folder.file(name))
  }

  private func numbers(in name: String) throws -> [Int?] {
    try open(name).prepare("SELECT a FROM t ORDER BY a").all { $0.int(0) }
  }

  @Test func `what another connection has committed into the log is in the contents`() throws {
    let (writer, reader) = (try open(), try open())
    try writer.execute("CREATE TABLE t (a)")
    try writer.run("INSERT INTO t VALUES (7)")
    // The file alone does not have it.
    try folder.write(folder.bytes(of: "test.db"), to: "bare.db")
    #expect(throws: SQLiteError.self) { _ = try numbers(in: "bare.db") }

    let bytes = try #require(try reader.contents(limit: 1 << 20))
    try folder.write(bytes, to: "copy.db")
    #expect(try open("copy.db").damage() == nil)
    #expect(try numbers(in: "copy.db") == [7])
  }

  @Test func `the contents have whole transactions`() throws {
    let (writer, reader) = (try open(), try open())
    try writer.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    try writer.transaction { () throws(SQLiteError) in
      try writer.run("INSERT INTO t VALUES (2)")
      let bytes = try reader.contents(limit: 1 << 20)
      #expect(throws: Never.self) { try folder.write(bytes ?? [], to: "copy.db") }
    }
    #expect(try numbers(in: "copy.db") == [1])
  }

  @Test func `contents beyond the limit are not read, and nobody is held up`() throws {
    let (writer, reader) = (try open(), try open())
    try writer.execute("CREATE TABLE t (a)")
    let bytes = try #require(try reader.contents(limit: 1 << 20))
    #expect(try reader.contents(limit: bytes.count)?.count == bytes.count)
    #expect(try reader.contents(limit: bytes.count - 1) == nil)
    try writer.run("INSERT INTO t VALUES (1)")
    #expect(try reader.prepare("SELECT a FROM t").all { $0.int(0) } == [1])
    // A reader that still looked at the old state would keep the log from being emptied.
    #expect(
      try writer.prepare("PRAGMA wal_checkpoint(TRUNCATE)").first { $0.int(0) } == 0)
  }

  @Test func `the version of the data changes with the commits of others alone`() throws {
    let (writer, reader) = (try open(), try open())
    try writer.execute("CREATE TABLE t (a)")
    let first = try reader.dataVersion()
    #expect(try reader.dataVersion() == first)
    _ = try reader.contents(limit: 1 << 20)
    #expect(try reader.dataVersion() == first)
    try writer.transaction { () throws(SQLiteError) in
      try writer.run("INSERT INTO t VALUES (1)")
      #expect(try reader.dataVersion() == first)
    }
    let second = try reader.dataVersion()
    #expect(second != first)
    try reader.run("INSERT INTO t VALUES (2)")
    #expect(try reader.dataVersion() == second)
  }
}
