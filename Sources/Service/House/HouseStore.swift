package import House
package import LinuxIO
package import SQLiteStore
import Sender

/// A household on the disk. Each save is one transaction: after a kill at any moment the file holds it, or what was
/// before. For one thread.
package final class HouseStore {
  /// The version of the tables; a file with a higher one was written by a later program, and is left alone.
  static let version = 14

  let database: Database
  /// The contents of the file.
  private var saved: HouseRecord
  /// True once this connection has written: only then is it known that the disk takes something.
  private var hasWritten = false

  /// Reads what is there, and makes the file where there is none. One that is damaged is set aside under another name
  /// and begun anew; `tell` gets a line about it.
  package convenience init(path: String, tell: (String) -> Void = { _ in }) throws(SQLiteError) {
    do {
      try self.init(checking: path, tell)
    } catch {
      let aside = try StoreFile.setAside(path, because: error)
      tell("\(error); it was set aside as \(aside), and groups and queues begin anew")
      try self.init(checking: path, tell)
    }
  }

  private init(checking path: String, _ tell: (String) -> Void) throws(SQLiteError) {
    database = try Database(path: path, survivesPowerCuts: true)
    saved = HouseRecord()
    if let damage = try database.damage() { throw SQLiteError(damaged: path, damage) }
    let version = try database.version()
    guard version <= Self.version else {
      throw SQLiteError(unreadable: path, "it is of a newer version of tutti; update tutti")
    }
    if version == 0 {
      try makeTables()
    } else {
      if version < 2 { try addAlbums() }
      if version < 3 { try addReaches(tell) }
      if version < 4 { try addRanks() }
      if version < 5 { try addAlarms() }
      if version < 6 { try addUndo() }
      if version < 7 { try addVolumes() }
      if version < 8 { try addScenes() }
      if version < 9 { try addSetUp() }
      if version < 10 { try addSounds() }
      if version < 11 { try addStereo() }
      if version < 12 { try addMerges() }
      if version < 13 { try addCrossfades() }
      if version < 14 { try addSleeps() }
    }
    saved = try load(tell)
  }

  package var record: HouseRecord { saved }

  /// Returns when it is in the file.
  package func save(_ record: HouseRecord) throws(SQLiteError) {
    guard record != saved || !hasWritten else { return }
    try database.transaction { () throws(SQLiteError) in
      try write(record)
    }
    (saved, hasWritten) = (record, true)
  }

  private func makeTables() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(
        """
        CREATE TABLE house (last_group INTEGER NOT NULL);
        INSERT INTO house VALUES (0);
        CREATE TABLE groups (
          id TEXT PRIMARY KEY, place INTEGER NOT NULL, name TEXT,
          next_entry INTEGER NOT NULL, revision INTEGER NOT NULL, current_entry INTEGER,
          position REAL NOT NULL, is_playing INTEGER NOT NULL, repetition TEXT NOT NULL, rate REAL,
          pitch REAL, loudness REAL, filters TEXT, last_room TEXT, crossfade REAL) WITHOUT ROWID;
        CREATE TABLE group_rooms (
          room TEXT PRIMARY KEY, group_id TEXT NOT NULL REFERENCES groups ON DELETE CASCADE,
          place INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE entries (
          group_id TEXT NOT NULL REFERENCES groups ON DELETE CASCADE, id INTEGER NOT NULL,
          location TEXT NOT NULL, title TEXT, artist TEXT, album TEXT, duration REAL, artwork TEXT,
          track TEXT, album_id TEXT, video INTEGER, reach TEXT, rank INTEGER NOT NULL,
          PRIMARY KEY (group_id, id)) WITHOUT ROWID;
        CREATE TABLE rooms (
          id TEXT PRIMARY KEY, name TEXT NOT NULL, volume REAL, muted INTEGER, delay REAL,
          channels TEXT) WITHOUT ROWID;
        """ + Self.alarmTables + Self.undoTables + Self.volumeTables + Self.sceneTables
          + Self.setUpTables + Self.soundTable + Self.stereoTable + Self.mergeTable
          + Self.sleepTable)
      try database.setVersion(Self.version)
    }
  }

  /// For a file of version 1.
  private func addAlbums() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(
        "ALTER TABLE entries ADD COLUMN album_id TEXT; ALTER TABLE entries ADD COLUMN video INTEGER"
      )
      try database.setVersion(2)
    }
  }

  /// For a file of version 2, whose groups had filters in FFmpeg's notation: whatever anybody on the network had written.
  /// Where an item may lead was not kept either.
  private func addReaches(_ tell: (String) -> Void) throws(SQLiteError) {
    let dropped = try database.prepare(
      "SELECT id FROM groups WHERE filter != '' ORDER BY place"
    ).all { row in
      "the filter of group \(row.text(0) ?? "") is dropped: chains of FFmpeg's filters are taken no more; choose its "
        + "sound anew on the page or with: tutti effects"
    }
    try database.transaction { () throws(SQLiteError) in
      try database.execute(
        "ALTER TABLE groups DROP COLUMN filter; ALTER TABLE groups ADD COLUMN filters TEXT;"
          + "ALTER TABLE entries ADD COLUMN reach TEXT")
      try database.setVersion(3)
    }
    for line in dropped { tell(line) }
  }

  /// For a file of version 3, which had the order of a group's entries in one value: 8 bytes for each identity.
  private func addRanks() throws(SQLiteError) {
    let orders = try database.prepare("SELECT id, entry_order FROM groups").all { row in
      (group: row.text(0) ?? "", ids: Self.ids(row.blob(1) ?? []))
    }
    try database.transaction { () throws(SQLiteError) in
      try database.execute(
        "ALTER TABLE entries ADD COLUMN rank INTEGER NOT NULL DEFAULT -1;"
          + "ALTER TABLE groups ADD COLUMN last_room TEXT")
      let update = try database.prepare(
        "UPDATE entries SET rank = ? WHERE group_id = ? AND id = ?")
      for order in orders {
        for (rank, id) in order.ids.enumerated() {
          try update.run(.init(rank), .text(order.group), .init(id))
        }
      }
      try database.execute(
        "DELETE FROM entries WHERE rank < 0; ALTER TABLE groups DROP COLUMN entry_order")
      try database.setVersion(4)
    }
  }

  /// For a file of version 4, which knew no alarms.
  private func addAlarms() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.alarmTables)
      try database.setVersion(5)
    }
  }

  /// For a file of version 5, whose edits could not be undone after a restart.
  private func addUndo() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.undoTables)
      try database.setVersion(6)
    }
  }

  /// For a file of version 6, which knew no limits of rooms and no nights.
  private func addVolumes() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.volumeTables)
      try database.setVersion(7)
    }
  }

  /// For a file of version 7.
  private func addScenes() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.sceneTables)
      try database.setVersion(8)
    }
  }

  /// For a file of version 8, which knew no folders and no names of rooms.
  private func addSetUp() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.setUpTables)
      try database.setVersion(9)
    }
  }

  /// For a file of version 9, which knew no sound of rooms.
  private func addSounds() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.soundTable)
      try database.setVersion(10)
    }
  }

  /// For a file of version 10, which knew no stereo pairs.
  private func addStereo() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.stereoTable)
      try database.setVersion(11)
    }
  }

  /// For a file of version 11, whose merges of groups could not be undone.
  private func addMerges() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.mergeTable)
      try database.setVersion(12)
    }
  }

  /// For a file of version 12, whose items did not fade into each other.
  private func addCrossfades() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute("ALTER TABLE groups ADD COLUMN crossfade REAL")
      try database.setVersion(13)
    }
  }

  /// For a file of version 13, whose sleep timers ended with the program.
  private func addSleeps() throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try database.execute(Self.sleepTable)
      try database.setVersion(Self.version)
    }
  }

  static func ids(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - 7, by: 8).map { start in
      (0..<8).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    }
  }

  // MARK: - Reading

  private func load(_ tell: (String) -> Void) throws(SQLiteError) -> HouseRecord {
    var record = HouseRecord()
    record.lastGroup =
      try database.prepare("SELECT last_group FROM house").first { $0.int(0) ?? 0 } ?? 0
    let groups = try database.prepare(
      """
      SELECT id, name, last_room, next_entry, revision, current_entry, position, is_playing,
        repetition, rate, pitch, loudness, filters, crossfade FROM groups ORDER BY place
      """)
    record.groups = try groups.all { row in
      var group = HouseRecord.Group(id: row.text(0) ?? "", name: row.text(1))
      group.lastRoom = row.text(2)
      (group.nextEntry, group.revision) = (row.int(3) ?? 0, UInt64(max(0, row.int(4) ?? 0)))
      group.place = row.int(5).map { QueuePlace(entry: $0, position: row.double(6) ?? 0) }
      (group.isPlaying, group.repetition) = (
        row.bool(7), row.text(8).flatMap(Playlist.Repetition.init) ?? .off
      )
      (group.effects.rate, group.effects.pitch) = (row.double(9) ?? 1, row.double(10) ?? 0)
      (group.effects.loudness, group.effects.filters) = (row.double(11), Self.filters(row.text(12)))
      group.effects.crossfade = row.double(13) ?? 0
      return group
    }
    let rooms = try database.prepare(
      "SELECT room FROM group_rooms WHERE group_id = ? ORDER BY place")
    for index in record.groups.indices {
      let id = SQLiteValue.text(record.groups[index].id)
      record.groups[index].rooms = try rooms.all([id]) { $0.text(0) ?? "" }
      let queue = try queue(of: id)
      record.groups[index].queue = queue
      record.groups[index].undo = try undo(of: id, queue)
      record.groups[index].unshuffled = try unshuffled(of: id)
      record.groups[index].merge = try merge(of: id)
    }
    record.rooms = try loadRooms()
    try loadAlarms(into: &record, tell)
    try loadVolumes(into: &record)
    try loadScenes(into: &record)
    record.setUp = try loadSetUp(tell)
    try loadSounds(into: &record)
    record.stereo = try loadStereo(tell)
    try loadSleeps(into: &record)
    return record
  }

  private func queue(of group: SQLiteValue) throws(SQLiteError) -> QueueRecord {
    let statement = try database.prepare(
      """
      SELECT id, location, title, artist, album, duration, artwork, track, album_id, video, reach,
        rank
      FROM entries
      WHERE group_id = ? ORDER BY rank
      """)
    let entries = try statement.all([group], Self.entry)
    let queue = QueueRecord(entries)
    if queue.entries != entries { try writeRanks(queue, of: group) }
    return queue
  }

  static func entry(_ row: borrowing Row) -> QueueRecord.Entry {
    var entry = Order.NewEntry(location: row.text(1) ?? "")
    (entry.title, entry.artist, entry.album) = (row.text(2), row.text(3), row.text(4))
    (entry.durationS, entry.artwork, entry.trackId) = (row.double(5), row.text(6), row.text(7))
    (entry.albumId, entry.hasVideo) = (row.text(8), row.int(9).map { $0 != 0 })
    entry.reach = row.text(10).flatMap(SourceReach.init) ?? .network
    return QueueRecord.Entry(id: row.int(0) ?? 0, rank: row.int64(11) ?? 0, entry)
  }

  /// Where those in the file were in no order.
  private func writeRanks(_ queue: QueueRecord, of group: SQLiteValue) throws(SQLiteError) {
    let update = try database.prepare("UPDATE entries SET rank = ? WHERE group_id = ? AND id = ?")
    try database.transaction { () throws(SQLiteError) in
      for entry in queue.entries { try update.run(.integer(entry.rank), group, .init(entry.id)) }
    }
  }

  private func loadRooms() throws(SQLiteError) -> [HouseRecord.Room] {
    try database.prepare("SELECT id, name, volume, muted, delay, channels FROM rooms ORDER BY id")
      .all { row in
        var room = HouseRecord.Room(id: row.text(0) ?? "", name: row.text(1) ?? "")
        (room.volume, room.delayMs, room.channels) = (row.double(2), row.double(4), row.text(5))
        room.muted = row.int(3).map { $0 != 0 }
        return room
      }
  }

  // MARK: - Writing: only what differs

  private func write(_ record: HouseRecord) throws(SQLiteError) {
    if record.lastGroup != saved.lastGroup || !hasWritten {
      try database.run("UPDATE house SET last_group = ?", .init(record.lastGroup))
    }
    let ids = Set(record.groups.map(\.id))
    for group in saved.groups where !ids.contains(group.id) {
      try database.run("DELETE FROM groups WHERE id = ?", .text(group.id))
    }
    for (place, group) in record.groups.enumerated() {
      let index = saved.groups.firstIndex { $0.id == group.id }
      let before = index.map { saved.groups[$0] }
      if index != place || before != group { try write(group, at: place, before: before) }
    }
    if record.groups.map(\.rooms) != saved.groups.map(\.rooms)
      || record.groups.map(\.id) != saved.groups.map(\.id)
    {
      try writeRooms(of: record.groups)
    }
    try write(record.rooms)
    try writeAlarms(record, before: saved)
    try writeVolumes(record, before: saved)
    try writeScenes(record, before: saved)
    try write(record.setUp, before: saved.setUp)
    try writeSounds(record, before: saved)
    try write(record.stereo, before: saved.stereo)
  }

  private func write(
    _ group: HouseRecord.Group, at place: Int, before: HouseRecord.Group?
  ) throws(SQLiteError) {
    try database.run(
      """
      INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET place = excluded.place, name = excluded.name,
        next_entry = excluded.next_entry,
        revision = excluded.revision, current_entry = excluded.current_entry,
        position = excluded.position, is_playing = excluded.is_playing,
        repetition = excluded.repetition, rate = excluded.rate, pitch = excluded.pitch,
        loudness = excluded.loudness, filters = excluded.filters,
        last_room = excluded.last_room, crossfade = excluded.crossfade
      """,
      .text(group.id), .init(place), .init(group.name), .init(group.nextEntry),
      .integer(Int64(clamping: group.revision)), .init(group.place?.entry),
      .real(group.place?.position ?? 0), .init(group.isPlaying), .text(group.repetition.rawValue),
      .init(group.effects.rate), .init(group.effects.pitch), .init(group.effects.loudness),
      .init(Self.text(group.effects.filters)), .init(group.lastRoom),
      .init(group.effects.crossfade))
    let old = before
    let before = before?.queue ?? QueueRecord()
    if group.queue != before { try write(group.queue.entries, of: .text(group.id), before.entries) }
    try writeUndo(of: group, before: old)
    try writeSleep(of: group, before: old)
  }

  /// Both are in the order of their ranks: one walk through them finds what differs.
  private func write(
    _ entries: [QueueRecord.Entry], of group: SQLiteValue, _ before: [QueueRecord.Entry]
  ) throws(SQLiteError) {
    var gone: [Int] = []
    var new: [QueueRecord.Entry] = []
    var place = 0
    for entry in entries {
      while place < before.count, before[place].rank < entry.rank {
        gone.append(before[place].id)
        place += 1
      }
      if place < before.count, before[place] == entry { place += 1 } else { new.append(entry) }
    }
    gone += before[place...].map(\.id)
    let delete = try database.prepare("DELETE FROM entries WHERE group_id = ? AND id = ?")
    for id in gone { try delete.run(group, .init(id)) }
    let insert = try database.prepare(
      "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    for entry in new { try insert.run([group, .init(entry.id)] + Self.values(entry)) }
  }

  static func values(_ entry: QueueRecord.Entry) -> [SQLiteValue] {
    let details = entry.details
    return [
      .text(details.location), .init(details.title), .init(details.artist), .init(details.album),
      .init(details.durationS), .init(details.artwork), .init(details.trackId),
      .init(details.albumId), details.hasVideo.map { .init($0) } ?? .null,
      .text(details.reach.rawValue), .integer(entry.rank),
    ]
  }

  private func writeRooms(of groups: [HouseRecord.Group]) throws(SQLiteError) {
    try database.run("DELETE FROM group_rooms")
    let insert = try database.prepare("INSERT INTO group_rooms VALUES (?, ?, ?)")
    for group in groups {
      for (place, room) in group.rooms.enumerated() {
        try insert.run(.text(room), .text(group.id), .init(place))
      }
    }
  }

  private func write(_ rooms: [HouseRecord.Room]) throws(SQLiteError) {
    guard rooms != saved.rooms else { return }
    try database.run("DELETE FROM rooms")
    let insert = try database.prepare("INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?, ?, ?)")
    for room in rooms {
      try insert.run(
        .text(room.id), .text(room.name), .init(room.volume), room.muted.map { .init($0) } ?? .null,
        .init(room.delayMs), .init(room.channels))
    }
  }

  // MARK: - Filters, such as: highpass 120,bass 3:100

  private static func text(_ filters: [SoundFilter]) -> String {
    filters.map(\.description).joined(separator: ",")
  }

  /// None where one of them is no filter: the file was written by somebody else.
  private static func filters(_ text: String?) -> [SoundFilter] {
    (try? (text ?? "").split(separator: ",").map { try SoundFilter(String($0)) }) ?? []
  }
}

/// Writes what changes on a thread of its own, so that no slow disk is waited for by what plays. Of what comes while it
/// writes, the newest alone is written next.
package final class HouseWriter: Sendable {
  package typealias Job = (number: UInt64, record: HouseRecord)

  private let thread: NewestValueThread<Job>

  /// - Parameter done: called on the thread with each job that was written, or was not, which decides on all before it.
  package init(
    path: String, done: @escaping @Sendable (Job, SQLiteError?) -> Void
  ) throws(IOError) {
    thread = try NewestValueThread(name: "house") {
      var store: HouseStore?
      return { job in
        do throws(SQLiteError) {
          if store == nil { store = try HouseStore(path: path) }
          try store?.save(job.record)
          done(job, nil)
        } catch {
          // The next one reads again what the file holds.
          store = nil
          done(job, error)
        }
      }
    }
  }

  package func write(_ job: Job) { thread.post(job) }

  /// False where the disk takes longer.
  package func finish(within milliseconds: Int32) -> Bool { thread.finish(within: milliseconds) }
}
