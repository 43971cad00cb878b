import SQLiteStore
import Sender
import TestSupport
import Testing

@testable import Service

/// A household on the disk.
@Suite struct HouseStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("house.db") }

  init() throws { folder = try TemporaryFolder() }

  private static func entry(_ id: Int) -> HouseRecord.Entry {
    var entry = HouseRequest.NewEntry(location: "/music/\(id).flac")
    (entry.title, entry.artist, entry.album) = ("Title \(id)", "Ärtist", nil)
    (entry.durationS, entry.artwork, entry.trackId) = (1.5, "abc", "t\(id)")
    (entry.albumId, entry.hasVideo) = ("a\(id)", id == 2)
    return HouseRecord.Entry(id: id, entry)
  }

  private static var record: HouseRecord {
    var group = HouseRecord.Group(id: "g1", name: "Party")
    group.rooms = ["b", "a"]
    group.entries = [3, 1, 2].map(entry)
    (group.nextEntry, group.revision) = (4, 9)
    group.place = QueuePlace(entry: 1, seconds: 12.25)
    (group.isPlaying, group.repetition) = (true, "all")
    group.effects.rate = 1.25
    group.effects.filters = try? ["highpass 120", "equalizer 2500:5:2"].map { try SoundFilter($0) }
    var record = HouseRecord()
    record.groups = [group, HouseRecord.Group(id: "g2", name: nil)]
    record.lastGroup = 2
    var room = HouseRecord.Room(id: "a", name: "Kitchen")
    (room.volume, room.muted, room.delayMs, room.channels) = (40.5, true, -3, "left")
    record.rooms = [room, HouseRecord.Room(id: "b", name: "Bath")]
    return record
  }

  @Test func `everything comes back as it was`() throws {
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
    #expect(try HouseStore(path: folder.file("new.db")).record == HouseRecord())
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
    old.groups[0].effects.filters = nil
    for index in old.groups[0].entries.indices {
      old.groups[0].entries[index].entry.albumId = nil
      old.groups[0].entries[index].entry.hasVideo = nil
    }
    #expect(try HouseStore(path: path).record == old)
    try HouseStore(path: path).save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  /// As version 2 had it, with filters in FFmpeg's notation.
  private static func makeOlder(_ database: Database) throws {
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
    old.groups[0].effects.filters = nil
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

  /// Random changes, written one after the other; each time the file holds just what was saved.
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
    switch Int.random(in: 0..<9, using: &random) {
    case 0: record.groups.remove(at: index)
    case 1: record.groups[index].entries.shuffle(using: &random)
    case 2: record.groups[index].entries = []
    case 3: record.groups[index].name = "n\(record.lastGroup)"
    case 4: record.groups[index].rooms = ["r\(index)", "s\(index)"].shuffled(using: &random)
    case 5: record.groups[index].place?.seconds += 10
    case 6:
      record.groups[index].effects.filters =
        (try? SoundFilter("bass \(Int.random(in: -24...24, using: &random))")).map { [$0] }
    default:
      let id = record.groups[index].nextEntry
      record.groups[index].entries.insert(entry(id), at: record.groups[index].entries.count / 2)
      record.groups[index].nextEntry += 1
    }
    var seen: Set<String> = []
    for index in record.groups.indices {
      record.groups[index].rooms.removeAll { !seen.insert($0).inserted }
    }
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
