internal import CMPRIS
internal import Glibc
internal import House
internal import MPRISProtocol

/// A player and its connection to the bus. It belongs to the bus's thread.
final class BusPlayer {
  /// Messages that wait in this process because the bus takes nothing. With more of them the connection is given up.
  static let waitingLimit = 64
  /// Messages that are handled before the other connections have their turn.
  private static let batch = 32

  private unowned let loop: BusLoop
  private let calls: UnsafeMutablePointer<CMPRISPlayer>
  private var player: MediaPlayer
  private var presence: BusPresence
  private var bus: OpaquePointer?
  /// Calls that wait for their answer, by their numbers. The loop's owner bounds them.
  private var calling: [UInt64: OpaquePointer] = [:]
  /// Why the connection is to be given up, found while it is being used.
  private var problem: Int32 = 0

  init(_ shown: MediaPlayer.Shown, _ loop: BusLoop, at nowMs: Double) {
    self.loop = loop
    player = MediaPlayer(shown, at: nowMs)
    presence = BusPresence(name: BusName.player(shown.slug), process: getpid(), at: nowMs)
    calls = .allocate(capacity: 1)
    calls.initialize(
      to: CMPRISPlayer(
        context: Unmanaged.passUnretained(self).toOpaque(), call: wasCalled, get: wasRead,
        set: wasSet, named: wasNamed))
  }

  deinit {
    disconnect()
    calls.deallocate()
  }

  /// A group under another name is another player.
  func isSame(as shown: MediaPlayer.Shown) -> Bool {
    player.shown.group.id == shown.group.id && player.shown.slug == shown.slug
  }

  func show(_ shown: MediaPlayer.Shown, at nowMs: Double) { player.show(shown, at: nowMs) }

  // MARK: - The connection

  /// Returns true if there is more to do at once.
  func turn(at nowMs: Double) -> Bool {
    if let due = presence.nextAttemptMs, due <= nowMs { connect(at: nowMs) }
    guard let bus else { return false }
    var code: Int32 = 1
    var rest = Self.batch
    while rest > 0, code > 0, problem == 0 {
      code = sd_bus_process(bus, nil)
      rest -= 1
    }
    if code >= 0, problem == 0, presence.isNamed { tellNews(at: nowMs) }
    if code < 0 { problem = code }
    if problem == 0, sd_bus_is_open(bus) <= 0 { problem = -ECONNRESET }
    if problem == 0, waitingCount > Self.waitingLimit { problem = -ENOBUFS }
    guard problem == 0 else {
      lose(at: nowMs)
      return false
    }
    return code > 0
  }

  private func connect(at nowMs: Double) {
    problem = cmpris_open(calls, loop.address, &bus)
    if problem < 0 {
      bus = nil
      return lose(at: nowMs)
    }
    problem = min(0, cmpris_ask_for_name(bus, presence.opened(), calls))
  }

  private func lose(at nowMs: Double) {
    disconnect()
    loop.noteLoss(Self.reason(problem))
    problem = 0
    presence.lost(at: nowMs)
  }

  private func disconnect() {
    for message in calling.values { sd_bus_message_unref(message) }
    calling = [:]
    if let bus { cmpris_close(bus) }
    bus = nil
  }

  private var waitingCount: UInt64 {
    var count: UInt64 = 0
    return sd_bus_get_n_queued_write(bus, &count) < 0 ? 0 : count
  }

  private static func reason(_ code: Int32) -> String {
    switch -code {
    case ENOMEDIUM: "this user has none"
    case ENOENT, ECONNREFUSED: "it does not run"
    case ECONNRESET, EPIPE, ENOTCONN: "it has ended"
    case ENOBUFS: "it takes nothing"
    case ETIMEDOUT: "it does not answer"
    default: String(cString: strerror(-code))
    }
  }

  // MARK: - Waiting

  var descriptor: pollfd? {
    guard let bus else { return nil }
    let (number, events) = (sd_bus_get_fd(bus), sd_bus_get_events(bus))
    guard number >= 0, events >= 0 else { return nil }
    return pollfd(fd: number, events: Int16(events), revents: 0)
  }

  /// Milliseconds until something is due; nil if nothing is.
  func waitMs(at nowMs: Double) -> Double? {
    let due = [presence.nextAttemptMs, presence.isNamed ? player.nextDeadlineMs : nil]
    var spans = due.compactMap { $0.map { $0 - nowMs } }
    var untilUs: UInt64 = .max
    if let bus, sd_bus_get_timeout(bus, &untilUs) >= 0, untilUs != .max {
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      spans.append(Double(untilUs) / 1e3 - Double(now.tv_sec) * 1e3 - Double(now.tv_nsec) / 1e6)
    }
    return spans.min()
  }

