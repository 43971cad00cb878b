import Audio
import Clock
import WireProtocol

/// The protocol with one room: connect, greet, stream, and try again when it breaks.
struct RoomLink {
  /// Rooms that are being connected at a time. Whoever announces rooms that do not exist cannot make a group open more.
  static let mostAtOnce = 16
  /// A codec that a room has withdrawn is not used for it again before.
  static let withdrawalTime = Nanoseconds.seconds(60)

  enum State {
    case waiting(until: LocalTime)
    case connecting(giveUpAt: LocalTime)
    /// `hello` is on its way.
    case greeting(giveUpAt: LocalTime)
    case live
    /// Another sender has the room: nothing is tried until the user asks for it.
    case replaced
  }

  let id: RoomID
  private(set) var name: String
  /// The only receiver that is taken for the room, where that is known; else the one that was met last.
  private(set) var receiverID: Identifier?
  private let isCertain: Bool
  private(set) var state: State {
    didSet { if case .live = state {} else { live = nil } }
  }
  /// There while `state` is `live`. Beside it, so that it is changed in its place.
  var live: LiveRoom?
  /// Why the last attempt failed, also while the next one is made; empty after a welcome.
  private(set) var lastObstacle = ""
  /// The same for surfaces that have words of their own; nil after a welcome.
  private(set) var trouble: RoomTrouble?
  /// The codecs that the room decodes, as it said last; nil before it was connected.
  private(set) var codecs: CodecSet?
  private var withdrawnUntil: LocalTime?
  private(set) var dialling = RoomDialling()
  /// True if the next `hello` asks for the room though somebody else has it.
  private(set) var takesOver = false
  /// One more than the number of the newest packet that the room was ever sent.
  private(set) var sentUpTo: UInt64 = 0
  /// The receiver at the other end of the control connection, and the number of the session there.
  private(set) var peer: SecuredPeer?
  private(set) var session: UInt64 = 0
  var framer = MessageFramer(limit: ProtocolLimits.controlMessage)

  init(id: RoomID, name: String, receiverID: Identifier?, at now: LocalTime) {
    self.id = id
    self.name = name
    self.receiverID = receiverID
    isCertain = receiverID != nil
    state = .waiting(until: dialling.heard(at: now))
  }

  var isReady: Bool {
    switch live?.status?.state {
    case .ready, .playing, .paused, .starved: true
    case .idle, .priming, .noDevice, nil: false
    }
  }

  /// True if the room lacks music and has given no credit for as long as a side may be silent.
  func withholdsCredit(at now: LocalTime) -> Bool {
    switch live?.status?.state {
    case .priming, .starved: live?.media?.isWithheld(for: ProtocolLimits.silence, at: now) ?? false
    case .idle, .ready, .playing, .paused, .noDevice, nil: false
    }
  }

  /// Whether the network to the room is slower than the music.
  func isTooSlow(at now: LocalTime) -> Bool { live?.media?.isTooSlow(at: now) ?? false }

  /// The reason why the room does not play, in people's words; empty if it plays or nothing is known.
  var obstacle: String {
    switch state {
    case .waiting, .connecting, .greeting, .replaced: lastObstacle
    case .live: live?.status?.detail ?? ""
    }
  }

  var isConnecting: Bool {
    switch state {
    case .connecting, .greeting: true
    case .waiting, .live, .replaced: false
    }
  }

  /// True if there is a connection, or one is being made.
  var isOpen: Bool {
    switch state {
    case .connecting, .greeting, .live: true
    case .waiting, .replaced: false
    }
  }

  /// Returns the time since which a connection could be tried; nil if none is to be tried now.
  func due(at now: LocalTime) -> LocalTime? {
    if case .waiting(let until) = state, until <= now { until } else { nil }
  }

  /// Returns true if a connection is to be tried now.
  mutating func retryIsDue(at now: LocalTime) -> Bool {
    guard due(at: now) != nil else { return false }
    state = .connecting(giveUpAt: now + ProtocolLimits.silence)
    return true
  }

