package import Driver
package import Sender

/// What somebody asks of a running player. The answer has the same identifier, so that several can wait for theirs.
package struct ControlCall: Codable, Hashable, Sendable {
  package var id: UInt64
  /// Which of a daemon's groups is meant; nil where nobody has said.
  package var group: String?
  package var request: ControlRequest

  package init(id: UInt64, group: String? = nil, _ request: ControlRequest) {
    self.id = id
    self.group = group
    self.request = request
  }
}

package struct ControlReply: Codable, Hashable, Sendable {
  package enum Outcome: Codable, Hashable, Sendable {
    case done(answer: ControlAnswer)
    case refused(error: Refusal)
    case access(answer: AccessAnswer)
  }

  /// That of the call; 0 where the call could not be understood.
  package var id: UInt64
  package var outcome: Outcome

  package init(id: UInt64, _ outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }
}

package enum ControlRequest: Codable, Hashable, Sendable {
  case status
  /// Something else, in place of the list; only a daemon does it.
  case play(request: PlayRequest)
  case pause
  case resume
  case stop
  /// Ends the program, be it a daemon.
  case end
  /// Ends the music of these rooms, by name or address, of whatever group; of all rooms where none is named.
  case silence(rooms: [String])
  /// What a daemon's groups play, a line for each.
  case groups
  case next
  case previous
  /// Seconds from the item's beginning, or from here.
  case seek(seconds: Double, isRelative: Bool)
  case set(change: RoomChange)
  case effects(change: EffectsChange)
  case queue
  /// So that the first of them gets this number; 0 is after the current item, nothing the end.
  case add(entries: [PlaylistEntry], number: Int?)
  /// By their numbers in the list, from 1.
  case remove(numbers: [Int])
  case move(number: Int, to: Int)
  case jump(number: Int)
  case clear
  case shuffle
  /// `off`, `one` or `all`.
  case `repeat`(mode: String)
  case join(room: NewRoom)
  case leave(rooms: [String])
  /// Of a daemon's page; no group has to do with it.
  case access(request: AccessRequest)
}

/// What a daemon is to play, and where.
package struct PlayRequest: Codable, Hashable, Sendable {
  package var entries: [PlaylistEntry]
  /// Names, and addresses as `host:port`; none of both is where it was played last.
  package var rooms: [String]
  package var addresses: [String]
  package var shuffles: Bool
  /// `off`, `one` or `all`; nil leaves it as it is.
  package var repetition: String?
  package var effects: EffectsChange
  /// Whether rooms are taken from other senders.
  package var takes: Bool
  /// Options that were given and that only a player in the foreground has.
  package var foregroundOptions: [String]

  package init(
    entries: [PlaylistEntry], rooms: [String], addresses: [String], shuffles: Bool,
    repetition: String?, effects: EffectsChange, takes: Bool = false,
    foregroundOptions: [String] = []
  ) {
    (self.takes, self.foregroundOptions) = (takes, foregroundOptions)
    (self.entries, self.rooms, self.addresses) = (entries, rooms, addresses)
    (self.shuffles, self.repetition, self.effects) = (shuffles, repetition, effects)
  }
}

extension ControlRequest {
  /// Whether the answer has the list.
  var isAboutTheList: Bool {
    switch self {
    case .queue, .play, .add, .remove, .move, .jump, .clear, .shuffle, .repeat: true
    case .status, .pause, .resume, .stop, .next, .previous, .seek, .set, .effects, .join, .leave,
      .silence, .groups, .access, .end:
      false
    }
  }

  /// Whether it goes to another place in the music, or stands still at one.
  var isMove: Bool {
    switch self {
    case .pause, .resume, .stop, .silence, .next, .previous, .seek: true
    default: false
    }
  }

  /// Whether the answer says by itself where something was done.
  var namesRooms: Bool {
    switch self {
    case .set, .play, .join, .leave, .silence: true
    default: false
    }
  }

  /// Whether it is only done if it can be kept.
  var isEdit: Bool {
    switch self {
    case .play, .add, .remove, .move, .clear, .shuffle, .repeat, .join, .leave: true
    case .effects(let change): !change.isEmpty
    case .status, .groups, .queue, .pause, .resume, .stop, .silence, .next, .previous, .seek, .set,
      .jump, .access, .end:
      false
    }
  }

  var changesSomething: Bool {
    switch self {
    case .status, .groups, .queue: false
    case .effects(let change): !change.isEmpty
    default: true
    }
  }
}

/// A room to play in as well.
package enum NewRoom: Codable, Hashable, Sendable {
  case record(RoomRecord)
  case address(host: String, port: UInt16)
}

/// What was done, and how things are then.
package struct ControlAnswer: Codable, Hashable, Sendable {
  /// In a few words; nil where nothing was to be done.
  package var done: String? = nil
  /// The list; only where it was about the list.
  package var queue: [QueueEntry]? = nil
  /// Nil where it was about no group in particular.
  package var status: StatusReport? = nil
  /// Which group it was about; nil of a player in the foreground.
  package var group: String? = nil
  /// Of `silence`.
  package var silenced: Silenced? = nil
  /// Of a daemon, where it was about all groups, or was to show how one is.
  package var groups: [GroupLine]? = nil

  /// Of a daemon that was to end, and has closed the connection.
  package static let ended = ControlAnswer(done: "the daemon has ended")

  /// Rooms of the player, whose music has ended.
  package struct Silenced: Codable, Hashable, Sendable {
    /// Those that were meant, as they were named.
    package var rooms: [String]
    /// The identities of all receivers that it has a session with: nobody else of this sender visits them.
    package var receivers: [String]

    package init(rooms: [String], receivers: [String]) {
      (self.rooms, self.receivers) = (rooms, receivers)
    }
  }

  /// One of a daemon's groups.
  package struct GroupLine: Codable, Hashable, Sendable {
    package var name: String
    /// `stopped`, `starting`, `playing`, `paused` or `buffering`.
    package var state: String
    /// What it plays, or would go on with.
    package var title: String?
    package var artist: String?
    package var rooms: [String]
    package var volume: Double
    /// Whether commands mean it that name no group.
    package var isMeant: Bool
  }
}

package struct QueueEntry: Codable, Hashable, Sendable {
  /// From 1; changes with every edit.
  package var number: Int
  /// Stays, and is never used again.
  package var id: Int
  package var item: String
  package var current: Bool
  /// As far as the player knows: of what it has opened; else as the list called it that it comes from.
  package var title: String?
  package var artist: String?
  package var durationS: Double?
}
