import Clock
import Driver
import FFmpegSource
import LinuxIO
import Sender

/// The player of `tutti play`: a `GroupDriver` with the rooms that were asked for, the control socket and the terminal,
/// on one thread.
final class PlayerService {
  /// Which rooms to play in: named ones are looked for until they are found or the patience is over.
  struct Wish {
    /// Names as given; empty means every receiver there is.
    var names: [String]
    /// Host and port as given with `--at`.
    var addresses: [(host: String, port: UInt16)]
    var usesDiscovery: Bool
  }

  /// How long a named room may take to appear.
  static let discoveryPatience = Nanoseconds.seconds(5)
  /// How long no room at all may be reached before it is given up.
  static let connectPatience = Nanoseconds.seconds(10)

  let reactor: Reactor
  let driver: GroupDriver
  let state: StateDirectory
  private let wish: Wish
  private let endsWithList: Bool
  private let startedAt = HostClock.now
  private var cover: CoverFile
  private var coverFailed = false
  private(set) var failure: Failure?
  var onEvent: (GroupEvent) -> Void = { _ in }
  /// A line about something that is amiss; music plays on.
  var onWarning: (String) -> Void = { _ in }
  /// For the exit code: whether anything sounded, any room was reached, and what went wrong first.
  private var hasSounded = false
  private var hasReachedRoom = false
  private var failedItems: [Int: String] = [:]
  /// Whether of an item a part was heard and the rest was missing.
  private var wasCutShort = false
  /// What is known of items that were opened, by their identities.
  private var openedItems: [Int: GroupEvent.Item] = [:]
  /// Of rooms that were named by them.
  private var addresses: [RoomID: String] = [:]
  private var rooms = LeftRooms()

  init(
    state: StateDirectory, wish: Wish, playlist: Playlist, endsWithPlaylist: Bool = true,
    interruption: ReadInterruption,
    makeSerializer:
      @escaping @Sendable (
        _ report: @escaping @Sendable (SourceNotice) -> Void
      ) -> Serializer
  ) throws {
    self.state = state
    cover = CoverFile(directory: state.path)
    self.wish = wish
    endsWithList = endsWithPlaylist
    reactor = try Reactor()
    // A terminal that is closed stops the music, unless `nohup` was to keep it playing.
    try reactor.watch(
      signals: [.interrupt, .terminate, .windowChanged] + [.hangUp].filter { !$0.isIgnored })
    driver = try GroupDriver(
      reactor: reactor,
      settings: .init(
        senderID: try state.senderID(), senderName: HostName.current,
        endsWithPlaylist: endsWithPlaylist),
      playlist: playlist, remembered: state.rememberedRooms(), reads: ReadControl(interruption),
      makeSerializer: makeSerializer)
    driver.onEvent = { [unowned self] event in
      note(event.change)
      onEvent(event)
    }
    driver.wants = { [unowned self] in isWanted($0) }
    driver.onWarning = { [unowned self] in onWarning($0) }
  }

  var status: GroupStatus { driver.status() }
  /// With where the cover of what sounds is.
  var statusReport: StatusReport {
    let status = status
    let isShown = status.item?.metadata.artwork.map { $0.bytes == cover.shown } ?? false
    return StatusReport(
      status, revision: driver.revision, artworkPath: isShown ? cover.path : nil)
  }
  var items: [PlayItem] { driver.session.playlist.items }

  /// Plays until the end, a stop, or a signal.
  func run(observer: PlayerDisplay) throws {
    let control = try ControlServer(path: state.controlSocket, reactor: reactor)
    show(nil)
    defer { show(nil) }
    if wish.usesDiscovery { driver.startDiscovery() }
    addRemembered()
    for (host, port) in wish.addresses { try addRoom(host: host, port: port) }
    while !driver.session.isFinished, failure == nil {
      let deadline = [driver.nextDeadline, observer.nextDeadline, searchDeadline]
        .compactMap { $0 }.min()
      for event in try reactor.wait(until: deadline)
      where !control.handle(event, self) && !observer.handle(event) {
        if case .signal(let signal) = event, signal != .windowChanged { driver.carryOut(.stop) }
        driver.handle(event)
      }
      driver.turn()
      checkSearch()
      observer.advance(to: HostClock.now)
    }
    try driver.end()
    state.leftRooms = LeftRooms()
    state.remember(driver.directory.toRemember)
    if let failure { throw failure }
  }