  // MARK: - What it tells

  private func tellNews(at nowMs: Double) {
    guard let news = player.nextNews(at: nowMs) else { return }
    for interface in PlayerInterface.allCases {
      let names = news.changed.filter { $0.news == interface }.map(\.rawValue)
      if !names.isEmpty { tell(names, on: interface.rawValue) }
    }
    if let seeked = news.seekedUs { note(cmpris_seeked(bus, seeked)) }
  }

  private func tell(_ names: [String], on interface: String) {
    var pointers: [UnsafeMutablePointer<CChar>?] = names.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    note(cmpris_tell(bus, interface, &pointers))
  }

  private func note(_ code: Int32) {
    if code < 0, problem == 0 { problem = code }
  }

  // MARK: - What it is asked

  fileprivate func take(
    _ message: OpaquePointer, _ member: String, text: String, span: Int64
  ) {
    guard let call = PlayerCall(member, text: text, span: span) else { return }
    let wish: PlayerRequest.Wish
    switch player.answer(call, at: loop.nowMs) {
    case .nothing: return note(cmpris_reply(message))
    case .refuse(let error, let reason):
      return note(cmpris_refuse(message, error.rawValue, reason))
    case .order(let order): wish = .order(order)
    case .open(let address): wish = .open(address)
    }
    guard let number = loop.ask(wish, of: player.shown.group.id, isAwaited: true) else {
      return note(cmpris_refuse(message, BusError.tooMany.rawValue, Self.isBusy))
    }
    calling[number] = sd_bus_message_ref(message)
  }

  private static let isBusy = "too much is asked for at once; try again"

  func answer(_ number: UInt64, refusal: String?) {
    guard let message = calling.removeValue(forKey: number) else { return }
    let code =
      refusal.map { cmpris_refuse(message, BusError.failed.rawValue, BusText.clean($0)) }
      ?? cmpris_reply(message)
    note(code)
    sd_bus_message_unref(message)
  }

  fileprivate func set(
    _ name: String, text: String, number: Double, _ error: UnsafeMutablePointer<sd_bus_error>?
  ) -> Int32 {
    guard let setting = PlayerSetting(name, text: text, number: number) else { return -EINVAL }
    switch player.answer(setting) {
    case .nothing, .open: return 0
    case .refuse(let kind, let reason): return cmpris_fail(error, kind.rawValue, reason)
    case .order(let order):
      let asked = loop.ask(.order(order), of: player.shown.group.id, isAwaited: false)
      return asked == nil ? cmpris_fail(error, BusError.tooMany.rawValue, Self.isBusy) : 0
    }
  }

  fileprivate func append(_ name: String, to message: OpaquePointer) -> Int32 {
    guard let property = PlayerProperty(rawValue: name) else { return -EINVAL }
    return BusMessage(message).append(player.value(of: property, at: loop.nowMs))
  }

  fileprivate func noteAnswer(isOurs: Bool) {
    if let next = presence.answered(isOurs: isOurs) {
      note(cmpris_ask_for_name(bus, next, calls))
    } else if let name = presence.name {
      player.begin(at: loop.nowMs)
      loop.noteName(name, of: player.shown.name)
    } else {
      loop.noteNameless(BusName.player(player.shown.slug))
    }
  }
}

private func player(_ context: UnsafeMutableRawPointer?) -> BusPlayer? {
  context.map { Unmanaged<BusPlayer>.fromOpaque($0).takeUnretainedValue() }
}

private func wasCalled(
  _ context: UnsafeMutableRawPointer?, _ message: OpaquePointer?, _ member: UnsafePointer<CChar>?,
  _ text: UnsafePointer<CChar>?, _ span: Int64
) {
  guard let message, let member, let text else { return }
  player(context)?.take(
    message, String(cString: member), text: String(cString: text), span: span)
}

private func wasRead(
  _ context: UnsafeMutableRawPointer?, _ property: UnsafePointer<CChar>?, _ reply: OpaquePointer?
) -> Int32 {
  guard let property, let reply else { return -EINVAL }
  return player(context)?.append(String(cString: property), to: reply) ?? -EINVAL
}

private func wasSet(
  _ context: UnsafeMutableRawPointer?, _ property: UnsafePointer<CChar>?,
  _ text: UnsafePointer<CChar>?, _ number: Double, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
  guard let property, let text else { return -EINVAL }
  return player(context)?.set(
    String(cString: property), text: String(cString: text), number: number, error) ?? -EINVAL
}

private func wasNamed(_ context: UnsafeMutableRawPointer?, _ isOurs: Int32) {
  player(context)?.noteAnswer(isOurs: isOurs != 0)
}
