package import Sender

/// The part of a household that survives the end of its process.
package struct HouseRecord: Hashable, Sendable {
  package struct Group: Hashable, Sendable {
    package var id: String
    package var name: String?
    package var rooms: [String] = []
    /// The room that was the last to leave it.
    package var lastRoom: String?
    /// Grows with every edit. It stands before the queue, so that a comparison of two records seldom walks through one.
    package var revision: UInt64 = 0
    package var queue = QueueRecord()
    package var undo: QueueUndo?
    package var merge: MergeUndo?
    /// The order of the entries before they were shuffled; nil where they are not.
    package var unshuffled: [Int]?
    /// The identity of the next entry: none is used twice.
    package var nextEntry = 0
    package var place: QueuePlace?
    package var isPlaying = false
    package var repetition = Playlist.Repetition.off
    package var effects = Effects()
    /// When its sleep timer ends; nil while it is off.
    package var sleepUntil: WallTime?

    package init(id: String, name: String?) { (self.id, self.name) = (id, name) }

    /// Its list, for its player.
    package var playlist: Playlist {
      Playlist(
        restoring: queue.entries.map { $0.details.item($0.id) }, nextID: nextEntry,
        repetition: repetition)
    }
  }

  /// The settings of a room when it was last heard of; it remembers them itself, and these are for displays.
  package struct Room: Hashable, Sendable {
    package var id: String
    package var name: String
    package var volume: Double?
    package var muted: Bool?
    package var delayMs: Double?
    package var channels: String?
    package var volumeLimit: Double?
    package var isVolumeLimitFixed: Bool?
    package var sound: SoundReport?

    package init(id: String, name: String) { (self.id, self.name) = (id, name) }
  }

  /// How loud a room is to be as soon as it can be told.
  package struct Debt: Codable, Hashable, Sendable {
    package var id: String
    package var volume: Double?
    package var muted: Bool?
    package var volumeLimit: Double?

    package init(id: String, _ change: RoomChange) {
      (self.id, volume, muted) = (id, change.volume, change.muted)
      volumeLimit = change.volumeLimit
    }

    var change: RoomChange { RoomChange(volume: volume, muted: muted, volumeLimit: volumeLimit) }
  }

  package var groups: [Group] = []
  package var alarms: [AlarmRecord] = []
  /// The number of the newest alarm.
  package var lastAlarm = 0
  /// In the order of their identities.
  package var debts: [Debt] = []
  package var rooms: [Room] = []
  package var night: NightHours?
  package var scenes: [Scene] = []
  /// The number of the newest scene.
  package var lastScene = 0
  package var setUp = SetUp()
  package var stereo = StereoBook()
  /// The number of the newest group.
  package var lastGroup = 0

  package init() {}

  /// The record with no group playing whose sleep timer has ended.
  func withoutSleepers(at time: WallTime) -> HouseRecord {
    var record = self
    for index in groups.indices {
      if let end = groups[index].sleepUntil, end <= time { record.groups[index].isPlaying = false }
    }
    return record
  }

  /// All but what changes without anybody's doing.
  package var edits: HouseRecord {
    var edits = self
    edits.rooms = []
    for index in edits.groups.indices {
      edits.groups[index].place = edits.groups[index].place.map { .init(turnOf: $0.entry) }
    }
    return edits
  }
}

extension HousePlan.Group {
  package init(_ record: HouseRecord.Group) {
    self.init(id: record.id, name: record.name, rooms: record.rooms, lastRoom: record.lastRoom)
  }
}