  /// The user wants the room, whoever has it.
  mutating func take(at now: LocalTime) {
    if case .live = state { return }
    takesOver = true
    (lastObstacle, trouble) = ("", nil)
    if case .replaced = state { state = .waiting(until: dialling.heard(at: now)) }
    seen(at: now)
  }

  /// Whoever had taken it has let go of it.
  mutating func freed(at now: LocalTime) {
    guard case .replaced = state else { return }
    state = .waiting(until: dialling.heard(at: now))
  }

  mutating func seen(at now: LocalTime) {
    guard case .waiting = state else { return }
    state = .waiting(until: dialling.heard(at: now))
  }

  mutating func controlConnected(_ peer: SecuredPeer, session: UInt64, at now: LocalTime) {
    self.peer = peer
    self.session = session
    framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    state = .greeting(giveUpAt: now + ProtocolLimits.silence)
  }

  func isExpected(_ id: Identifier) -> Bool { !isCertain || receiverID == id }

  /// Returns the key of the time requests of its session; nil if `id` is not that of the key.
  func clockKey(_ id: UInt32) -> ClockKey? {
    switch state {
    case .greeting, .live:
      guard TimeRequest.keyID(ofSession: session) == id else { return nil }
      return peer.map { ClockKey($0.clockKey) }
    case .waiting, .connecting, .replaced: return nil
    }
  }

  /// True if a welcome was awaited.
  mutating func welcomed(_ welcome: Welcome, at now: LocalTime) -> Bool {
    guard case .greeting = state else { return false }
    state = .live
    live = LiveRoom(welcome: welcome, at: now)
    receiverID = welcome.receiverID
    takesOver = false
    lists(welcome.codecs, at: now)
    name = welcome.name
    (lastObstacle, trouble) = ("", nil)
    return true
  }

  /// Each codec fewer makes all rooms' music anew: one that comes and goes counts as gone.
  mutating func lists(_ listed: [Codec], at now: LocalTime) {
    let listed = CodecSet(listed)
    var common = listed
    if let codecs { common.formIntersection(codecs) }
    let isWithdrawn = withdrawnUntil.map { now < $0 } ?? false
    if let codecs, common != codecs { withdrawnUntil = now + Self.withdrawalTime }
    codecs = isWithdrawn ? common : listed
  }

  mutating func sent() { sentUpTo = max(sentUpTo, live?.media?.nextSequence ?? 0) }

  /// A session that broke the protocol was not sound, however long it lasted.
  ///
  /// - Parameter trouble: where it is other than that the room cannot be reached.
  mutating func broke(_ reason: String, _ trouble: RoomTrouble? = nil, at now: LocalTime) {
    let wasLive = live != nil
    let isViolation = trouble == .misbehaving || trouble == .otherVersion
    let session = live.flatMap { $0.media == nil || isViolation ? nil : now - $0.began }
    state = .waiting(until: dialling.broke(session, at: now))
    (lastObstacle, self.trouble) = (reason, trouble ?? (wasLive ? .gone : .unreachable))
  }

  mutating func refused(_ reason: String, _ trouble: RoomTrouble = .refused, at now: LocalTime) {
    state = .waiting(until: dialling.refused(at: now))
    (lastObstacle, self.trouble) = (reason, trouble)
  }

  /// Its user has to pair this sender first, which takes a while.
  mutating func notPaired(_ reason: String, at now: LocalTime) {
    state = .waiting(until: dialling.notPaired(at: now))
    (lastObstacle, trouble) = (reason, .notPaired)
  }

  /// Tells the user what to do if this sender is not paired with the room.
  var pairingAdvice: String {
    "it is not paired with this machine: tutti pair \(name.asShellWord)"
  }

  mutating func replaced(_ reason: String, by holder: String) {
    state = .replaced
    (lastObstacle, trouble) = (reason, .taken(holder: holder))
  }

  /// Whether the room has not spoken for so long that its session is over.
  func isSilent(at now: LocalTime) -> Bool { live.map { $0.giveUpTime <= now } ?? false }

