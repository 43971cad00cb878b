internal import Clock
internal import Dispatch
internal import Driver
internal import House
internal import Sender
internal import WireProtocol

/// The groups and queues of a household: a client of `tutti serve`, which plays on when this program has ended.
///
/// A group is a number of rooms that play the same. It is named as people name it: by its name, or a room of it; nil is
/// the group that was used last, from whatever surface. Every method may be called from any task, and returns when the
/// household has done what was asked for and, where it is an edit, has stored it. All of them throw
/// `TuttiError.unavailable` if no household runs there or it does not answer within ten seconds, and `refused`, with the
/// household's own words, if it does not do that.
public struct Household: Hashable, Sendable {
  /// Rooms that play the same.
  public struct Group: Hashable, Sendable {
    public let name: String
    public let state: PlaybackStatus.State
    /// Those of the item that it plays, or would go on with.
    public let title: String?
    public let artist: String?
    /// The names of its rooms.
    public let rooms: [String]
    /// That of all its rooms together, 0 to 1.
    public let volume: Double
    /// True if it is the one that is meant by nil.
    public let isMeant: Bool
  }

  /// An entry of a group's queue.
  public struct Entry: Hashable, Sendable, Identifiable {
    /// Stays with the entry however the queue is edited, and is never used again.
    public let id: Int
    /// The path or address.
    public let name: String
    /// As its file says; else as the list that named it.
    public let title: String?
    public let artist: String?
    public let duration: Duration?
    /// True if it sounds now, or would.
    public let isCurrent: Bool
  }

  /// An entry that could not be played, or not to its end: the group has gone on with the next one.
  public struct Failure: Hashable, Sendable {
    /// The entry of the queue.
    public let id: Entry.ID
    public let title: String
    /// A few words for people, without the title.
    public let problem: String
  }

  /// The item that a group plays, and where it is.
  public struct Status: Hashable, Sendable {
    public let state: PlaybackStatus.State
    /// The path or address; nil if there is no current item.
    public let name: String?
    public let title: String?
    public let artist: String?
    public let album: String?
    public let duration: Duration?
    public let position: PlaybackTime
    /// When `position` sounds in all rooms, on this host's clock; nil unless it plays.
    public let presentationTime: HostTime?
    /// Seconds of the item in one second.
    public let rate: Double
    /// Number of the current item in the queue, from 1; 0 if there is none.
    public let itemNumber: Int
    public let itemCount: Int
    /// The names of the rooms.
    public let rooms: [String]
    /// The entry that failed last; nil from when the second one after it begins, or somebody chooses one.
    public let failed: Failure?
  }

  /// Where entries go in a queue.
  public enum Place: Hashable, Sendable {
    /// In place of the queue, and at once.
    case now
    /// At once, behind the current entry. Those that were to come follow.
    case nowAndKeep
    case next
    case end
  }

  /// The path of the household's control socket.
  public let socket: String

  /// - Parameter socket: of a household that this user has started with `tutti serve` if nil. That of the system's
  ///   household is `/run/tutti/control.sock`; members of the group `tutti` may use it.
  public init(socket: String? = nil) {
    self.socket = socket ?? SenderKeyFile.usualStateDirectory + "/control.sock"
  }

  // MARK: - Questions

  /// Returns all groups, in the order in which the household shows them.
  public func groups() async throws(TuttiError) -> [Group] {
    try await ask(.groups, of: nil).groups?.map(Group.init) ?? []
  }

  /// Returns the queue of a group, in order: up to 65 536 entries.
  public func queue(of group: String? = nil) async throws(TuttiError) -> [Entry] {
    try await ask(.queue, of: group).queue?.map(Entry.init) ?? []
  }

  /// Returns what a group plays at this instant.
  public func status(of group: String? = nil) async throws(TuttiError) -> Status {
    guard let status = try await ask(.status, of: group).status else {
      throw .unavailable("the household at \(socket) says nothing of that group")
    }
    return Status(status)
  }

  // MARK: - Playing

  /// Plays media in place of a group's queue.
  ///
  /// - Parameters:
  ///   - media: files by absolute paths, and addresses: the household opens them by itself.
  ///   - rooms: names of rooms, which become a group if they are none; empty for the group.
  ///   - addresses: rooms by address, as `192.168.1.20:7770`, in the same way.
  ///   - group: nil for the one of these rooms, or the one that was used last.
  /// - Returns: one line for people.
  /// - Throws: `TuttiError.invalid` for audio of this program, and for relative paths.
  @discardableResult
  public func play(
    _ media: [Media], inRooms rooms: [String] = [], at addresses: [String] = [],
    group: String? = nil
  ) async throws(TuttiError) -> String {
    let play = HouseCall.Play(
      entries: try Self.entries(media), rooms: rooms, addresses: addresses)
    return try await ask(.play(request: play), of: group).done ?? ""
  }

