package import Clock
package import Driver
package import House
package import LinuxIO
package import Sender
import WireProtocol

package import enum House.Refusal

/// A player without a terminal: it has rooms to play in, a list and the cover of the current item, and it answers
/// requests. It is a member of its owner's `EventLoop`. So is its host, which it may share with other players.
package final class PlayerService: LoopMember {
  package struct Settings: Sendable {
    package var senderName: String
    /// True to finish at the end of the list, false to wait for more items.
    package var endsWithPlaylist: Bool
    /// The rooms that the player looks for by itself; nil if its owner adds them.
    package var rooms: RoomWish?
    /// The directory for the cover, which displays show; nil if there are no displays.
    package var directory: String?
    package var claim: GroupDriver.Claim

    package init(
      senderName: String, endsWithPlaylist: Bool, rooms: RoomWish?, directory: String?,
      claim: GroupDriver.Claim = .init()
    ) {
      self.claim = claim
      self.senderName = senderName
      self.endsWithPlaylist = endsWithPlaylist
      self.rooms = rooms
      self.directory = directory
    }
  }

  package var onEvent: (GroupEvent) -> Void = { _ in }
  /// Called with a line about a problem; the music plays on.
  package var onWarning: (String) -> Void = { _ in }
  /// Called with the rooms that would play on if the process were killed.
  package var onRooms: (LeftRooms) -> Void = { _ in }
  /// Returns what the owner knows of an item, by its identity.
  var known: (Int) -> Order.NewEntry? = { _ in nil }
  let driver: GroupDriver
  private var host: GroupHost { driver.host }
  private let endsWithList: Bool
  private var hunt: RoomHunt?
  private var huntFailure: Refusal?
  private var cover: CoverFile?
  private var coverFailed = false
  /// The items' results, for the end: whether anything sounded, and which items could not be played.
  private var hasSounded = false
  private(set) var failedItems: [Int: String] = [:]
  /// True if an item ended before its time.
  private var wasCutShort = false
  /// Opened items, by their identities.
  private var openedItems: [Int: GroupEvent.Item] = [:]
  /// The addresses of rooms that were named by address.
  private var addresses: [RoomID: String] = [:]
  private var leftRooms = LeftRooms()
  /// The common volume of all rooms.
  var volume = GroupVolume()

  /// Starts the producer's thread. Playing begins with `start`.
  package init(
    host: GroupHost, settings: Settings, playlist: Playlist, sources: PlaybackSources
  ) throws(IOError) {
    cover = settings.directory.map(CoverFile.init)
    endsWithList = settings.endsWithPlaylist
    hunt = settings.rooms.map { RoomHunt($0, at: HostClock.now) }
    driver = try GroupDriver(
      host: host,
      settings: .init(
        senderName: settings.senderName, endsWithPlaylist: settings.endsWithPlaylist,
        claim: settings.claim),
      playlist: playlist, reads: sources.reads, makeSerializer: sources.makeSerializer)
    driver.onEvent = { [unowned self] event in
      note(event.change)
      onEvent(event)
    }
    driver.holds = sources.hold
    driver.wants = { [unowned self] in hunt?.wants($0, of: host.directory) ?? false }
  }

  // MARK: - Running

  package func start() throws(IOError) {
    show(nil)
    guard let hunt else { return }
    let wish = hunt.wish
    if wish.isForAll || !wish.names.isEmpty { host.startDiscovery() }
    for record in hunt.remembered(in: host.directory) { driver.addRoom(record) }
    for (host, port) in wish.addresses { try addRoom(host: host, port: port) }
  }

  package var nextDeadline: LocalTime? { hunt?.deadline }

  package func handle(_ event: ReactorEvent) -> Bool { false }

  package func turn() {
    guard hunt?.deadline != nil else { return }
    do {
      let known = RoomHunt.Knowledge(
        directory: host.directory, plays: driver.plays, rooms: status.rooms)
      try hunt?.look(at: HostClock.now, known)
    } catch {
      huntFailure = error
    }
  }

  package var isOver: Bool { driver.session.isFinished || huntFailure != nil }

  /// Releases the rooms and ends the producer's thread. The player cannot be used after it.
  package func end() throws(IOError) {
    show(nil)
    try driver.end()
  }

  /// The reason why the player has ended, unless it ended as it should.
  package var failure: Refusal? {
    if let huntFailure { return huntFailure }
    if hasSounded { return wasCutShort ? .damaged : nil }
    guard driver.session.isFinished, let reason = failedItems.values.first else { return nil }
    let count = max(items.count, failedItems.count)
    return .nothingPlayable(count > 1 ? "none of the \(count) items can be played" : reason)
  }

  /// True if this failure is all there is to report. `failure` reports it at the end.
  package func isOnlyFailure(_ item: PlayItem) -> Bool {
    !hasSounded && items.count == 1 && endsWithList
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
      hunt?.reachedRoom()
      remember(room)
    case .itemFailed(let item, let reason, let hasSounded):
      failedItems[item.id] = reason
      wasCutShort = wasCutShort || hasSounded
    case .room, .started, .paused, .resumed, .itemEnded, .playlistChanged, .position, .buffering,
      .buffered, .source, .status, .waiting, .leftOut, .finished:
      break
    }
  }

  // MARK: - What it shows

  package var status: GroupStatus { driver.status() }

  /// The revision of the last event.
  package var revision: UInt64 { driver.revision }

  /// The status, including the path of the current item's cover.
  package var statusReport: StatusReport {
    let status = status
    let isShown = status.item?.metadata.artwork.map { $0.bytes == cover?.shown } ?? false
    return StatusReport(status, revision: revision, artworkPath: isShown ? cover?.path : nil)
  }

  package var items: [PlayItem] { driver.session.playlist.items }

  /// The reason why the music has not begun yet; nil once it has.
  package var waitReason: String? {
    let status = status
    guard status.state == .starting else { return nil }
    if let missing = hunt?.missing, !missing.isEmpty {
      return "looking for \(missing.joined(separator: ", "))"
    }
    if status.rooms.isEmpty { return "looking for receivers on this network" }
    let absent = status.rooms.filter { if case .live = $0.connection { false } else { true } }
    if absent.count < status.rooms.count, status.item == nil, let first = items.first {
      return "opening " + name(of: first)
    }
    let awaited = absent.isEmpty ? status.rooms : absent
    return "waiting for " + awaited.map(\.name).joined(separator: ", ")
  }

  private func remember(_ item: GroupEvent.Item) {
    openedItems[item.item.id] = item
    guard openedItems.count > 2 * max(items.count, 100) else { return }
    let present = Set(items.map(\.id))
    openedItems = openedItems.filter { present.contains($0.key) }
  }

  func opened(_ item: PlayItem, _ status: GroupStatus) -> GroupEvent.Item? {
    if let next = status.next?.opened, next.item.id == item.id { return .init(next) }
    return openedItems[item.id]
  }

  /// The item's name for people.
  func name(of item: PlayItem) -> String {
    let opened = opened(item, status)
    let known = known(item.id)
    return ItemName.text(
      title: known?.title ?? opened?.title ?? item.title, artist: known?.artist ?? opened?.artist,
      location: item.location)
  }

  /// Writes the cover for displays. If that fails, the music plays on, and the first failure is reported.
  private func show(_ artwork: Artwork?) {
    do throws(IOError) {
      if let artwork {
        try cover?.show(artwork.bytes, mimeType: artwork.mimeType)
      } else {
        try cover?.remove()
      }
    } catch {
      if !coverFailed { onWarning("the cover cannot be kept for displays: \(error)") }
      coverFailed = true
    }
  }
}

