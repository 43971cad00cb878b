import Clock
import SQLiteStore
import Sender
import TestSupport
import Testing

@testable import House
@testable import Service

/// Tests of a household on the disk.
@Suite struct HouseStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("house.db") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `a file of a newer version is left alone`() throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).setVersion(99)
    let failure = #expect(throws: SQLiteError.self) { _ = try HouseStore(path: path) }
    #expect(failure?.description.contains("newer version") == true)
    #expect(try Database(path: path).version() == 99)
  }

  private static func entry(_ id: Int) -> QueueRecord.Entry {
    QueueRecord.Entry(id: id, details(id))
  }

  private static func details(_ id: Int) -> Order.NewEntry {
    var entry = Order.NewEntry(location: "/music/\(id).flac")
    (entry.title, entry.artist, entry.album) = ("Title \(id)", "Ärtist", nil)
    (entry.durationS, entry.artwork, entry.trackId) = (1.5, "abc", "t\(id)")
    (entry.albumId, entry.hasVideo) = ("a\(id)", id == 2)
    return entry
  }

  private static var setUp: SetUp {
    var setUp = SetUp()
    do throws(Refusal) {
      try setUp.add(folder: "/srv/Müsik", .init())
      try setUp.name(room: "a", "Küche")
      try setUp.set(dates: "de-AT")
    } catch { Issue.record("\(error)") }
    return setUp
  }

  private static var stereo: StereoBook {
    var stereo = StereoBook()
    do throws(Refusal) {
      stereo.separate(try stereo.make("e", "f", name: nil) { _ in "mono" })
      stereo.swap(try stereo.make("c", "d", name: "Stüdy") { $0 == "c" ? "left" : nil }.id)
    } catch { Issue.record("\(error)") }
    return stereo
  }

  private static var record: HouseRecord {
    var group = HouseRecord.Group(id: "g1", name: "Party")
    group.rooms = ["b", "a"]
    group.queue = QueueRecord([3, 1, 2].map(entry))
    (group.nextEntry, group.revision) = (4, 9)
    group.place = QueuePlace(entry: 1, seconds: 12.25)
    (group.isPlaying, group.repetition) = (true, .all)
    group.effects.rate = 1.25
    group.effects.filters =
      (try? ["highpass 120", "equalizer 2500:5:2"].map { try SoundFilter($0) }) ?? []
    var record = HouseRecord()
    record.groups = [group, HouseRecord.Group(id: "g2", name: nil)]
    record.groups[1].lastRoom = "c"
    record.groups[1].sleepUntil = WallTime(seconds: 1_800_000_000)
    record.groups[0].merge = MergeUndo(
      sentence: "merged Bath", other: "g2", rooms: ["a"], wasPlaying: true)
    record.lastGroup = 2
    var room = HouseRecord.Room(id: "a", name: "Kitchen")
    (room.volume, room.muted, room.delayMs, room.channels) = (40.5, true, -3, "left")
    (room.volumeLimit, room.isVolumeLimitFixed) = (60, true)
    record.night = NightHours(fromMinute: 1_320, toMinute: 420, volumeLimit: 25)
    record.setUp = setUp
    record.rooms = [room, HouseRecord.Room(id: "b", name: "Bath")]
    record.scenes = [
      Scene(
        id: "s3", name: "Dinner", rooms: [.init(id: "b", volume: 20), .init(id: "c", volume: nil)])
    ]
    record.lastScene = 4
    record.stereo = stereo
    return record
  }

  @Test func `everything comes back as it was`() throws {
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
    #expect(try HouseStore(path: folder.file("new.db")).record == HouseRecord())
  }

  @Test(arguments: [("9e999", 1e8), ("-1", 0.0), ("'x'", 0.0)])
  func `a place that is in no item is moved into bounds`(damage: String, seconds: Double) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute("UPDATE groups SET position = \(damage)")
    #expect(try HouseStore(path: path).record.groups[0].place?.seconds == seconds)
  }

  @Test(arguments: [
    "UPDATE room_limits SET volume = 1e300", "UPDATE room_limits SET volume = -1",
    "UPDATE night SET record = json_set(record, '$.fromMinute', 9223372036854775807)",
    "UPDATE night SET record = json_set(record, '$.volumeLimit', 1e300)",
    "UPDATE night SET record = '{'",
  ])
  func `a limit or a night that nobody can set is left out`(damage: String) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute(damage)
    let read = try HouseStore(path: path).record
    #expect((read.night == nil) == damage.contains("night"))
    let limits = read.rooms.map(\.volumeLimit)
    #expect(limits == (damage.contains("night") ? [60, nil] : [nil, nil]))
  }

  @Test(arguments: [
    "UPDATE scenes SET record = json_set(record, '$.id', 's0')",
    "UPDATE scenes SET record = json_set(record, '$.rooms[0].volume', -1)",
    "UPDATE scenes SET record = json_set(record, '$.name', '')", "UPDATE scenes SET record = '{'",
  ])
  func `a scene that nobody can save is left out`(damage: String) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute(damage)
    let read = try HouseStore(path: path).record
    #expect(read.scenes.isEmpty && read.lastScene == 4)
  }

  @Test func `a file without scenes is read on`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try database.execute(
      "DROP TABLE scenes; DROP TABLE last_scene; DROP TABLE set_up;" + Self.dropCrossfade)
    try database.setVersion(7)
    var old = Self.record
    (old.scenes, old.lastScene) = ([], 0)
    old.setUp = SetUp()
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test(arguments: [
    ("UPDATE set_up SET record = '{'", 0, 0),
    ("UPDATE set_up SET record = json_set(record, '$.folders[0]', '/srv/../etc')", 0, 1),
    ("UPDATE set_up SET record = json_set(record, '$.names[0].name', '')", 1, 0),
  ])
  func `what nobody can have chosen is left out`(
    damage: String, folders: Int, names: Int
  ) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute(damage)
    let read = try HouseStore(path: path).record
    #expect(read.setUp.folders.count == folders && read.setUp.names.count == names)
    #expect(read.groups == Self.record.groups)
  }

  @Test func `a file of version 8 gets room for what is chosen`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try database.execute("DROP TABLE set_up;" + Self.dropCrossfade)
    try database.setVersion(8)
    var old = Self.record
    old.setUp = SetUp()
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test func `a file of version 10 gets room for stereo pairs`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try database.execute("DROP TABLE stereo;" + Self.dropCrossfade)
    try database.setVersion(10)
    var old = Self.record
    old.stereo = StereoBook()
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test func `a file of version 11 gets room for merges`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try database.execute("DROP TABLE merges;" + Self.dropCrossfade)
    try database.setVersion(11)
    var old = Self.record
    old.groups[0].merge = nil
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
    try database.execute("UPDATE merges SET record = '{'")
    #expect(try HouseStore(path: path).record == old)
  }

  @Test(arguments: [
    ("UPDATE stereo SET record = '{'", 0),
    ("UPDATE stereo SET record = json_set(record, '$.pairs[0].right.room', 'd')", 2),
    ("UPDATE stereo SET record = json_set(record, '$.pairs[0].id', 'x')", 2),
    ("UPDATE stereo SET record = json_set(record, '$.pairs[0].name', '')", 2),
  ])
  func `a stereo pair that nobody can have made is left out`(damage: String, owed: Int) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute(damage)
    var lines: [String] = []
    let read = try HouseStore(path: path, tell: { lines.append($0) }).record
    #expect(read.stereo.pairs.isEmpty && read.stereo.owed.count == owed)
    #expect(lines.count == (owed == 0 ? 1 : 0))
    #expect(read.groups == Self.record.groups)
  }

  @Test func `a save is on the disk when it is done, whatever becomes of the power`() throws {
    let store = try HouseStore(path: path)
    // FULL: SQLite waits for the disk after each transaction.
    #expect(try store.database.prepare("PRAGMA synchronous").first { $0.int(0) } == 2)
  }

  @Test func `a file of the program before is read on`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try Self.makeOlder(database)
    try database.execute(
      """
      ALTER TABLE entries DROP COLUMN album_id; ALTER TABLE entries DROP COLUMN video
      """)
    try database.setVersion(1)
    var old = Self.record
    old.groups[0].effects.filters = []
    old.groups[1].lastRoom = nil
    old.groups[0].queue = Self.ranked(
      [3, 1, 2].map { id in
        var details = Self.details(id)
        (details.albumId, details.hasVideo) = (nil, nil)
        return (id, details)
      })
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test func `a file of version 13 gets room for the ends of sleep timers`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try database.execute("DROP TABLE sleeps")
    try database.setVersion(13)
    var old = Self.record
    old.groups[1].sleepUntil = nil
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test(arguments: [Int64.min, -1, .max])
  func `a sleep timer that ends at no time is left out`(time: Int64) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute("UPDATE sleeps SET until = \(time)")
    #expect(try HouseStore(path: path).record.groups.map(\.sleepUntil) == [nil, nil])
  }

  /// A program before version 13 knew no crossfade.
  private static let dropCrossfade = "ALTER TABLE groups DROP COLUMN crossfade"

  @Test func `a file of version 12 gets room for crossfades`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try database.execute(Self.dropCrossfade)
    try database.setVersion(12)
    #expect(try HouseStore(path: path).record == Self.record)
    var record = Self.record
    record.groups[0].effects.crossfade = 6.5
    try HouseStore(path: path).save(record)
    #expect(try HouseStore(path: path).record == record)
  }

  /// Returns a queue with the ranks that the entries of an older file get.
  private static func ranked(_ entries: [(id: Int, details: Order.NewEntry)]) -> QueueRecord {
    QueueRecord(
      entries.enumerated().map { rank, entry in
        .init(id: entry.id, rank: Int64(rank), entry.details)
      })
  }

  private static func makeVersion5(_ database: Database) throws {
    try database.execute(
      "DROP TABLE undo; DROP TABLE undo_entries; DROP TABLE unshuffled;" + dropCrossfade)
    try database.setVersion(5)
  }

  private static func makeVersion4(_ database: Database) throws {
    try makeVersion5(database)
    try database.execute("DROP TABLE alarms; DROP TABLE alarm_debts; DROP TABLE last_alarm")
    try database.setVersion(4)
  }

  /// Turns the database into one of version 3, with the order of entries in one value.
  private static func makeVersion3(_ database: Database) throws {
    try makeVersion4(database)
    try database.execute(
      """
      ALTER TABLE groups ADD COLUMN entry_order BLOB NOT NULL DEFAULT x'';
      ALTER TABLE groups DROP COLUMN last_room
      """)
    let groups = try database.prepare("SELECT id FROM groups").all { $0.text(0) ?? "" }
    for group in groups {
      let ids = try database.prepare("SELECT id FROM entries WHERE group_id = ? ORDER BY rank")
        .all([.text(group)]) { UInt64($0.int(0) ?? 0) }
      let order = ids.flatMap { id in (0..<8).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) } }
      try database.run("UPDATE groups SET entry_order = ? WHERE id = ?", .blob(order), .text(group))
    }
    try database.execute("ALTER TABLE entries DROP COLUMN rank")
    try database.setVersion(3)
  }

  @Test(arguments: [makeVersion5, makeVersion4])
  func `a file without what an undo brings back keeps its queues`(
    makeOlder: @Sendable (Database) throws -> Void
  ) throws {
    try HouseStore(path: path).save(Self.record)
    try makeOlder(Database(path: path))
    var record = Self.record
    let store = try HouseStore(path: path)
    #expect(store.record == record)
    record.groups[0].unshuffled = [1, 2, 3]
    record.groups[0].undo = QueueUndo(
      "replaced", 2, QueueRecord([0, 1].map(Self.entry)), unshuffled: [1, 0],
      .init(QueuePlace(entry: 1, seconds: 2.5), wasPlaying: true))
    try store.save(record)
    #expect(try HouseStore(path: path).record == record)
  }

  @Test func `an entry that begins wherever it was left is kept as that`() throws {
    var record = Self.record
    record.groups[0].place = QueuePlace(turnOf: 1)
    record.groups[0].undo = QueueUndo(
      "replaced", 2, QueueRecord([0, 1].map(Self.entry)), unshuffled: nil,
      .init(QueuePlace(turnOf: 0), wasPlaying: false))
    try HouseStore(path: path).save(record)
    #expect(try HouseStore(path: path).record == record)
  }

  @Test func `the removal of one of many entries writes few rows for its undo`() throws {
    var record = Self.record
    record.groups[0].queue = Self.ranked((0..<600).map { ($0, Self.details($0)) })
    let store = try HouseStore(path: path)
    try store.save(record)
    let before = record.groups[0].queue
    Self.edit(&record.groups[0]) { $0.remove(at: 300) }
    record.groups[0].undo = QueueUndo("removed", 1, before, unshuffled: nil, nil)
    try store.save(record)
    #expect(try HouseStore(path: path).record == record)
    let rows = try Database(path: path).prepare("SELECT count(*) FROM undo_entries")
    #expect(try rows.first { $0.int(0) ?? 0 } == 1)
  }

  @Test func `a file with the order of entries in one value keeps its queues`() throws {
    var record = Self.record
    record.groups[0].queue = Self.ranked((1...600).reversed().map { ($0, Self.details($0)) })
    record.groups[0].nextEntry = 601
    try HouseStore(path: path).save(record)
    let database = try Database(path: path)
    try Self.makeVersion3(database)
    // An entry without a place in the order was never shown.
    try database.execute("INSERT INTO entries (group_id, id, location) VALUES ('g1', 700, 'x')")
    record.groups[1].lastRoom = nil
    let store = try HouseStore(path: path)
    #expect(store.record == record)
    record.groups[0].queue.follow([700, 600, 1].map { Self.details($0).item($0) }) {
      Self.details($0.id)
    }
    try store.save(record)
    #expect(try HouseStore(path: path).record == record)
    #expect(record.groups[0].queue.ids == [700, 600, 1])
  }

  @Test func `entries whose ranks are in no order are ranked anew, and stay so`() throws {
    var record = Self.record
    record.groups[0].queue = QueueRecord((0..<20).map(Self.entry))
    try HouseStore(path: path).save(record)
    try Database(path: path).execute("UPDATE entries SET rank = max(3, id) << 60")
    let store = try HouseStore(path: path)
    let found = store.record.groups[0].queue
    #expect(found.ids.sorted() == Array(0..<20))
    record.groups[0].queue = found
    record.groups[0].queue.follow(found.ids.dropLast().map { Self.details($0).item($0) }) {
      Self.details($0.id)
    }
    try store.save(record)
    #expect(try HouseStore(path: path).record == record)
  }

  /// Turns the database into one of version 2, with filters in FFmpeg's notation.
  private static func makeOlder(_ database: Database) throws {
    try makeVersion3(database)
    try database.execute(
      "ALTER TABLE groups DROP COLUMN filters; ALTER TABLE groups ADD COLUMN filter TEXT;"
        + "ALTER TABLE entries DROP COLUMN reach")
    try database.setVersion(2)
  }

  @Test func `a filter that an older program has kept is dropped with one line`() throws {
    try HouseStore(path: path).save(Self.record)
    let database = try Database(path: path)
    try Self.makeOlder(database)
    try database.execute("UPDATE groups SET filter = 'apad,areverse' WHERE id = 'g1'")
    var lines: [String] = []
    let store = try HouseStore(path: path) { lines.append($0) }
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("the filter of group g1 is dropped") ?? false, "\(lines)")
    var old = Self.record
    old.groups[0].effects.filters = []
    old.groups[0].queue = Self.ranked([3, 1, 2].map { ($0, Self.details($0)) })
    old.groups[1].lastRoom = nil
    #expect(store.record == old)
    try store.save(Self.record)
    #expect(try HouseStore(path: path) { lines.append($0) }.record == Self.record)
    #expect(lines.count == 1)
  }

  @Test(arguments: ["amovie=/x", "bass 99", "bass 3;DROP TABLE groups", "bass 3,apad"])
  func `filters that are none are not read from a file`(text: String) throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).run("UPDATE groups SET filters = ? WHERE id = 'g1'", .text(text))
    #expect(try HouseStore(path: path).record.groups[0].effects.filters == [])
  }

  /// Writes random changes one after the other. Each time the file must hold exactly what was
  /// saved.
  @Test(arguments: 1...5) func `what was changed is written, and nothing else is lost`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let store = try HouseStore(path: path)
    var record = Self.record
    for _ in 0..<40 {
      Self.change(&record, &random)
      try store.save(record)
      #expect(try HouseStore(path: path).record == record)
    }
  }

  private static func change(_ record: inout HouseRecord, _ random: inout SplitMix64) {
    let index =
      record.groups.isEmpty ? nil : Int.random(in: 0..<record.groups.count, using: &random)
    guard let index, Int.random(in: 0..<8, using: &random) > 0 else {
      record.lastGroup += 1
      return record.groups.insert(.init(id: "g\(record.lastGroup)", name: nil), at: 0)
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: record.groups.remove(at: index)
    case 9: record.groups[index].undo = nil
    case 10:
      record.groups[index].unshuffled =
        Bool.random(using: &random) ? nil : record.groups[index].queue.ids.reversed() + [7]
    case 11:
      let before = record.groups[index]
      edit(&record.groups[index]) { ids in
        ids = ids.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        if Bool.random(using: &random) { ids.shuffle(using: &random) }
      }
      let place = QueuePlace(entry: 3, seconds: 1.5)
      record.groups[index].undo = QueueUndo(
        "removed", 2, before.queue, unshuffled: before.unshuffled,
        Bool.random(using: &random) ? .init(place, wasPlaying: true) : nil)
    case 1: edit(&record.groups[index]) { $0.shuffle(using: &random) }
    case 2: record.groups[index].queue = QueueRecord()
    case 3: record.groups[index].name = "n\(record.lastGroup)"
    case 4: record.groups[index].rooms = ["r\(index)", "s\(index)"].shuffled(using: &random)
    case 5:
      record.groups[index].place = record.groups[index].place.map {
        QueuePlace(entry: $0.entry, seconds: $0.seconds + 10)
      }
    case 6:
      record.groups[index].effects.crossfade = Double(Int.random(in: 0...12, using: &random))
      record.groups[index].effects.filters =
        (try? SoundFilter("bass \(Int.random(in: -24...24, using: &random))")).map { [$0] } ?? []
    default:
      let id = record.groups[index].nextEntry
      edit(&record.groups[index]) { $0.insert(id, at: $0.count / 2) }
      record.groups[index].nextEntry += 1
    }
    var seen: Set<String> = []
    for index in record.groups.indices {
      record.groups[index].rooms.removeAll { !seen.insert($0).inserted }
    }
  }

  private static func edit(_ group: inout HouseRecord.Group, _ edit: (inout [Int]) -> Void) {
    var ids = group.queue.ids
    edit(&ids)
    group.queue.follow(ids.map { details($0).item($0) }) { details($0.id) }
    group.revision += 1
  }

  @Test func `a damaged file is set aside with a line, and all begins anew`() throws {
    try HouseStore(path: path).save(Self.record)
    for aside in ["house.db.damaged", "house.db.damaged-2"] {
      try folder.write([UInt8](repeating: 0x61, count: 4096), to: "house.db")
      var lines: [String] = []
      let store = try HouseStore(path: path) { lines.append($0) }
      #expect(store.record == HouseRecord())
      #expect(lines.count == 1)
      #expect(lines.first?.contains("was set aside as \(folder.file(aside))") ?? false, "\(lines)")
      #expect(try folder.bytes(of: aside).count == 4096)
    }
  }

  @Test func `a disk that cannot be written is told, and what was there stays`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try HouseStore(path: folder.file("missing/house.db"))
    }
    #expect(error?.kind == .disk)
  }
}
