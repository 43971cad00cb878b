package import Driver
package import Sender

/// What somebody asks of a running player. The answer has the same identifier, so that several can wait for theirs.
package struct ControlCall: Codable, Hashable, Sendable {
  package var id: UInt64
  /// Which of a daemon's groups is meant; nil where nobody has said.
  package var group: String?
  package var request: ControlRequest
  /// Rooms that who asks has found; whoever answers may not know them yet.
  package var rooms: [RoomRecord]?

  package init(
    id: UInt64, group: String? = nil, _ request: ControlRequest, rooms: [RoomRecord]? = nil
  ) {
    (self.id, self.group, self.request, self.rooms) = (id, group, request, rooms)
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

/// What a terminal wants: an order, with names and numbers as people say them, or one of the few things that only
/// terminals ask for.
package enum ControlRequest: Codable, Hashable, Sendable {
  case status
  /// What a daemon's groups play, a line for each.
  case groups
  case queue
  case order(Order)
  /// Something else, in place of the list; only a daemon does it.
  case play(request: PlayRequest)
  /// Ends the music of these rooms, by name or address, of whatever group; of all rooms where none is named.
  case silence(rooms: [String])
  /// Ends the program, be it a daemon.
  case end
  /// The list, as a playlist of a daemon's library.
  case save(name: String)
  /// Of a daemon's page; no group has to do with it.
  case access(request: AccessRequest)
}

/// Orders to the group that commands mean which name none.
extension ControlRequest {
  package static func transport(_ transport: Order.Transport) -> ControlRequest {
    .order(.transport(group: Order.meantGroup, transport))
  }

  package static func change(_ change: Order.GroupChange) -> ControlRequest {
    .order(.change(group: Order.meantGroup, change))
  }

  /// Entries by their numbers.
  package static func edit(_ edit: Order.QueueEdit) -> ControlRequest {
    .order(.edit(group: Order.meantGroup, edit, expected: nil))
  }
}

/// What a daemon is to play, and where.
package struct PlayRequest: Codable, Hashable, Sendable {
  package var entries: [PlaylistEntry]
  /// Names, and addresses as `host:port`; none of both is where it was played last.
  package var rooms: [String]
  package var addresses: [String]
  package var shuffles: Bool
  /// Nil leaves it as it is.
  package var repetition: Playlist.Repetition?
  package var effects: EffectsChange
  /// Whether rooms are taken from other senders.
  package var takes: Bool
  /// Options that were given and that only a player in the foreground has.
  package var foregroundOptions: [String]

  package init(
    entries: [PlaylistEntry], rooms: [String], addresses: [String], shuffles: Bool,
    repetition: Playlist.Repetition?, effects: EffectsChange, takes: Bool = false,
    foregroundOptions: [String] = []
  ) {
    (self.takes, self.foregroundOptions) = (takes, foregroundOptions)
    (self.entries, self.rooms, self.addresses) = (entries, rooms, addresses)
    (self.shuffles, self.repetition, self.effects) = (shuffles, repetition, effects)
  }
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

extension ControlAnswer {
  package init(said: String) { self.init(done: said) }
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
