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
  /// Files of the leader's that the follower's disk has not taken yet.
  private var unwritten: Set<Kind> = []
  private var problems: Set<Problem> = []
  private var news: [Problem] = []

  init(directory: String) { self.directory = directory }

  /// The other daemon has nothing, or nothing that counts any more.
  mutating func begin() {
    (mirrors, stamps, tables, nextLook, unwritten) = ([:], [:], [:], [:], [])
  }

  /// Returns those that were not told before.
  mutating func takeProblems() -> [Problem] {
    defer { news = [] }
    return news
  }

  private mutating func note(_ problem: Problem) {
    if problems.insert(problem).inserted { news.append(problem) }
  }

  private func file(_ kind: Kind) -> StateFile { StateFile(path: directory + "/" + kind.name) }

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

  /// Takes a message of the leader, and writes each file that is whole. False if no leader sends this.
  ///
  /// - Parameter lead: the leader's clock less this machine's; nil if it is not known yet.
  mutating func take(_ message: DaemonMessage, lead: Nanoseconds?) throws(IOError) -> Bool {
    switch message {
    case .word: return true
    case .piece(let file, let offset, let bytes):
      guard let kind = Kind(rawValue: file) else { return true }
      return mirrors[kind, default: MirroredFile()].take(bytes, at: offset)
    case .end(let file, let size):
      guard let kind = Kind(rawValue: file) else { return true }
      guard mirrors[kind, default: MirroredFile()].end(size: size) else { return false }
      unwritten.insert(kind)
      try writeAll(lead)
      return true
    }
  }

  /// Before this machine leads: the streams by its own clock, as exactly as that is known by now.
  mutating func takeOver(lead: Nanoseconds?) throws(IOError) {
    if mirrors[.streams] != nil { unwritten.insert(.streams) }
    try writeAll(lead)
  }

  private mutating func writeAll(_ lead: Nanoseconds?) throws(IOError) {
    for kind in Kind.allCases where unwritten.contains(kind) {
      guard let mirror = mirrors[kind], mirror.isWhole else { continue }
      try write(mirror.bytes, as: kind, lead)
      unwritten.remove(kind)
    }
  }

  private mutating func write(_ bytes: [UInt8], as kind: Kind, _ lead: Nanoseconds?) throws(IOError)
  {
    switch kind {
    case .streams: return try write(streams: bytes, lead)
    case .house where Self.version(of: bytes) > HouseStore.version: return note(.newer)
    case .house, .library:
      // The log belongs to the file that was there before.
      for ending in ["-wal", "-shm"] { try StateFile(path: file(kind).path + ending).remove() }
    case .paired, .rooms, .browsers, .numbers: break
    }
    try file(kind).keep(bytes)
  }

  /// The version of the tables, as SQLite keeps it in the header of its file: https://sqlite.org/fileformat.html
  private static func version(of file: [UInt8]) -> Int {
    file.count < 64 ? 0 : file[60..<64].reduce(0) { $0 << 8 | Int($1) }
  }

  private func write(streams bytes: [UInt8], _ lead: Nanoseconds?) throws(IOError) {
    guard let lead, let boot = HouseStreams.boot,
      let journal = try? StreamJournal(decoding: bytes)
    else { return try file(.streams).remove() }
    let streams = journal.streams.map { stream in
      var record = stream.record
      record.clockLead = record.clockLead + lead
      return StreamJournal.Stream(group: stream.group, record: record)
    }
    let own = StreamJournal(
      boot: boot, senderID: journal.senderID, slept: HostClock.timeSuspended, streams: streams)
    try file(.streams).keep(own.encoded())
  }
}
