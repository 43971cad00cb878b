import Clock
import Dispatch
import Glibc
import LinuxIO
import SQLiteStore
import Sender
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import Service

/// A household's files on the way from the daemon that leads to the one that follows.
@Suite struct SecondFilesTests {
  /// Two state directories, and the bytes between them.
  private final class Bed {
    let mine: TemporaryFolder
    let copy: TemporaryFolder
    private var leader: SecondFiles
    private var follower: SecondFiles
    private var now = LocalTime(nanoseconds: 0)
    /// The leader's clock less the follower's.
    var lead: Nanoseconds? = .seconds(5)

    init() throws {
      (mine, copy) = (try TemporaryFolder(), try TemporaryFolder())
      leader = try SecondFiles(directory: mine.path)
      follower = try SecondFiles(directory: copy.path)
    }

    /// Sends what has changed, as bytes, and returns the numbers of the files that were sent.
    @discardableResult
    func send(after span: Nanoseconds = .zero) throws -> [UInt8] {
      now = now + span
      var framer = MessageFramer(limit: DaemonMessage.limit)
      var ends: [UInt8] = []
      for message in leader.changes(at: now) {
        framer.append(message.encoded())
        while let raw = try framer.next() {
          let isTaken = take(try DaemonMessage(decoding: raw))
          #expect(isTaken)
        }
        if case .end(let file, _) = message { ends.append(file) }
      }
      return ends
    }

    /// Returns once the disk has it.
    func take(_ message: DaemonMessage) -> Bool {
      let isTaken = follower.take(message, lead: lead, at: now)
      let done = DispatchSemaphore(value: 0)
      follower.writer.finish { done.signal() }
      done.wait()
      return isTaken
    }

    func begin() {
      leader.begin()
      follower.begin()
    }

    func takeOver() {
      let done = DispatchSemaphore(value: 0)
      follower.takeOver(lead: lead, at: now) { done.signal() }
      done.wait()
    }

    func has(_ name: String) -> Bool { StateFile(path: copy.file(name)).stamp != nil }

    func open(_ name: String, in folder: TemporaryFolder) throws -> Database {
      try Database(path: folder.file(name))
    }

    func numbers(in name: String) throws -> [Int?] {
      try open(name, in: copy).prepare("SELECT a FROM t ORDER BY a").all { $0.int(0) }
    }
  }

  private let bed: Bed

  init() throws { bed = try Bed() }

  private typealias Kind = SecondFiles.Kind

  // MARK: - Small files

  @Test func `small files come over, and again when they have changed`() throws {
    let small: [Kind] = [.paired, .rooms, .browsers, .numbers]
    for kind in small {
      try bed.mine.write(Array("first \(kind.name)".utf8), to: kind.name)
    }
    #expect(try bed.send() == small.map(\.rawValue))
    for kind in small {
      #expect(try bed.copy.bytes(of: kind.name) == Array("first \(kind.name)".utf8))
    }
    #expect(try bed.send() == [])
    for size in [0, 9_000, 3] {
      let bytes = [UInt8](repeating: 7, count: size)
      try StateFile(path: bed.mine.file("paired")).keep(bytes)
      #expect(try bed.send() == [Kind.paired.rawValue])
      #expect(try bed.copy.bytes(of: "paired") == bytes)
    }
  }

  @Test func `a file that is not there, or vanishes, is no error`() throws {
    #expect(try bed.send() == [])
    try bed.mine.write([1], to: "access")
    try bed.send()
    try StateFile(path: bed.mine.file("access")).remove()
    #expect(try bed.send() == [])
    #expect(try bed.copy.bytes(of: "access") == [1])
    try bed.mine.write([2, 2], to: "access")
    #expect(try bed.send() == [Kind.browsers.rawValue])
    #expect(try bed.copy.bytes(of: "access") == [2, 2])
  }

  @Test func `a new connection begins with everything`() throws {
    try bed.mine.write([1], to: "access")
    try bed.mine.write([2], to: "mpd")
    #expect(try bed.send().count == 2)
    try StateFile(path: bed.copy.file("mpd")).remove()
    bed.begin()
    #expect(try bed.send().count == 2)
    #expect(try bed.copy.bytes(of: "mpd") == [2])
  }

  // MARK: - Tables

  @Test func `tables come over with what their log holds`() throws {
    let house = try bed.open("house.db", in: bed.mine)
    try house.execute("CREATE TABLE t (a)")
    try house.run("INSERT INTO t VALUES (1)")
    #expect(try bed.send() == [Kind.house.rawValue])
    #expect(try bed.numbers(in: "house.db") == [1])
    #expect(try bed.send() == [])
    try house.run("INSERT INTO t VALUES (2)")
    #expect(try bed.send() == [Kind.house.rawValue])
    #expect(try bed.numbers(in: "house.db") == [1, 2])
    #expect(try bed.open("house.db", in: bed.copy).damage() == nil)
  }