  /// Adds media to a group's queue.
  ///
  /// - Throws: as `play`.
  public func add(
    _ media: [Media], at place: Place = .end, to group: String? = nil
  ) async throws(TuttiError) {
    let entries = try Self.entries(media).map { Order.NewEntry($0) }
    try await edit(.add(entries, at: place.place), in: group)
  }

  /// Plays, or goes on.
  public func resume(_ group: String? = nil) async throws(TuttiError) {
    try await order(.transport(group: Order.meantGroup, .play), in: group)
  }

  /// Pauses, in all rooms of the group on one sample.
  public func pause(_ group: String? = nil) async throws(TuttiError) {
    try await order(.transport(group: Order.meantGroup, .pause), in: group)
  }

  /// Ends the sound. The queue stays.
  public func stop(_ group: String? = nil) async throws(TuttiError) {
    try await order(.transport(group: Order.meantGroup, .stop), in: group)
  }

  /// Stops all groups that play, and alarms that ring; or lets these groups fade out and pause after some time. Rooms in which
  /// other senders play are left alone.
  ///
  /// - Parameter time: nil for at once.
  /// - Throws: `TuttiError.invalid` unless the time is longer than zero, and 26 hours at most: the longest day where clocks
  ///   are set back.
  public func stopEverywhere(after time: Duration? = nil) async throws(TuttiError) {
    let seconds = time.map { $0 / .seconds(1) }
    if let seconds, seconds <= 0 || !Order.GroupChange.sleeps.contains(seconds) {
      throw .invalid("all stops within 26 hours from now, not after \(seconds) s")
    }
    try await order(.stopEverywhere(sleepInS: seconds), in: nil)
  }

  /// Ends the sleep timers of all groups: their music plays on.
  public func endSleepTimers() async throws(TuttiError) {
    try await order(.stopEverywhere(sleepInS: 0), in: nil)
  }

  /// Plays the next entry.
  public func next(_ group: String? = nil) async throws(TuttiError) {
    try await order(.transport(group: Order.meantGroup, .next), in: group)
  }

  /// Goes to the beginning of the entry, or to the one before.
  public func previous(_ group: String? = nil) async throws(TuttiError) {
    try await order(.transport(group: Order.meantGroup, .previous), in: group)
  }

  /// Seeks in the current entry. Refused for what can only be played from its beginning.
  public func seek(to position: PlaybackTime, in group: String? = nil) async throws(TuttiError) {
    try await order(
      .seek(group: Order.meantGroup, seconds: position.seconds, isRelative: false), in: group)
  }

  /// Sets the volume of all rooms of a group together; they keep their differences.
  ///
  /// - Parameter volume: 0 (silent) to 1 (full), perceptual.
  /// - Throws: `TuttiError.invalid` outside that range.
  public func setVolume(_ volume: Double, of group: String? = nil) async throws(TuttiError) {
    guard (0...1).contains(volume) else { throw .invalid("a volume is 0 to 1, not \(volume)") }
    let change = Order.GroupChange(rooms: RoomChange(volume: volume * 100))
    try await order(.change(group: Order.meantGroup, change), in: group)
  }

  /// Sets the highest volume that rooms take from anybody. Their receivers keep it, and turn them down to it.
  ///
  /// - Parameter limit: 0.01 to 1, on the scale of `setVolume`; 1 limits nothing.
  /// - Throws: `TuttiError.invalid` outside that range, `refused` where a receiver's own user has fixed the limit.
  public func setVolumeLimit(_ limit: Double, ofRooms rooms: [String]) async throws(TuttiError) {
    guard (0.01...1).contains(limit) else {
      throw .invalid("a volume limit is 0.01 to 1, not \(limit)")
    }
    try await order(.set(rooms: rooms, RoomChange(volumeLimit: limit * 100)), in: nil)
  }

  // MARK: - The queue

  /// Plays an entry, and goes on with those behind it.
  ///
  /// - Throws: `TuttiError.noSuchItem` if the queue does not have it any more.
  public func play(_ entry: Entry.ID, in group: String? = nil) async throws(TuttiError) {
    try await edit(.play(try await numbers(of: [entry], in: group)[0]), in: group)
  }

  /// Removes entries.
  ///
  /// - Throws: `TuttiError.noSuchItem` if the queue does not have one of them any more: then it removes none.
  public func remove(_ entries: [Entry.ID], from group: String? = nil) async throws(TuttiError) {
    try await edit(.remove(try await numbers(of: entries, in: group)), in: group)
  }

