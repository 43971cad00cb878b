import Clock
import LinuxIO
import SQLiteStore
import Sender
import WireProtocol

/// The files of a household that its other daemon needs to go on with it. For one thread.
struct SecondFiles {
  enum Kind: UInt8, CaseIterable {
    case house, streams, paired, rooms, browsers, numbers, library

    var name: String {
      switch self {
      case .house: "house.db"
      case .streams: "house.db.streams"
      case .paired: "paired"
      case .rooms: "receivers.json"
      case .browsers: "access"
      case .numbers: "mpd"
      case .library: "library.db"
      }
    }

    fileprivate var isTables: Bool { self == .house || self == .library }

    /// Least time between two looks at it.
    fileprivate var interval: Nanoseconds { self == .library ? .seconds(10) : .zero }
  }

  /// Something that keeps the other daemon from going on with all of it.
  enum Problem: Hashable {
    case tooLarge(Kind)
    /// The household's tables are of a newer program than this machine's.
    case newer

    var sentence: String {
      switch self {
      case .tooLarge(let kind):
        "\(kind.name) has more than \(DaemonMessage.fileLimit >> 20) MiB: the household's other daemon goes on with its own"
      case .newer:
        "the household's other daemon is of a newer version: update tutti on this machine, so that it can go on with the music"
      }
    }
  }

  private struct Tables {
    let database: Database
    let inode: UInt64
    var version: Int?
  }

  private let directory: String
  private var mirrors: [Kind: MirroredFile] = [:]
  /// As the leader has read them last.
  private var stamps: [Kind: StateFile.Stamp] = [:]
  private var tables: [Kind: Tables] = [:]
  private var nextLook: [Kind: LocalTime] = [:]
  let writer: SecondWriter
  private var problems: Set<Problem> = []
  private var news: [Problem] = []

  init(directory: String) throws(IOError) {
    try self.init(directory: directory) { kind, bytes throws(IOError) in
      try Self.write(bytes, as: kind, in: directory)
    }
  }

  /// - Parameter write: a test's, in the place of the disk.
  init(directory: String, write: @escaping SecondWriter.Write) throws(IOError) {
    self.directory = directory
    writer = try SecondWriter(write)
  }

  /// The other daemon has nothing, or nothing that counts any more.
  mutating func begin() {
    (mirrors, stamps, tables, nextLook) = ([:], [:], [:], [:])
  }

  /// Returns those that were not told before.
  mutating func takeProblems() -> [Problem] {
    defer { news = [] }
    return news
  }

  private mutating func note(_ problem: Problem) {
    if problems.insert(problem).inserted { news.append(problem) }
  }

  private func file(_ kind: Kind) -> StateFile { Self.file(kind, in: directory) }

  private static func file(_ kind: Kind, in directory: String) -> StateFile {
    StateFile(path: directory + "/" + kind.name)
  }

  // MARK: - The leader

  /// Returns the changes since the last call. A file that cannot be read now is looked at again.
  mutating func changes(at now: LocalTime) -> [DaemonMessage] {
    var messages: [DaemonMessage] = []
    for kind in Kind.allCases where nextLook[kind].map({ $0 <= now }) ?? true {
      nextLook[kind] = now + kind.interval
      guard let bytes = changed(kind) else { continue }
      messages += mirrors[kind, default: MirroredFile()].messages(to: bytes, file: kind.rawValue)
    }
    return messages
  }

  private mutating func changed(_ kind: Kind) -> [UInt8]? {
    if kind.isTables { return (try? changedTables(kind)).flatMap(\.self) }
    guard let stamp = file(kind).stamp, stamp != stamps[kind],
      let bytes = try? file(kind).read(limit: DaemonMessage.fileLimit)
    else { return nil }
    stamps[kind] = stamp
    return bytes
  }

  /// The file itself is not the whole: the newest changes stand in its log.
  private mutating func changedTables(_ kind: Kind) throws(SQLiteError) -> [UInt8]? {
    guard let inode = file(kind).stamp?.inode else { return nil }
    // A damaged file is set aside, and another one takes its name.
    if tables[kind]?.inode != inode {
      tables[kind] = nil
      tables[kind] = Tables(database: try Database(path: file(kind).path), inode: inode)
    }
    guard let open = tables[kind] else { return nil }
    let version = try open.database.dataVersion()
    guard version != open.version else { return nil }
    let bytes = try open.database.contents(limit: DaemonMessage.fileLimit)
    if bytes == nil { note(.tooLarge(kind)) }
    tables[kind]?.version = version
    return bytes
  }

  /// A leader that follows from now on must not hold the tables open.
  mutating func close() { tables = [:] }

  // MARK: - The follower

  /// Takes a message of the leader, and has each file written that is whole. False if no leader sends this.
  ///
  /// - Parameter lead: the leader's clock less this machine's; nil if it is not known yet.
  mutating func take(_ message: DaemonMessage, lead: Nanoseconds?, at now: LocalTime) -> Bool {
    switch message {
    case .word: return true
    case .piece(let file, let offset, let bytes):
      guard let kind = Kind(rawValue: file) else { return true }
      return mirrors[kind, default: MirroredFile()].take(bytes, at: offset)
    case .end(let file, let size):
      guard let kind = Kind(rawValue: file) else { return true }
      guard mirrors[kind, default: MirroredFile()].end(size: size) else { return false }
      post(kind, lead, at: now)
      return true
    }
  }

  /// Before this machine leads: the streams by its own clock, as exactly as that is known by now. `done` is called once all that
  /// came before was given to the disk, on another thread.
  mutating func takeOver(
    lead: Nanoseconds?, at now: LocalTime, _ done: @escaping @Sendable () -> Void
  ) {
    post(.streams, lead, at: now)
    writer.finish(done)
  }

  /// Says why not all that came stands on the disk, and tries that again.
  func obstacle(at now: LocalTime) -> String? { writer.obstacle(at: now) }

  private mutating func post(_ kind: Kind, _ lead: Nanoseconds?, at now: LocalTime) {
    guard let mirror = mirrors[kind], mirror.isWhole else { return }
    switch kind {
    case .streams: writer.post(kind, Self.own(streams: mirror.bytes, lead), at: now)
    case .house where Self.version(of: mirror.bytes) > HouseStore.version: note(.newer)
    case .house, .library, .paired, .rooms, .browsers, .numbers:
      writer.post(kind, mirror.bytes, at: now)
    }
  }

  private static func write(
    _ bytes: [UInt8]?, as kind: Kind, in directory: String
  ) throws(IOError) {
    let file = file(kind, in: directory)
    guard let bytes else { return try file.remove() }
    // The log belongs to the file that was there before.
    try file.keep(bytes, removing: kind.isTables ? ["-wal", "-shm"] : [])
  }

  /// The version of the tables, as SQLite keeps it in the header of its file: https://sqlite.org/fileformat.html
  private static func version(of file: [UInt8]) -> Int {
    file.count < 64 ? 0 : file[60..<64].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Nil while they cannot be gone on with.
  private static func own(streams bytes: [UInt8], _ lead: Nanoseconds?) -> [UInt8]? {
    guard let lead, let boot = HouseStreams.boot,
      let journal = try? StreamJournal(decoding: bytes)
    else { return nil }
    let streams = journal.streams.map { stream in
      var record = stream.record
      record.clockLead = record.clockLead + lead
      return StreamJournal.Stream(group: stream.group, record: record)
    }
    return StreamJournal(
      boot: boot, senderID: journal.senderID, slept: HostClock.timeSuspended, streams: streams
    ).encoded()
  }
}