  /// Nil where nothing is awaited; one that waits to be connected has no turn while the others are `isCrowded`.
  func deadline(isCrowded: Bool) -> LocalTime? {
    switch state {
    case .waiting: isCrowded ? nil : nextDeadline
    case .connecting, .greeting: nextDeadline
    case .live: min(nextDeadline, starvationTime ?? nextDeadline)
    case .replaced: nil
    }
  }

  var nextDeadline: LocalTime {
    switch state {
    case .waiting(let until): until
    case .connecting(let giveUpAt), .greeting(let giveUpAt): giveUpAt
    case .live: live?.nextDeadline ?? LocalTime(nanoseconds: .max)
    case .replaced: LocalTime(nanoseconds: .max)
    }
  }
}

/// What is known of a room while its session lasts.
struct LiveRoom {
  var welcome: Welcome
  private(set) var status: RoomStatus?
  /// When the status gets old: it is told once a second. Nil once that was noted.
  private var statusIsGoodUntil: LocalTime?
  var toldState: ToldState?
  /// A room says how it is once a second, so what is not told of a room that changes all the time is told soon.
  private var tellings = RateLimit(perSecond: 2, burst: tellingBurst)
  private static let tellingBurst: Int64 = 10
  /// A room that starves before this does so because of what it was told, or because there was nothing to send.
  private(set) var starvationCountsFrom: LocalTime
  var settings: RoomSettings
  /// What it was told of what plays.
  var announced = AnnouncedItems()
  /// Nil while the media connection is not open.
  var media: MediaFlow?
  /// Of datagrams.
  var road = LiveRoad()
  let began: LocalTime
  private var lastHeard: LocalTime
  private(set) var nextKeepAlive: LocalTime

  init(welcome: Welcome, at now: LocalTime) {
    self.welcome = welcome
    began = now
    starvationCountsFrom = now + Self.starvationPatience
    settings = welcome.settings
    lastHeard = now
    nextKeepAlive = now + ProtocolLimits.keepAliveInterval
    statusIsGoodUntil = now + Self.statusLife
  }

  /// A status that is older than this is shown as such.
  static let statusLife = Nanoseconds.seconds(3)

  mutating func told(_ status: RoomStatus, at now: LocalTime) {
    self.status = status
    statusIsGoodUntil = now + Self.statusLife
  }

  /// Whether the room has just been silent about itself for too long. The session goes on, as other messages come.
  mutating func marksStatusOld(at now: LocalTime) -> Bool {
    guard let end = statusIsGoodUntil, end <= now else { return false }
    statusIsGoodUntil = nil
    status?.detail = "it says no more how it is"
    return true
  }

  func keepAliveIsDue(at now: LocalTime) -> Bool { nextKeepAlive <= now }

  var nextDeadline: LocalTime {
    min(giveUpTime, nextKeepAlive, statusIsGoodUntil ?? nextKeepAlive)
  }

  /// How long the first packets after a change may take to a room.
  private static let starvationPatience = Nanoseconds.milliseconds(500)

  /// What a room with a delay needs may lie by that much farther back, or ahead.
  mutating func excuseStarvation(at now: LocalTime, delayedBy change: Nanoseconds = .zero) {
    let span = Nanoseconds(abs(settings.delay.count) + abs(change.count))
    starvationCountsFrom = max(starvationCountsFrom, now + Self.starvationPatience + span)
  }

  /// How long before its time the room must hear of a change; nil while it has not said so. One room with an absurd figure
  /// must not make all others wait.
  var horizon: Nanoseconds? { status.map { min($0.commitHorizon, RoomSet.longestHorizon) } }

  /// Whether one more change of its state may be told; one that repeats what was told counts as well.
  mutating func isToldOf(at now: LocalTime) -> Bool { tellings.admits(at: now) }

  var giveUpTime: LocalTime { lastHeard + ProtocolLimits.silence }
  mutating func heard(at now: LocalTime) { lastHeard = now }
  mutating func spoke(at now: LocalTime) { nextKeepAlive = now + ProtocolLimits.keepAliveInterval }
}
