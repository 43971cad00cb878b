package import Sender

/// A wish of somebody to the household, whoever it is: page, program, terminal or library. Groups, rooms and entries are
/// named by their identities. A terminal's names and numbers are turned into these first, see `resolved`.
package enum Order: Codable, Hashable, Sendable {
  /// As a terminal names the group that commands mean which name none.
  package static let meantGroup = ""

  case createGroup(rooms: [String], name: String?)
  case deleteGroup(String)
  case change(group: String, GroupChange)
  case transport(group: String, Transport)
  /// Stops every group that plays, and what rings. With a time, sets the sleep timers of these groups instead, as
  /// `GroupChange.sleepInS` does; 0 ends the timers of all groups.
  case stopEverywhere(sleepInS: Double?)
  case seek(group: String, seconds: Double, isRelative: Bool)
  /// With `takes`, also from another sender that has the room.
  case join(group: String, room: String, takes: Bool)
  case leave(group: String, rooms: [String])
  /// The rooms of `other` join. Its queue waits for its last room, as if the rooms had left one by one.
  case merge(group: String, other: String)
  /// Refused with `.outdated` where the queue has another revision than `expected`.
  case edit(group: String, QueueEdit, expected: UInt64?)
  case set(rooms: [String], RoomChange)
  case identify(room: String)
  /// Its time and rooms must be there.
  case addAlarm(AlarmChange)
  case changeAlarm(String, AlarmChange)
  case removeAlarm(String)
  /// Stops an alarm, or lets it ring again later; nil is all that ring.
  case endAlarm(String?, snoozes: Bool)
  /// Sets the hours in which rooms are quiet, or tells them.
  case night(Night)
  case scene(SceneOrder)

  package enum SceneOrder: Codable, Hashable, Sendable {
    case show
    /// The rooms of this group, each as loud as it is. A scene of that name is replaced.
    case save(group: String, name: String)
    /// The music of `group` moves to the rooms of the scene. Nil is the group that plays in one of them, or else the one
    /// that was used last.
    case recall(String, group: String?)
    case remove(String)
  }

  case stereo(StereoOrder)

  package enum StereoOrder: Codable, Hashable, Sendable {
    case show
    /// Two rooms become one. Nil is a name made of theirs.
    case make(left: String, right: String, name: String?)
    case swap(String)
    case separate(String)
  }

  /// Sets the household up.
  case setUp(SetUp)

  package enum SetUp: Codable, Hashable, Sendable {
    /// A folder with music, by its whole path. It must lie where the configuration lets folders be chosen, which is
    /// looked up before.
    case addFolder(String)
    case removeFolder(String)
    /// The library of a server, which is asked before.
    case addServer(ChosenServer)
    case removeServer(String)
    /// Nil is the room's own name.
    case nameRoom(String, String?)
    /// The language of dates; nil is each browser's.
    case dates(String?)
  }

  package enum Night: Codable, Hashable, Sendable {
    case show, off
    case set(NightHours)
  }

  package enum Transport: String, Codable, CaseIterable, Hashable, Sendable {
    case play, pause, stop, next, previous
    /// Returns to what a station sends now.
    case live
  }

  package struct GroupChange: Codable, Hashable, Sendable {
    /// Seconds of a sleep timer: a day at most. It has 26 hours where clocks are set back by two, as at Troll in Antarctica.
    package static let sleeps = 0.0...93_600

    package var name: String?
    package var `repeat`: Playlist.Repetition?
    package var effects: EffectsChange?
    package var roomIds: [String]?
    /// Seconds from now, in `sleeps`; 0 ends the timer.
    package var sleepInS: Double?
    /// In all its rooms; the volume is that of all together.
    package var rooms = RoomChange()

    package init(
      repeat: Playlist.Repetition? = nil, effects: EffectsChange? = nil, sleepInS: Double? = nil,
      rooms: RoomChange = RoomChange()
    ) {
      (self.repeat, self.effects) = (`repeat`, effects)
      (self.sleepInS, self.rooms) = (sleepInS, rooms)
    }

    /// True if it only asks how things are.
    package var isEmpty: Bool {
      name == nil && `repeat` == nil && effects?.isEmpty ?? true && roomIds == nil
        && sleepInS == nil && rooms.isEmpty
    }

    static func check(sleepInS seconds: Double) throws(Refusal) {
      guard sleeps.contains(seconds) else {
        throw .invalid("the sleep timer is \(sleeps.text) seconds")
      }
    }
  }

  package enum QueueEdit: Codable, Hashable, Sendable {
    case add([NewEntry], at: Place)
    case clear
    /// All but the entry that plays, or would be next.
    case clearOthers
    case undo
    /// Entries get another order, until `unshuffle` brings back the one before.
    case shuffle
    case unshuffle
    case remove([Int])
    case move(Int, to: Place)
    case play(Int)
  }

  package enum Place: Codable, Hashable, Sendable {
    /// In place of the list, and at once.
    case now
    /// At once, after what sounds. What was queued behind it stays.
    case nowAndKeep
    /// After what sounds.
    case next
    /// An empty list begins with the first of them.
    case end
    /// At the end, and a list that is empty, or has come to its end, waits for its user.
    case waiting
    /// Before this entry.
    case before(Int)
    /// So that the first of them gets this number in the list, from 1.
    case number(Int)
  }

  /// Something to be played, found in the library already, or an address.
  package struct NewEntry: Codable, Hashable, Sendable {
    package var location: String
    package var title: String?
    package var artist: String?
    package var album: String?
    package var durationS: Double?
    package var artwork: String?
    package var trackId: String?
    package var albumId: String?
    package var hasVideo: Bool?
    /// Where an address may lead: `.internet` for what guests name.
    package var reach = SourceReach.network
    /// Where it begins if it is played at once: where somebody has left it.
    package var startS: Double?

    package init(location: String) { self.location = location }

    /// One with a name.
    package init(input name: String) {
      self.init(location: "input:\(name)")
      title = name
    }

    package init(_ entry: PlaylistEntry) {
      self.init(location: entry.location)
      (title, reach) = (entry.title, entry.reach)
    }

    /// True if only its place is known, and maybe a title.
    package var isBare: Bool {
      trackId == nil && artist == nil && artwork == nil && durationS == nil
    }

    package func item(_ id: Int) -> PlayItem {
      PlayItem(id: id, location: location, title: title, reach: reach)
    }

    package var listed: PlaylistEntry { PlaylistEntry(location, title: title, reach: reach) }
  }
}

