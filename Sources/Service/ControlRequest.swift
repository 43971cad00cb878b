package import House
package import Sender

/// A request to a running player. The answer has the same identifier, so that several requests can wait for their
/// answers.
package struct ControlCall: Codable, Hashable, Sendable {
  package var id: UInt64
  /// The daemon's group that is meant; nil if none was named.
  package var group: String?
  package var request: ControlRequest
  /// Rooms that the client has found; the player may not know them yet.
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
    case pairing(answer: PairingAnswer)
    case library(answer: LibraryAnswer)
  }

  /// The identifier of the call; 0 if the call could not be parsed.
  package var id: UInt64
  package var outcome: Outcome

  package init(id: UInt64, _ outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }
}

/// A request from a terminal: an order, with names and numbers as people write them, or one of the few requests
/// that only terminals make.
package enum ControlRequest: Codable, Hashable, Sendable {
  case status
  /// Asks for the daemon's groups, with the item that each plays.
  case groups
  case queue
  case alarms
  /// Asks for the daemon's inputs, and how they are.
  case inputs
  case order(Order)
  /// Plays new items in place of the list. Only a daemon does this.
  case play(request: PlayRequest)
  /// Stops the music in these rooms, by name or address, whichever group they are in; in all rooms if none is
  /// named.
  case silence(rooms: [String])
  /// Lets a daemon's rooms, by name, hear something over what they play.
  case announce(request: AnnounceRequest)
  /// Ends the program, even a daemon.
  case end
  /// Saves the list as a playlist of the daemon's library.
  case save(name: String)
  /// A request about access to the daemon's page. It concerns no group.
  case access(request: AccessRequest)
  /// A request about the rooms that a daemon is paired with.
  case pairing(request: PairingRequest)
  /// A request about the daemon's library of music.
  case library(request: LibraryRequest)
}

/// Orders to the group that a command means if it names none.
extension ControlRequest {
  package static func transport(_ transport: Order.Transport) -> ControlRequest {
    .order(.transport(group: Order.meantGroup, transport))
  }

  package static func change(_ change: Order.GroupChange) -> ControlRequest {
    .order(.change(group: Order.meantGroup, change))
  }

  /// - Parameter edit: names entries by their numbers in the list.
  package static func edit(_ edit: Order.QueueEdit) -> ControlRequest {
    .order(.edit(group: Order.meantGroup, edit, expected: nil))
  }
}

/// The result of a request, and the state after it.
package struct ControlAnswer: Codable, Hashable, Sendable {
  /// A short sentence; nil if nothing was to be done.
  package var done: String? = nil
  /// The list; nil unless the request was about the list.
  package var queue: [QueueEntry]? = nil
  /// The state after the request; nil if it was about no group in particular.
  package var status: StatusReport? = nil
  /// The group that the request was about; nil from a player in the foreground.
  package var group: String? = nil
  /// The answer to `silence`.
  package var silenced: Silenced? = nil
  /// A daemon's groups, for requests about all groups or about the status; otherwise nil.
  package var groups: [GroupLine]? = nil
  /// The names of a daemon's rooms, for requests about the status.
  package var rooms: [String]? = nil
  /// A daemon's alarms, for requests about them.
  package var alarms: [AlarmLine]? = nil
  /// A daemon's inputs, for requests about them.
  package var inputs: [HouseState.Input]? = nil
  /// How a daemon's household is, for requests about the status or all groups.
  package var household: Household? = nil

  /// The answer of a daemon that was told to end, and has closed the connection.
  package static let ended = ControlAnswer(done: "the daemon has ended")

  /// Rooms of the player whose music was stopped.
  package struct Silenced: Codable, Hashable, Sendable {
    /// The rooms of the request that belong to the player, as they were named.
    package var rooms: [String]
    /// The identities of all receivers that the player has a session with. Other programs of this sender must not
    /// visit them.
    package var receivers: [String]

    package init(rooms: [String], receivers: [String]) {
      (self.rooms, self.receivers) = (rooms, receivers)
    }
  }

  /// A household as a whole, with the sentences of its page.
  package struct Household: Codable, Hashable, Sendable {
    package var diskProblem: String?
    /// Where the other machine is, while it is there.
    package var second: String?
    package var secondProblem: String?
    /// True for a daemon that follows: it has no music, and takes no other request.
    package var follows: Bool?

    package init(second: String?, problem: String?) {
      (self.second, secondProblem, follows) = (second, problem, true)
    }

    init(_ server: HouseState.Server) {
      (diskProblem, second) = (server.diskProblem, server.second)
      secondProblem = server.secondProblem
    }
  }

  package struct AlarmLine: Codable, Hashable, Sendable {
    package var alarm: HouseState.Alarm
    /// The names of its rooms.
    package var rooms: [String]
  }

  /// One of a daemon's groups.
  package struct GroupLine: Codable, Hashable, Sendable {
    package var name: String
    package var state: HouseState.Group.State
    /// The item that the group plays, or would resume.
    package var title: String?
    package var artist: String?
    package var rooms: [String]
    package var volume: Double
    /// True if this is the group that a command means if it names none.
    package var isMeant: Bool
    /// How late a station is heard that was paused or sought back.
    package var behindLiveS: Double?
    /// Seconds until the sleep timer stops the music.
    package var sleepInS: Double?
  }
}

extension ControlAnswer {
  package init(said: String) { self.init(done: said) }
}

package struct QueueEntry: Codable, Hashable, Sendable {
  /// Position in the list, from 1; changes with every edit.
  package var number: Int
  /// Identity of the entry, which never changes and is never reused.
  package var id: Int
  package var item: String
  package var current: Bool
  /// The title in the file's tags if the player has opened the item; otherwise the title in the playlist that it
  /// comes from.
  package var title: String?
  package var artist: String?
  package var durationS: Double?
  /// Why it could not be played when its turn came; nil once somebody has chosen it again.
  package var problem: String?
}
