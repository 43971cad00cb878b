package import Sender

/// Everything that a household plays, at one instant, as pages and programs read it: the bodies of the HTTP API. Times
/// in seconds, positions at milliseconds of the server's monotonic clock, volumes 0 to 100. Absent is not known.
package struct HouseState: Codable, Hashable, Sendable {
  /// Grows with every change.
  package var revision: UInt64
  /// The server's monotonic clock, in milliseconds.
  package var nowMs: Double
  package var server: Server
  package var groups: [Group]
  /// All that are known, those of no group too, in the order of their names.
  package var rooms: [Room]
  /// In the order of the configuration.
  package var inputs: [Input]
  /// In the order in which they were set.
  package var alarms: [Alarm]
  /// In the order in which they were first saved.
  package var scenes: [Scene] = []
  package var library: LibraryFigures

  package init(
    revision: UInt64, nowMs: Double, server: Server, groups: [Group], rooms: [Room],
    inputs: [Input] = [], alarms: [Alarm] = [], library: LibraryFigures
  ) {
    self.alarms = alarms
    (self.revision, self.nowMs, self.server) = (revision, nowMs, server)
    (self.groups, self.rooms) = (groups, rooms)
    (self.inputs, self.library) = (inputs, library)
  }

  /// A source that is heard as it happens, such as a turntable.
  package struct Input: Codable, Hashable, Sendable {
    /// As its user calls it, in the configuration.
    package var name: String
    /// `card`, `pipe` or `program`.
    package var kind: String
    /// The group, or a room of it, that begins to play it when it sounds.
    package var onSound: String?
    /// True if it sounds now, where somebody waits for that.
    package var isHeard: Bool?
    /// How loud it is, in dB of the loudest; only in the list of inputs, and only while it is open.
    package var levelDb: Double?
    /// Why its program does not run; only in the list of inputs, and absent while it does.
    package var problem: String?
    /// True if its program takes orders, such as to pause.
    package var takesOrders = false

    private enum CodingKeys: String, CodingKey {
      case name, kind, onSound, isHeard, levelDb, problem
    }

    package init(name: String, kind: String) { (self.name, self.kind) = (name, kind) }
  }

  package struct Server: Codable, Hashable, Sendable {
    /// Identifier of the household's key, the same for as long as that is kept.
    package var id: String
    package var name: String
    package var version: String
    /// Why nothing can be kept: no edit is done until it can be again.
    package var diskProblem: String?
    /// Where the household's other machine is, while it is there.
    package var second: String?
    /// Why nobody, or only the other machine, could go on with the music, in a household that has two daemons.
    package var secondProblem: String?
    /// Seconds by which its time, that of alarms, is ahead of UTC now.
    package var zoneOffsetS: Int64 = 0
    /// Absent where there is none.
    package var night: Night?
    /// The language in which pages write dates; absent is that of each browser.
    package var dates: String?
    /// The keys that the configuration names, so that pages do not offer to change them.
    package var fixed: [String] = []
    package private(set) var settings = SettingRanges()

    package init(id: String, name: String, version: String) {
      (self.id, self.name, self.version) = (id, name, version)
    }
  }

  /// The hours in which rooms are quiet, by the clock on the wall.
  package struct Night: Codable, Hashable, Sendable {
    /// Such as `22:00`.
    package var from: String
    package var to: String
    package var volumeLimit: Double
    /// True within them.
    package var isNow: Bool

    package init(_ hours: NightHours, isNow: Bool) {
      (from, to) = (hours.fromText, hours.toText)
      (volumeLimit, self.isNow) = (hours.volumeLimit, isNow)
    }
  }

  package struct LibraryFigures: Codable, Hashable, Sendable {
    package struct Scan: Codable, Hashable, Sendable {
      package var done: Int
      package var total: Int
      package var folder: String

      package init(done: Int, total: Int, folder: String) {
        (self.done, self.total, self.folder) = (done, total, folder)
      }
    }

    package var trackCount: Int
    package var albumCount: Int
    package var scan: Scan?
    /// Grows with every change of its tracks, albums, stations and playlists, of which it may tell together.
    package var revision: UInt64
    /// Its last revision that may concern tracks and albums. For this process alone.
    package var songsRevision: UInt64 = 0
    /// Its folders, by the names with which paths begin.
    package var folders: [String]
    /// Those of them that are not there now: a disk that is not mounted. What was in them is kept.
    package var awayFolders: [String] = []

    private enum CodingKeys: String, CodingKey {
      case trackCount, albumCount, scan, revision, folders, awayFolders
    }

    package init(
      trackCount: Int = 0, albumCount: Int = 0, scan: Scan? = nil, revision: UInt64 = 0,
      folders: [String] = []
    ) {
      (self.trackCount, self.albumCount, self.scan) = (trackCount, albumCount, scan)
      (self.revision, self.folders) = (revision, folders)
    }
  }

  /// Rooms that play the same.
  package struct Group: Codable, Hashable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
      case stopped, starting, playing, paused, buffering
    }

    package var id: String
    /// As its user calls it, else made of its rooms' names.
    package var name: String
    package var isNamed: Bool
    package var roomIds: [String]
    package var state: State
    /// The worst trouble of its rooms, in a few words.
    package var detail: String?
    package var item: Item?
    /// The last item that could not be played, until the second one after it begins or somebody chooses an item.
    package var failed: FailedItem?
    /// This place of the item sounds at `positionAtMs`; from there it moves on with `rate` while the group plays.
    package var positionS: Double
    package var positionAtMs: Double
    package var rate: Double
    /// Where a seek goes that is under way.
    package var targetS: Double?
    /// So far all rooms hold the item.
    package var bufferedUntilS: Double?
    /// The first kept position of a station that can be heard again, and where somebody would be who has just tuned in.
    package var keptFromS: Double?
    package var liveS: Double?
    package var volume: Double
    package var muted: Bool
    package var `repeat`: Playlist.Repetition
    package var effects: EffectsReport
    package var queue: QueueFigures
    /// When the sleep timer stops the music.
    package var sleepAtMs: Double?

    package init(
      id: String, name: String, isNamed: Bool, roomIds: [String], state: State,
      detail: String? = nil, item: Item? = nil, positionS: Double = 0, positionAtMs: Double = 0,
      rate: Double = 1, targetS: Double? = nil, bufferedUntilS: Double? = nil, volume: Double,
      muted: Bool, repeat: Playlist.Repetition, effects: EffectsReport, queue: QueueFigures,
      sleepAtMs: Double? = nil
    ) {
      (self.id, self.name, self.isNamed, self.roomIds) = (id, name, isNamed, roomIds)
      (self.state, self.detail, self.item) = (state, detail, item)
      (self.positionS, self.positionAtMs, self.rate) = (positionS, positionAtMs, rate)
      (self.targetS, self.bufferedUntilS) = (targetS, bufferedUntilS)
      (self.volume, self.muted, self.repeat) = (volume, muted, `repeat`)
      (self.effects, self.queue, self.sleepAtMs) = (effects, queue, sleepAtMs)
    }
  }

  /// The item that sounds.
  package struct Item: Codable, Hashable, Sendable {
    package var entryId: Int
    package var title: String
    package var artist: String?
    package var album: String?
    /// In the library, where it is of it.
    package var trackId: String?
    package var albumId: String?
    /// The hash of its picture.
    package var artwork: String?
    package var durationS: Double?
    package var isSeekable: Bool
    package var isLive: Bool
    package var hasVideo: Bool
    package var codec: String?
    /// Why it is this one, in a few words.
    package var codecReason: String?
    /// True if the rooms get the packets of the file itself.
    package var isUnchanged: Bool?

    package init(entryId: Int, title: String, isSeekable: Bool, isLive: Bool, hasVideo: Bool) {
      (self.entryId, self.title) = (entryId, title)
      (self.isSeekable, self.isLive, self.hasVideo) = (isSeekable, isLive, hasVideo)
    }
  }

  package struct QueueFigures: Codable, Hashable, Sendable {
    /// Grows with every edit.
    package var revision: UInt64
    package var count: Int
    /// The index of the entry that sounds, from 0.
    package var index: Int?
    /// The edit that an undo takes back, in a few words.
    package var canUndo: String?
    /// True if the order before the shuffle can be had back.
    package var isShuffled = false

    package init(revision: UInt64, count: Int, index: Int?, canUndo: String?) {
      (self.revision, self.count) = (revision, count)
      (self.index, self.canUndo) = (index, canUndo)
    }
  }

  package struct Room: Codable, Hashable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
      case free, starting, playing, paused, buffering, away, taken, notPaired, noDevice
    }

    package var id: String
    package var name: String
    package var model: String?
    package var groupId: String?
    package var state: State
    /// The trouble with it, as programs say it, with addresses.
    package var detail: String?
    /// Why it does not play, for surfaces that have words of their own.
    package var reason: RoomReason?
    /// True if this household may play there; else it is paired first, with the room's PIN.
    package var isPaired: Bool
    /// True if it was paired with a PIN, which can be taken back.
    package var canUnpair = false
    /// True if discovery shows it now.
    package var isPresent: Bool
    /// When it was last there, if that is known and it is away.
    package var awaySinceMs: Double?
    package var volume: Double?
    package var muted: Bool?
    package var delayMs: Double?
    package var channels: String?
    /// The highest volume that it takes from anybody; absent where its receiver keeps none.
    package var volumeLimit: Double?
    /// True if its receiver's own user has fixed the limit.
    package var isVolumeLimitFixed: Bool?
    /// The sound that it keeps; absent where its receiver keeps none.
    package var sound: SoundReport?
    /// The codec of the small encoding that it gets, because its network carries less than the music takes.
    package var smallEncoding: String?
    package var sync: RoomSync?
    /// The two rooms of a stereo pair; absent of a room by itself.
    package var stereo: Stereo?

    package init(id: String, name: String, state: State, isPaired: Bool, isPresent: Bool) {
      (self.id, self.name, self.state) = (id, name, state)
      (self.isPaired, self.isPresent) = (isPaired, isPresent)
    }
  }
}