  /// Throws where the session refuses it.
  func carryOut(_ command: PlayerCommand) throws(Failure) {
    _ = try driver.carryOut(command).mapError { Failure(.usage, $0.description) }.get()
  }

  private func note(_ change: GroupEvent.Change) {
    switch change {
    case .itemStarted(let item):
      hasSounded = true
      remember(item)
      show(status.item?.metadata.artwork)
    case .itemDescribed(let item):
      remember(item)
      show(status.item?.metadata.artwork)
    case .stopped: show(nil)
    case .room(let room, .connected):
      hasReachedRoom = true
      remember(room)
    case .itemFailed(let item, let reason, let hasSounded):
      failedItems[item.id] = reason
      wasCutShort = wasCutShort || hasSounded
    case .finished:
      if !hasSounded { failure = nothingPlayed }
      if hasSounded, wasCutShort { failure = Failure(.damaged, nil) }
    case .room, .started, .paused, .resumed, .itemEnded, .playlistChanged, .position, .buffering,
      .buffered, .source, .status, .waiting, .leftOut:
      break
    }
  }

  /// Whether this failure is the whole story, and told at the end.
  func isOnlyFailure(_ item: PlayItem) -> Bool { !hasSounded && items.count == 1 && endsWithList }

  private var nothingPlayed: Failure? {
    guard let reason = failedItems.values.first else { return nil }
    guard failedItems.count > 1 || items.count > 1 else { return Failure(.noInput, reason) }
    return Failure(.noInput, "none of the \(items.count) items can be played")
  }

  private func remember(_ opened: GroupEvent.Item) {
    openedItems[opened.item.id] = opened
    guard openedItems.count > 2 * max(items.count, 100) else { return }
    let present = Set(items.map(\.id))
    openedItems = openedItems.filter { present.contains($0.key) }
  }

  func opened(_ item: PlayItem, _ status: GroupStatus) -> GroupEvent.Item? {
    if let next = status.next?.opened, next.item.id == item.id { return .init(next) }
    return openedItems[item.id]
  }

  /// As people call it.
  func name(of item: PlayItem) -> String {
    let opened = opened(item, status)
    return ItemName.text(title: opened?.title, artist: opened?.artist, location: item.location)
  }

  /// For displays. Where it cannot be written music plays all the same, and one line says so.
  private func show(_ artwork: Artwork?) {
    do throws(IOError) {
      if let artwork {
        try cover.show(artwork.bytes, mimeType: artwork.mimeType)
      } else {
        try cover.remove()
      }
    } catch {
      if !coverFailed { onWarning("the cover cannot be kept for displays: \(error)") }
      coverFailed = true
    }
  }

  // MARK: - Rooms

  private func isWanted(_ record: RoomRecord) -> Bool {
    if wish.names.isEmpty { return wish.addresses.isEmpty }
    return wish.names.contains { name in driver.directory.matches(name).map(\.id) == [record.id] }
  }

  /// A room that was seen before is tried at its old address at once.
  private func addRemembered() {
    for name in wish.names {
      let matches = driver.directory.matches(name)
      if matches.count == 1, let record = matches.first { driver.addRoom(record) }
    }
  }

  private func addRoom(host: String, port: UInt16) throws {
    let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    let room = try driver.addRoom(host: host, port: port)
    addresses[room] = address
  }

  /// Where this player is killed, another command can tell whom to silence.
  private func remember(_ room: GroupEvent.Room) {
    if let address = addresses[room.id] {
      guard !rooms.addresses.contains(address) else { return }
      rooms.addresses.append(address)
    } else {
      guard rooms.names.insert(room.name).inserted else { return }
    }
    state.leftRooms = rooms
  }

  /// Names that no room was added for.
  private var unfound: [String] {
    wish.names.filter { name in !driver.directory.matches(name).contains(where: driver.plays) }
  }