  /// Removes all entries; `undo` brings them back.
  public func clear(_ group: String? = nil) async throws(TuttiError) {
    try await edit(.clear, in: group)
  }

  /// Takes the last edit of the queue back, or parts groups that were merged, whoever did it.
  public func undo(_ group: String? = nil) async throws(TuttiError) {
    try await edit(.undo, in: group)
  }

  /// Shuffles the entries behind the current one.
  public func shuffle(_ group: String? = nil) async throws(TuttiError) {
    try await edit(.shuffle, in: group)
  }

  /// Brings back the order that the queue had before it was shuffled. Entries that were added since stay behind the entry
  /// that they were added behind, and those at the end stay there. Refused if the queue is not shuffled.
  public func unshuffle(_ group: String? = nil) async throws(TuttiError) {
    try await edit(.unshuffle, in: group)
  }

  // MARK: - Groups

  /// Lets a room play with a group, and leave the one that it is in.
  public func join(room: String, to group: String) async throws(TuttiError) {
    try await order(.join(group: Order.meantGroup, room: room, takes: false), in: group)
  }

  /// Takes rooms out of a group; they fall silent, and the others play on.
  public func leave(rooms: [String], from group: String) async throws(TuttiError) {
    try await order(.leave(group: Order.meantGroup, rooms: rooms), in: group)
  }

  // MARK: - Asking

  /// The numbers by which requests name entries. They change with each edit, so they are asked for just before.
  private func numbers(
    of entries: [Entry.ID], in group: String?
  ) async throws(TuttiError) -> [Int] {
    let queue = try await ask(.queue, of: group).queue ?? []
    var numbers: [Int] = []
    for id in entries {
      guard let entry = queue.first(where: { $0.id == id }) else { throw .noSuchItem }
      numbers.append(entry.number)
    }
    return numbers
  }

  static func entries(_ media: [Media]) throws(TuttiError) -> [PlaylistEntry] {
    var entries: [PlaylistEntry] = []
    for one in media {
      guard case .entry(let entry) = one.kind else {
        throw .invalid("“\(one.name)” is audio of this program, which a household cannot open")
      }
      guard entry.location.hasPrefix("/") || entry.location.contains("://") else {
        throw .invalid("“\(entry.location)” is no absolute path, as a household needs it")
      }
      entries.append(entry)
    }
    return entries
  }

  private func edit(_ edit: Order.QueueEdit, in group: String?) async throws(TuttiError) {
    try await order(.edit(group: Order.meantGroup, edit, expected: nil), in: group)
  }

  func order(_ order: Order, in group: String?) async throws(TuttiError) {
    _ = try await ask(.order(order), of: group)
  }

  func ask(
    _ request: HouseCall.Request, of group: String?,
    within timeout: Nanoseconds = HouseVisit.timeout
  ) async throws(TuttiError) -> HouseAnswer {
    let visit = HouseVisit(path: socket, timeout: timeout)
    let call = HouseCall(group: group, request: request)
    let result: Result<HouseAnswer, TuttiError> = await withCheckedContinuation { answer in
      DispatchQueue.global().async {
        answer.resume(
          returning: Result { () throws(TuttiError) in try visit.answer(to: call) })
      }
    }
    return try result.get()
  }
}

extension Household.Place {
  var place: Order.Place {
    switch self {
    case .now: .now
    case .nowAndKeep: .nowAndKeep
    case .next: .next
    case .end: .end
    }
  }
}

extension Household.Group {
  init(_ group: HouseAnswer.Group) {
    (name, rooms, isMeant) = (group.name, group.rooms, group.isMeant)
    (title, artist) = (group.title, group.artist)
    volume = group.volume / 100
    state =
      switch group.state {
      case .stopped: .stopped
      case .starting: .starting
      case .playing: .playing
      case .paused: .paused
      case .buffering: .buffering
      }
  }
}

extension Household.Entry {
  init(_ entry: HouseAnswer.Entry) {
    (id, name, isCurrent) = (entry.id, entry.item, entry.current)
    (title, artist) = (entry.title, entry.artist)
    duration = entry.durationS.map { .seconds($0) }
  }
}

extension Household.Status {
  init(_ status: StatusReport) {
    state = PlaybackStatus.State(status.state)
    (name, title, artist, album) = (status.item, status.title, status.artist, status.album)
    duration = status.durationS.map { .seconds($0) }
    position = .seconds(status.positionS)
    presentationTime = status.presentationTimeNs.map { HostTime(nanoseconds: $0) }
    rate = status.rate
    (itemNumber, itemCount) = (status.itemNumber, status.itemCount)
    rooms = status.rooms.map(\.name)
    failed = status.failed.map {
      Household.Failure(id: $0.entryId, title: $0.title, problem: $0.problem)
    }
  }
}