// MARK: - Rooms

extension PlayerService {
  private func addRoom(host: String, port: UInt16) throws(IOError) {
    let room = try driver.addRoom(host: host, port: port)
    addresses[room] = RoomWish.text(host: host, port: port)
  }

  private func remember(_ room: GroupEvent.Room) {
    if let address = addresses[room.id] {
      guard !leftRooms.addresses.contains(address) else { return }
      leftRooms.addresses.append(address)
    } else {
      guard leftRooms.names.insert(room.name).inserted else { return }
    }
    onRooms(leftRooms)
  }

  /// Returns the room of this name or address; nil if it is not one of the player's.
  func meant(by name: String) -> RoomID? {
    let named = status.rooms.first { $0.name.lowercased() == name.lowercased() }?.id
    let addressed = addresses.first { $0.value == name }?.key
    return named ?? addressed
      ?? host.directory.records(meantBy: name).lazy.compactMap(driver.room(of:)).first
  }

  func room(_ name: String) throws(Refusal) -> GroupStatus.Room {
    let rooms = status.rooms
    guard let room = rooms.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      let names = rooms.map(\.name).joined(separator: ", ")
      throw .unavailable("not playing in a room called \(name), but in: \(names)")
    }
    return room
  }

  /// - Parameter room: the identity of its receiver, or its address.
  func join(_ room: String) throws(Refusal) -> String {
    if let record = host.directory.records.first(where: { $0.id == room }) {
      if driver.plays(record) { return "plays in \(record.name) already" }
      driver.addRoom(record)
      return "\(record.name) joins"
    }
    let (address, port) = try RoomWish.address(room)
    do {
      try addRoom(host: address, port: port)
    } catch {
      throw Refusal(error)
    }
    return "\(room) joins"
  }

  func leave(_ names: [String]) throws(Refusal) -> String {
    var leaving: [GroupStatus.Room] = []
    for name in names { leaving.append(try room(name)) }
    guard Set(leaving.map(\.id)).count < status.rooms.count else {
      throw .invalid("no room would be left; end the music with: tutti stop")
    }
    for room in leaving {
      driver.removeRoom(room.id)
      leftRooms.names.remove(room.name)
      leftRooms.addresses.removeAll { $0 == addresses[room.id] }
    }
    onRooms(leftRooms)
    return leaving.map { "\($0.name) leaves" }.joined(separator: "\n")
  }
}
