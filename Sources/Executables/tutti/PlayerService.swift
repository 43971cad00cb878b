import Clock
import Driver
import FFmpegSource
import Foundation
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
  private let driver: GroupDriver
  private let notices: Inbox<SourceNotice>
  private let state: StateDirectory
  private let wish: Wish
  private let startedAt = HostClock.now
  private var cover: CoverFile
  private var coverFailed = false
  private(set) var failure: Failure?
  var onEvent: (SenderEvent) -> Void = { _ in }
  var onNotice: (SourceNotice) -> Void = { _ in }
  /// For the exit code: whether anything sounded, any room was reached, and what went wrong first.
  private var hasSounded = false
  private var hasReachedRoom = false
  private var firstFailure: String?
  /// Whether of an item a part was heard and the rest was missing.
  private var wasCutShort = false

  init(
    state: StateDirectory, wish: Wish, playlist: Playlist, endsWithPlaylist: Bool = true,
    interruption: ReadInterruption,
    makeSerializer: @escaping @Sendable (_ notices: Inbox<SourceNotice>) -> Serializer
  ) throws {
    self.state = state
    cover = CoverFile(directory: state.path)
    self.wish = wish
    reactor = try Reactor()
    try reactor.watch(signals: [.interrupt, .terminate])
    let notices = Inbox<SourceNotice>(limit: 64, waker: reactor.waker)
    self.notices = notices
    driver = try GroupDriver(
      reactor: reactor,
      settings: .init(
        senderID: try state.senderID(), senderName: ProcessInfo.processInfo.hostName,
        endsWithPlaylist: endsWithPlaylist),
      playlist: playlist, remembered: state.rememberedRooms(), reads: ReadControl(interruption)
    ) { makeSerializer(notices) }
    driver.onEvent = { [unowned self] event in
      note(event)
      onEvent(event)
    }
    driver.wants = { [unowned self] in isWanted($0) }
    driver.onWarning = { printError("tutti: \($0)") }
  }

  var status: GroupStatus { driver.status() }
  /// With where the cover of what sounds is.
  var statusReport: StatusReport {
    let status = status
    let isShown = status.item?.metadata.artwork.map { $0.bytes == cover.shown } ?? false
    return StatusReport(status, artworkPath: isShown ? cover.path : nil)
  }
  var items: [PlayItem] { driver.session.playlist.items }

  /// Plays until the end, a stop, or a signal.
  func run(observer: PlayerDisplay) throws {
    let control = try ControlServer(path: state.controlSocket, reactor: reactor)
    show(nil)
    defer { show(nil) }
    if wish.usesDiscovery { driver.startDiscovery() }
    addRemembered()
    for (host, port) in wish.addresses { try driver.addRoom(host: host, port: port) }
    while !driver.session.isFinished, failure == nil {
      let deadline = [driver.nextDeadline, observer.nextDeadline, searchDeadline]
        .compactMap { $0 }.min()
      for event in try reactor.wait(until: deadline)
      where !control.handle(event, self) && !observer.handle(event) {
        if case .signal = event { driver.carryOut(.stop) }
        driver.handle(event)
      }
      for notice in notices.take() { onNotice(notice) }
      driver.turn()
      checkSearch()
      observer.advance(to: HostClock.now)
    }
    try driver.end()
    state.remember(driver.directory.toRemember)
    if let failure { throw failure }
  }

  /// Throws where the session refuses it.
  func carryOut(_ command: PlayerCommand) throws(Failure) {
    if let refusal = driver.carryOut(command) { throw Failure(.usage, refusal.sentence) }
  }

  private func note(_ event: SenderEvent) {
    switch event {
    case .itemStarted(let opened):
      hasSounded = true
      show(opened.metadata.artwork)
    case .itemDescribed(let opened): show(opened.metadata.artwork)
    case .stopped: show(nil)
    case .roomConnected: hasReachedRoom = true
    case .itemFailed(_, let error):
      firstFailure = firstFailure ?? "\(error)"
      wasCutShort = wasCutShort || error.hasSounded
    case .finished:
      if !hasSounded, let firstFailure { failure = Failure(.noInput, firstFailure) }
      if hasSounded, wasCutShort { failure = Failure(.damaged, nil) }
    case .roomGone, .roomUnreachable, .roomRefused, .roomReplaced, .roomIsTwin, .roomState,
      .roomFlushed, .started, .paused, .resumed, .itemEnded, .playlistChanged, .recoded, .position,
      .renewed, .refused, .buffering, .buffered:
      break
    }
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
      if !coverFailed { printError("tutti: the cover cannot be kept for displays: \(error)") }
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

  func selection(_ name: String?) throws(Failure) -> RoomSelection {
    guard let name else { return .all }
    let rooms = status.rooms
    guard let room = rooms.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      let names = rooms.map(\.name).joined(separator: ", ")
      throw Failure(.unavailable, "not playing in a room called \(name), but in: \(names)")
    }
    return .room(room.id)
  }
}

extension GroupStatus.Room {
  fileprivate var explanation: String {
    if case .away(let reason) = connection { return "\(name): \(reason)" }
    return "\(name): no answer"
  }
}
