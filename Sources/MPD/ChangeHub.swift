import House
import MPDProtocol
import Sender
import Service

/// Follows the household, and tells each client which parts of its group have changed.
actor ChangeHub {
  private struct Listener {
    let port: Int
    /// The group that the client has chosen; nil is that of its port.
    var group: String?
    var changed: Subsystems = []
    let signal: @Sendable () -> Void
  }

  private let house: any HouseControl
  private let now: @Sendable () -> Int64
  private var listeners: [Int: Listener] = [:]
  private var lastListener = 0
  /// The port of the household, which stays open while it has no group.
  private var mainPort = 0
  private var before: HouseState?
  private(set) var book: NumberBook
  /// Called after each change with the state then.
  private var follower: (@Sendable (HouseState) async -> Void)?
  /// When its songs changed last, in seconds since 1970, and when anything of the library did, such as a playlist.
  private(set) var songsTime: Int64
  private(set) var libraryTime: Int64
  /// The number of the last scan that somebody asked for.
  private(set) var scanNumber = 0

  init(_ house: any HouseControl, book: NumberBook, now: @escaping @Sendable () -> Int64) {
    (self.house, self.book, self.now) = (house, book, now)
    let time = now()
    (songsTime, libraryTime) = (time, time)
  }

  /// Takes the state from which on clients are told of changes.
  ///
  /// - Parameter follower: called with each state.
  func begin(_ follower: @escaping @Sendable (HouseState) async -> Void) async {
    self.follower = follower
    if let state = try? await house.state() { await take(state) }
  }

  /// How long it waits until it follows the household again that has dropped it.
  private static let pause = Duration.seconds(1)

  /// Follows the house until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      if let news = try? await house.changes(), let state = try? await house.state() {
        await take(state)
        for await change in news {
          guard var state = before else { break }
          state.apply(change)
          await take(state)
        }
      }
      try? await Task.sleep(for: Self.pause)
    }
  }

  private func take(_ state: HouseState) async {
    let old = before
    before = state
    book.note(rooms: state.rooms.map(\.id))
    await follower?(state)
    guard let old else { return }
    if old.library.revision != state.library.revision { libraryTime = now() }
    if old.library.songsRevision != state.library.songsRevision { songsTime = now() }
    tellAll(state.changesForAll(since: old))
    for number in listeners.keys.sorted() {
      let (before, id) = (group(ofListener: number, old)?.id, group(ofListener: number, state)?.id)
      if before != id {
        tell(number, .ofGroup)
      } else if let id {
        tell(number, state.changes(ofGroup: id, since: old))
      }
    }
  }

  // MARK: - Clients

  func add(port: Int, signal: @escaping @Sendable () -> Void) -> Int {
    lastListener += 1
    listeners[lastListener] = Listener(port: port, signal: signal)
    return lastListener
  }

  func remove(_ number: Int) { listeners[number] = nil }

  func choose(_ group: String?, for number: Int) { listeners[number]?.group = group }

  /// Number of clients that have chosen a group, other than this one.
  func clientCount(ofGroup id: String, without number: Int) -> Int {
    listeners.filter { $0.key != number && $0.value.group == id }.count
  }

  /// Returns what has changed of these parts since the last call, and forgets it.
  func changes(for number: Int, of parts: Subsystems) -> Subsystems {
    guard var listener = listeners[number] else { return [] }
    let changed = listener.changed.intersection(parts)
    listener.changed.subtract(changed)
    listeners[number] = listener
    return changed
  }

  /// Tells all clients of a group.
  func tell(group id: String, _ parts: Subsystems) {
    guard let state = before else { return }
    for number in listeners.keys.sorted() where group(ofListener: number, state)?.id == id {
      tell(number, parts)
    }
  }

  private func tellAll(_ parts: Subsystems) {
    for number in listeners.keys.sorted() { tell(number, parts) }
  }

  private func tell(_ number: Int, _ parts: Subsystems) {
    guard !parts.isEmpty else { return }
    listeners[number]?.changed.formUnion(parts)
    listeners[number]?.signal()
  }

  // MARK: - Groups

  /// The group that a client means: the one that it has chosen, while that exists, or that of its port. The household's
  /// port means the first group while its own is gone.
  func group(ofListener number: Int, _ state: HouseState) -> HouseState.Group? {
    guard let listener = listeners[number] else { return nil }
    for id in [listener.group, book.group(port: listener.port)?.id].compactMap(\.self) {
      if let group = state.groups.first(where: { $0.id == id }) { return group }
    }
    return listener.port == mainPort ? state.groups.first : nil
  }

  /// The group that a client has chosen, or that of its port, though it may be gone.
  func lastGroup(ofListener number: Int) -> String? {
    listeners[number].flatMap { $0.group ?? book.group(port: $0.port)?.id }
  }

  func setMainPort(_ port: Int) { mainPort = port }

  /// Somebody may have lost what they were allowed.
  func wakeAll() { for listener in listeners.values { listener.signal() } }

  /// Changes the numbers of groups.
  func edit(_ body: @Sendable (inout NumberBook) -> Void) { body(&book) }

  func currentState() async throws -> HouseState { try await house.state() }

  func note(rooms: [String]) { book.note(rooms: rooms) }

  func nextScan() -> Int {
    scanNumber += 1
    tellAll(.update)
    return scanNumber
  }
}