extension Order {
  /// True if it is only done if it can be kept. What rooms play at once, and how loud, does not wait for a disk.
  package var isEdit: Bool {
    switch self {
    case .createGroup, .deleteGroup, .join, .leave, .merge: true
    case .change(_, let change):
      change.name != nil || change.repeat != nil || change.roomIds != nil
        || !(change.effects?.isEmpty ?? true)
    case .edit(_, .play, _): false
    case .edit: true
    case .addAlarm, .changeAlarm, .removeAlarm: true
    case .night(let night): night != .show
    case .scene(let order): order != .show
    case .stereo(let order): order != .show
    case .setUp: true
    case .transport, .stopEverywhere, .seek, .set, .identify, .endAlarm: false
    }
  }

  /// True if other music, or another place in it, may sound afterwards; false if only loudness and the like may change.
  package var movesMusic: Bool {
    switch self {
    case .createGroup, .deleteGroup, .transport, .seek, .join, .leave, .merge, .edit: true
    case .change(_, let change): change.roomIds != nil
    case .stopEverywhere(let sleepInS): sleepInS == nil
    case .scene(.recall), .stereo(.make): true
    case .set, .identify, .addAlarm, .changeAlarm, .removeAlarm, .endAlarm, .night, .scene, .stereo,
      .setUp:
      false
    }
  }

  /// True if a terminal is shown the list afterwards.
  package var isAboutTheList: Bool {
    switch self {
    case .edit: true
    case .change(_, let change): change.repeat != nil
    case .createGroup, .deleteGroup, .transport, .stopEverywhere, .seek, .join, .leave, .merge,
      .set, .identify, .addAlarm, .changeAlarm, .removeAlarm, .endAlarm, .night, .scene, .stereo,
      .setUp:
      false
    }
  }

  /// True if what is said of it names rooms, or is about all, so that nobody needs to be told the group.
  package var namesRooms: Bool {
    switch self {
    case .stopEverywhere: true
    case .createGroup, .deleteGroup, .join, .leave, .merge, .set, .identify: true
    case .addAlarm, .changeAlarm, .removeAlarm, .endAlarm, .night, .scene, .stereo, .setUp: true
    case .change(_, let change): !change.rooms.isEmpty || change.roomIds != nil
    case .transport, .seek, .edit: false
    }
  }
}

/// The result of an order, and how things are then.
package struct Answer: Hashable, Sendable {
  /// A queue after an edit.
  package struct Queue: Hashable, Sendable {
    package var revision: UInt64
    /// The identities of what was added.
    package var added: [Int]

    package init(revision: UInt64, added: [Int]) {
      (self.revision, self.added) = (revision, added)
    }
  }

  /// The household's, from which on its state shows what was done.
  package var revision: UInt64
  /// Nil where it is no more, as one that its last room has left.
  package var group: HouseState.Group?
  package var room: HouseState.Room?
  package var alarm: HouseState.Alarm?
  package var scene: Scene?
  package var queue: Queue?
  /// In a few words, for people; nil where nothing is to be said.
  package var said: String?

  package init(revision: UInt64) { self.revision = revision }
}
