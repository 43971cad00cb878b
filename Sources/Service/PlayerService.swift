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
  /// The list, and what is known of its items: orders are carried out by the rules of a household's groups.
  package let group: HouseGroup
  let driver: GroupDriver
  private var host: GroupHost { driver.host }
  private let endsWithList: Bool
  private var hunt: RoomHunt?
  private var huntFailure: Refusal?
  private var cover: CoverFile?
  private var coverFailed = false
  private var hasSounded = false
  /// True if an item ended before its time.
  private var wasCutShort = false
  /// The addresses of rooms that were named by address.
  private var addresses: [RoomID: String] = [:]
  private var leftRooms = LeftRooms()

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
        claim: settings.claim, small: sources.small),
      playlist: playlist, reads: sources.reads, makeSerializer: sources.makeSerializer)
    group = HouseGroup(playing: Player(driver, seed: try SystemRandom.number()))
    driver.hears = { [unowned group] in group.note($0) }
    driver.onEvent = { [unowned self] event in
      if case .group(let event) = event.change { note(event) }
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
    for (host, port) in wish.addresses { addRoom(host: host, port: port) }
  }

  package var player: Player { group.player }

  package var nextDeadline: LocalTime? {
    [hunt?.deadline, group.nextDeadline].compactMap(\.self).min()
  }

  package func handle(_ event: ReactorEvent) -> Bool { false }

  package func turn() {
    group.look(at: HostClock.now)
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
    guard driver.session.isFinished, let error = player.failedItems.values.first else {
      return nil
    }
    let count = max(items.count, player.failedItems.count)
    return .nothingPlayable(count > 1 ? "none of the \(count) items can be played" : "\(error)")
  }

  /// True if this failure is all there is to report. `failure` reports it at the end.
  package func isOnlyFailure(_ item: PlayItem) -> Bool {
    !hasSounded && items.count == 1 && endsWithList
  }

  private func note(_ event: SenderEvent) {
    switch event {
    case .itemStarted:
      hasSounded = true
      show(status.item?.metadata.artwork)
    case .itemDescribed:
      show(status.item?.metadata.artwork)
    case .stopped: show(nil)
    case .room(let room, .connected):
      hunt?.reachedRoom()
      remember(room)
    case .itemFailed(_, let error): wasCutShort = wasCutShort || error.hasSounded
    case .room, .started, .paused, .resumed, .itemEnded, .playlistChanged, .position, .buffering,
      .buffered, .finished:
      break
    }
  }

  // MARK: - What it shows

  package var status: GroupStatus { driver.status() }

  /// The revision of the last event.
  package var revision: UInt64 { driver.revision }

  /// The status, including the path of the current item's cover.
  package var statusReport: StatusReport {
    let isShown = status.item?.metadata.artwork.map { $0.bytes == cover?.shown } ?? false
    return group.statusReport(artworkPath: isShown ? cover?.path : nil)
  }

  package var items: [PlayItem] { player.items }

  /// The reason why the music has not begun yet; nil once it has.
  package var waitReason: String? {
    let status = status
    guard status.state == .starting else { return nil }
    if let missing = hunt?.missing, !missing.isEmpty {
      return "looking for \(missing.joined(separator: ", "))"
    }
    if status.rooms.isEmpty { return "looking for receivers on this network" }
    let absent = status.rooms.filter { if case .connected = $0.connection { false } else { true } }
    if absent.count < status.rooms.count, status.item == nil, let first = items.first {
      return "opening " + player.name(of: first)
    }
    let awaited = absent.isEmpty ? status.rooms : absent
    return "waiting for " + awaited.map(\.name).joined(separator: ", ")
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
  private func addRoom(host: String, port: UInt16) {
    let room = driver.addRoom(host: host, port: port)
    addresses[room] = RoomWish.text(host: host, port: port)
  }

  private func remember(_ room: SenderEvent.Room) {
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
    addRoom(host: address, port: port)
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