extension Subsystems {
  /// All that belongs to a group.
  fileprivate static let ofGroup: Subsystems = [.playlist, .player, .mixer, .options, .output]
}

extension HouseState {
  /// Changes that concern the clients of all groups.
  func changesForAll(since old: HouseState) -> Subsystems {
    var changed: Subsystems = []
    if library.revision != old.library.revision { changed.insert(.storedPlaylist) }
    // Some clients then load the whole library again.
    if library.songsRevision != old.library.songsRevision { changed.insert(.database) }
    if (library.scan == nil) != (old.library.scan == nil) { changed.insert(.update) }
    if groups.map(\.id) != old.groups.map(\.id) || groups.map(\.name) != old.groups.map(\.name) {
      changed.insert(.partition)
    }
    if rooms.map(OutputFacts.init) != old.rooms.map(OutputFacts.init) { changed.insert(.output) }
    return changed
  }

  /// Everything of a room that `outputs` shows.
  private struct OutputFacts: Equatable {
    let id: String
    let name: String
    let group: String?
    let volume: Double?

    init(_ room: Room) {
      (id, name, group, volume) = (room.id, room.name, room.groupId, room.volume)
    }
  }

  func changes(ofGroup id: String, since old: HouseState) -> Subsystems {
    let (one, other) = (old.groups.first { $0.id == id }, groups.first { $0.id == id })
    guard let one, let other else {
      return one == nil && other == nil ? [] : .ofGroup
    }
    var changed: Subsystems = []
    if one.queue.revision != other.queue.revision { changed.insert(.playlist) }
    if one.state.word != other.state.word || one.item != other.item
      || one.queue.index != other.queue.index || one.failed != other.failed
      || other.hasLeapt(since: one)
    {
      changed.insert(.player)
    }
    if one.volume != other.volume || one.muted != other.muted { changed.insert(.mixer) }
    if one.roomIds != other.roomIds { changed.formUnion([.output, .mixer]) }
    if one.repeat != other.repeat || one.queue.isShuffled != other.queue.isShuffled
      || one.effects.crossfadeS != other.effects.crossfadeS
    {
      changed.insert(.options)
    }
    return changed
  }
}

extension HouseState.Group.State {
  /// As the protocol calls it.
  var word: PlayerWord {
    switch self {
    case .stopped: .stop
    case .starting, .playing, .buffering: .play
    case .paused: .pause
    }
  }
}

enum PlayerWord: String { case stop, play, pause }
