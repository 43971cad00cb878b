package import Sender

/// What somebody asks of the household, from whatever surface: page, terminal or program.
package enum HouseRequest: Hashable, Sendable {
  case createGroup(rooms: [String], name: String?)
  case deleteGroup(String)
  case change(group: String, GroupChange)
  case transport(group: String, Transport)
  case seek(group: String, seconds: Double, isRelative: Bool)
  /// With `takes`, also from another sender that has the room.
  case join(group: String, room: String, takes: Bool)
  case leave(group: String, room: String)
  /// The rooms of `other` join, and its queue is forgotten.
  case merge(group: String, other: String)
  /// Fails with `.outdated` where the queue has another revision than `expected`.
  case edit(group: String, QueueEdit, expected: UInt64?)
  case set(room: String, RoomSettingsChange)
  case identify(room: String)

  /// Whether it is only done if it can be kept. What rooms play at once, and how loud, does not wait for a disk.
  var isEdit: Bool {
    switch self {
    case .createGroup, .deleteGroup, .join, .leave, .merge: true
    case .change(_, let change):
      change.name != nil || change.repeat != nil || change.effects != nil || change.roomIds != nil
    case .edit(_, .play, _): false
    case .edit: true
    case .transport, .seek, .set, .identify: false
    }
  }

  package enum Transport: String, Codable, CaseIterable, Hashable, Sendable {
    case play, pause, stop, next, previous
  }

  package struct GroupChange: Codable, Hashable, Sendable {
    package var name: String?
    package var volume: Double?
    package var muted: Bool?
    package var `repeat`: String?
    package var effects: Effects?
    package var roomIds: [String]?
    /// Seconds from now; 0 ends the timer.
    package var sleepInS: Double?

    package init() {}

    /// All that the group is to have: nil is neutral.
    package struct Effects: Codable, Hashable, Sendable {
      package var rate: Double?
      package var pitch: Double?
      package var loudness: Double?
      package var filters: [SoundFilter]?

      package init() {}
    }
  }

  package struct RoomSettingsChange: Codable, Hashable, Sendable {
    package var volume: Double?
    package var muted: Bool?
    package var delayMs: Double?
    package var channels: String?

    package init() {}
  }

  package enum QueueEdit: Hashable, Sendable {
    case add([NewEntry], at: Place)
    case clear
    case undo
    case shuffle
    case remove(Int)
    case move(Int, to: Place)
    case play(Int)
  }

  package enum Place: Codable, Hashable, Sendable {
    /// In place of the list, and at once.
    case now
    /// After what sounds.
    case next
    case end
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

    package init(location: String) { self.location = location }

    func item(_ id: Int) -> PlayItem {
      PlayItem(id: id, location: location, title: title, reach: reach)
    }
  }
}

package enum HouseAnswer: Hashable, Sendable {
  case group(HouseState.Group)
  case room(HouseState.Room)
  case queue(revision: UInt64, added: [Int])
  case done
}

/// The household as its surfaces see it, from any thread.
package protocol HouseControl: Sendable {
  func state() async throws(Refusal) -> HouseState
  func perform(_ request: HouseRequest) async throws(Refusal) -> HouseAnswer
  func queue(group: String, offset: Int, limit: Int) async throws(Refusal) -> QueuePage
  /// With how loud they are now.
  func inputs() async throws(Refusal) -> [HouseState.Input]
  /// How far rooms were from the schedule in the last minutes.
  func syncHistory() async throws(Refusal) -> SyncHistory
  /// Everything that changes from now on, in order. Who reads too slowly is ended, and begins with a new state.
  func changes() async throws(Refusal) -> AsyncStream<HouseChange>
}

extension Effects {
  init(_ change: HouseRequest.GroupChange.Effects) throws(Refusal) {
    self.init()
    rate = change.rate ?? 1
    pitch = change.pitch ?? 0
    (loudness, filters) = (change.loudness, change.filters ?? [])
    try check()
  }
}