/// A part of a group's queue.
package struct QueuePage: Codable, Hashable, Sendable {
  package struct Entry: Codable, Hashable, Sendable {
    /// Stays, and is never used again.
    package var id: Int
    package var title: String
    package var artist: String?
    package var album: String?
    package var durationS: Double?
    package var artwork: String?
    package var trackId: String?
    /// A path or an address.
    package var uri: String
    package var isCurrent: Bool
    /// Why it could not be played.
    package var problem: String?
    /// Where an address may lead. Programs and pages are not told, but what is saved of a queue keeps it.
    package var reach = SourceReach.network

    private enum CodingKeys: String, CodingKey {
      case id, title, artist, album, durationS, artwork, trackId, uri, isCurrent, problem
    }

    package init(id: Int, title: String, uri: String, isCurrent: Bool) {
      (self.id, self.title, self.uri, self.isCurrent) = (id, title, uri, isCurrent)
    }
  }

  package var revision: UInt64
  package var count: Int
  package var index: Int?
  package var entries: [Entry]

  package init(revision: UInt64, count: Int, index: Int?, entries: [Entry]) {
    (self.revision, self.count, self.index) = (revision, count, index)
    self.entries = entries
  }
}

/// The changes since a revision.
package struct HouseChange: Codable, Hashable, Sendable {
  package var revision: UInt64
  package var nowMs: Double
  package var groups: [HouseState.Group]
  package var rooms: [HouseState.Room]
  package var removedGroups: [String]
  package var removedRooms: [String]
  /// All of them, where one has changed.
  package var inputs: [HouseState.Input]?
  /// All of them, where one has changed.
  package var alarms: [HouseState.Alarm]?
  /// All of them, where one has changed.
  package var scenes: [Scene]?
  package var library: HouseState.LibraryFigures?
  /// Where something of it has changed.
  package var server: HouseState.Server?

  package init(
    revision: UInt64, nowMs: Double, groups: [HouseState.Group], rooms: [HouseState.Room],
    removedGroups: [String], removedRooms: [String], library: HouseState.LibraryFigures?
  ) {
    (self.revision, self.nowMs, self.groups, self.rooms) = (revision, nowMs, groups, rooms)
    (self.removedGroups, self.removedRooms) = (removedGroups, removedRooms)
    self.library = library
  }
}