  @Test func `the log of tables that were there before is gone`() throws {
    let house = try bed.open("house.db", in: bed.mine)
    try house.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    // As of a daemon that was killed while it led.
    let before = try bed.open("house.db", in: bed.copy)
    try before.execute("CREATE TABLE t (a); INSERT INTO t VALUES (9)")
    #expect(bed.has("house.db-wal") && bed.has("house.db-shm"))
    try bed.send()
    #expect(!bed.has("house.db-wal") && !bed.has("house.db-shm"))
    #expect(try bed.numbers(in: "house.db") == [1])
    withExtendedLifetime(before) {}
  }

  @Test func `the library is looked at less often`() throws {
    let library = try bed.open("library.db", in: bed.mine)
    try library.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    #expect(try bed.send() == [Kind.library.rawValue])
    try library.run("INSERT INTO t VALUES (2)")
    #expect(try bed.send(after: .seconds(9)) == [])
    #expect(try bed.send(after: .seconds(1)) == [Kind.library.rawValue])
    #expect(try bed.numbers(in: "library.db") == [1, 2])
  }

  // MARK: - Streams

  private static let record = StreamRecord(
    state: .playing, clockID: 5, clockLead: .seconds(3), generation: 2, nextSequence: 100,
    heldByAll: .zero + .seconds(100), heldByOne: .zero + .seconds(110),
    anchors: [
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 1), rate: .playing)
    ], segments: [.init(start: .zero, entry: 4, position: .zero)])

  private static let other = Identifier([UInt8](repeating: 8, count: Identifier.byteCount))

  /// The journal of the leader's machine.
  private func journal() throws -> StreamJournal {
    let other = try #require(Self.other)
    return StreamJournal(
      boot: other, senderID: other, slept: .seconds(77),
      streams: [.init(group: "a", record: Self.record), .init(group: "b", record: Self.record)])
  }

  private func keptJournal() throws -> StreamJournal {
    try StreamJournal(decoding: bed.copy.bytes(of: "house.db.streams"))
  }

  @Test func `streams come over by the follower's clock and start of its machine`() throws {
    try bed.mine.write(journal().encoded(), to: "house.db.streams")
    #expect(try bed.send() == [Kind.streams.rawValue])
    let kept = try keptJournal()
    #expect(kept.boot == HouseStreams.boot && kept.boot != Self.other)
    #expect(kept.senderID == Self.other)
    #expect(kept.slept != .seconds(77))
    #expect(kept.streams.map(\.group) == ["a", "b"])
    var record = Self.record
    record.clockLead = .seconds(8)
    #expect(kept.streams.allSatisfy { $0.record == record })
  }

  @Test func `who takes over writes the streams again, with the clock as it is known then`() throws
  {
    try bed.mine.write(journal().encoded(), to: "house.db.streams")
    try bed.send()
    bed.lead = .seconds(-7)
    bed.takeOver()
    // Not on top of what was added before.
    #expect(try keptJournal().streams.map(\.record.clockLead) == [.seconds(-4), .seconds(-4)])
  }

  @Test func `without the leader's clock no streams are left`() throws {
    try bed.copy.write([1], to: "house.db.streams")
    try bed.mine.write(journal().encoded(), to: "house.db.streams")
    bed.lead = nil
    try bed.send()
    #expect(!bed.has("house.db.streams"))
    // Its clock is known later.
    bed.lead = .seconds(1)
    bed.takeOver()
    #expect(try keptJournal().streams.map(\.record.clockLead) == [.seconds(4), .seconds(4)])
  }

  @Test func `damaged streams are not kept`() throws {
    try bed.mine.write(journal().encoded(), to: "house.db.streams")
    try bed.send()
    try StateFile(path: bed.mine.file("house.db.streams")).keep(
      Array(journal().encoded().dropLast()))
    try bed.send()
    #expect(!bed.has("house.db.streams"))
  }

  @Test func `who takes over without any streams writes none`() throws {
    bed.takeOver()
    #expect(!bed.has("house.db.streams"))
    // Half of a file is none.
    #expect(
      try bed.take(.piece(file: Kind.streams.rawValue, offset: 0, try journal().encoded())))
    bed.takeOver()
    #expect(!bed.has("house.db.streams"))
  }

  // MARK: - Others

  @Test func `files of a later version are skipped`() throws {
    #expect(bed.take(.piece(file: 200, offset: 0, [1])))
    #expect(bed.take(.piece(file: 200, offset: 99, [1])))
    #expect(bed.take(.end(file: 200, size: 1_000)))
    try bed.mine.write([3], to: "access")
    try bed.send()
    #expect(try bed.copy.bytes(of: "access") == [3])
  }

  @Test func `a file with a gap, or without its end, is told and not written`() throws {
    let file = Kind.browsers.rawValue
    try bed.copy.write([9], to: "access")
    #expect(!bed.take(.piece(file: file, offset: 1, [1])))
    #expect(!bed.take(.end(file: file, size: 1)))
    #expect(bed.take(.piece(file: file, offset: 0, [1, 2])))
    #expect(!bed.take(.end(file: file, size: 3)))
    #expect(try bed.copy.bytes(of: "access") == [9])
    #expect(bed.take(.end(file: file, size: 2)))
    #expect(try bed.copy.bytes(of: "access") == [1, 2])
  }

  // MARK: - The disk

  /// A disk that hangs or is full, as a test says.
  private final class Disk: Sendable {
    private let state = Mutex((written: [String](), isFull: false))
    private let begun = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 1)

    var written: [String] { state.withLock { $0.written } }
    var isFull: Bool {
      get { state.withLock { $0.isFull } }
      set { state.withLock { $0.isFull = newValue } }
    }

    func write(_ kind: Kind, _ bytes: [UInt8]?) throws(IOError) {
      begun.signal()
      opened.wait()
      defer { opened.signal() }
      if isFull { throw IOError(call: "write", code: ENOSPC, text: "the disk is full") }
      state.withLock { $0.written.append("\(kind) \(bytes ?? [])") }
    }

    func close() { opened.wait() }
    func open() { opened.signal() }
    func awaitWrite() { begun.wait() }
  }

  private static func follower(of disk: Disk) throws -> SecondFiles {
    try SecondFiles(directory: "/nowhere") { kind, bytes throws(IOError) in
      try disk.write(kind, bytes)
    }
  }

  private static func second(_ number: Int64) -> LocalTime {
    LocalTime(nanoseconds: number * 1_000_000_000)
  }

  private static func send(_ byte: UInt8, as kind: Kind, to follower: inout SecondFiles) {
    let (file, now) = (kind.rawValue, second(100))
    for message in [
      DaemonMessage.piece(file: file, offset: 0, [byte]), .end(file: file, size: 1),
    ] {
      let isTaken = follower.take(message, lead: nil, at: now)
      #expect(isTaken)
    }
  }

  @Test func `a disk that hangs holds up no message, and then has the newest of each file`() throws
  {
    let disk = Disk()
    var follower = try Self.follower(of: disk)
    disk.close()
    Self.send(1, as: .browsers, to: &follower)
    disk.awaitWrite()
    for byte in UInt8(2)...9 { Self.send(byte, as: .browsers, to: &follower) }
    Self.send(7, as: .numbers, to: &follower)
    let begin = Self.second(100)
    #expect(follower.obstacle(at: begin + SecondWriter.patience - Nanoseconds(1)) == nil)
    #expect(follower.obstacle(at: begin + SecondWriter.patience) == "the disk does not answer")
    let done = DispatchSemaphore(value: 0)
    follower.takeOver(lead: nil, at: begin) { done.signal() }
    #expect(done.wait(timeout: .now()) == .timedOut)
    disk.open()
    done.wait()
    #expect(disk.written.first == "browsers [1]")
    #expect(disk.written.dropFirst().sorted() == ["browsers [9]", "numbers [7]"])
    #expect(follower.obstacle(at: Self.second(1_000)) == nil)
  }

  @Test func `what a full disk does not take is told, and written once there is room`() throws {
    let disk = Disk()
    var follower = try Self.follower(of: disk)
    disk.isFull = true
    Self.send(1, as: .browsers, to: &follower)
    while follower.obstacle(at: Self.second(100)) == nil {}
    #expect(follower.obstacle(at: Self.second(100))?.contains("the disk is full") == true)
    disk.isFull = false
    #expect(disk.written.isEmpty)
    while follower.obstacle(at: Self.second(105)) != nil {}
    #expect(disk.written == ["browsers [1]"])
    // Who takes over has what the disk has taken, and waits for no more of it.
    disk.isFull = true
    Self.send(2, as: .numbers, to: &follower)
    let done = DispatchSemaphore(value: 0)
    follower.takeOver(lead: nil, at: Self.second(106)) { done.signal() }
    done.wait()
    #expect(follower.obstacle(at: Self.second(1_000)) == nil && disk.written.count == 1)
  }

  @Test func `each file has the number of the specification`() throws {
    let rows = try Specification.table(under: "Files", of: "second-sender.md")
    let kinds = rows.map { "\($0[0]) \($0[1])" }
    #expect(kinds == Kind.allCases.map { "\($0.rawValue) `\($0.name)`" })
  }
}