  private var searchDeadline: LocalTime? {
    if driver.lastRoom == 0 || !unfound.isEmpty { return startedAt + Self.discoveryPatience }
    return hasReachedRoom ? nil : startedAt + Self.connectPatience
  }

  /// Ends with a clear line where a room does not appear.
  private func checkSearch() {
    guard let deadline = searchDeadline, deadline <= HostClock.now else { return }
    if unfound.isEmpty, driver.lastRoom > 0 {
      let rooms = status.rooms.map(\.explanation)
      failure = Failure(.unavailable, "no room could be reached: " + rooms.joined(separator: "; "))
      return
    }
    let present = driver.directory.present.map(\.name).joined(separator: ", ")
    let there = present.isEmpty ? "no receiver was found" : "found: \(present)"
    guard let name = unfound.first else {
      failure = Failure(
        .unavailable,
        "no receiver was found; start tutti-receiver in a room, or name one with --at host:port")
      return
    }
    let twins = driver.directory.matches(name)
    failure =
      twins.count > 1
      ? Failure(
        .usage,
        "there are \(twins.count) rooms called \(name); say which: "
          + twins.map { "\($0.name)#\($0.id.prefix(4))" }.joined(separator: ", "))
      : Failure(.unavailable, "no room called \(name) (\(there)); see: tutti receivers")
  }

  /// What keeps the music from beginning; nil once it has begun.
  var waitReason: String? {
    let status = status
    guard status.state == .starting else { return nil }
    if !unfound.isEmpty { return "looking for \(unfound.joined(separator: ", "))" }
    if driver.lastRoom == 0 { return "looking for receivers on this network" }
    let absent = status.rooms.filter { !$0.isLive }
    if absent.count == status.rooms.count { return "waiting for " + Self.list(absent) }
    if status.item == nil, let first = items.first { return "opening " + name(of: first) }
    return "waiting for " + Self.list(absent.isEmpty ? status.rooms : absent)
  }

  private static func list(_ rooms: [GroupStatus.Room]) -> String {
    rooms.map(\.name).joined(separator: ", ")
  }

  func selection(_ name: String) throws(Failure) -> RoomSelection { .room(try room(name).id) }

  private func room(_ name: String) throws(Failure) -> GroupStatus.Room {
    let rooms = status.rooms
    guard let room = rooms.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      let names = rooms.map(\.name).joined(separator: ", ")
      throw Failure(.unavailable, "not playing in a room called \(name), but in: \(names)")
    }
    return room
  }

  // MARK: - Rooms that come and go

  func join(_ room: NewRoom) throws -> String {
    switch room {
    case .record(let record):
      if driver.plays(record) { return "plays in \(record.name) already" }
      driver.addRoom(record)
      return "\(record.name) joins"
    case .address(let host, let port):
      try addRoom(host: host, port: port)
      return "\(host):\(port) joins"
    }
  }

  func leave(_ names: [String]) throws -> String {
    let leaving = try names.map { try room($0) }
    guard Set(leaving.map(\.id)).count < status.rooms.count else {
      throw Failure(.usage, "no room would be left; end the music with: tutti stop")
    }
    for room in leaving {
      driver.removeRoom(room.id)
      rooms.names.remove(room.name)
      rooms.addresses.removeAll { $0 == addresses[room.id] }
    }
    state.leftRooms = rooms
    return leaving.map { "\($0.name) leaves" }.joined(separator: "\n")
  }
}

/// A room to play in as well.
enum NewRoom: Codable {
  case record(RoomRecord)
  case address(host: String, port: UInt16)
}

/// What an item is called: as it says itself, or else as its file or address ends.
enum ItemName {
  static func text(title: String?, artist: String?, location: String) -> String {
    let title = title ?? lastPart(location)
    return artist.map { "\($0) – \(title)" } ?? title
  }

  private static func lastPart(_ location: String) -> String {
    let part = location.split(separator: "/").last.map(String.init)
    return location == "-" ? "standard input" : part ?? location
  }
}

extension GroupStatus.Room {
  fileprivate var isLive: Bool {
    if case .live = connection { true } else { false }
  }

  var explanation: String {
    if case .away(let reason) = connection { return "\(name): \(reason)" }
    return "\(name): no answer"
  }
}
