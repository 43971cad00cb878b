import Audio
import Clock
import WireProtocol

/// The protocol with one room: connect, greet, stream, and try again when it breaks.
struct RoomLink {
  /// Rooms that are being connected at a time. Whoever announces rooms that do not exist cannot make a group open more.
  static let mostAtOnce = 16
  /// A codec that a room has withdrawn is not used for it again before.
  static let withdrawalTime = Nanoseconds.seconds(60)
  /// A `hello` of the process before reaches the room at most this long after this one's.
  static let straggling = Nanoseconds.seconds(2)

  enum State {
    case waiting(until: LocalTime)
    case connecting(giveUpAt: LocalTime)
    /// `hello` is on its way.
    case greeting(Line, giveUpAt: LocalTime)
    /// The room has welcomed this sender.
    case connected
    /// Another sender has the room: nothing is tried until the user asks for it.
    case replaced
  }

  /// The receiver at the other end of the control connection, and the number of the session with it.
  struct Line {
    let peer: SecuredPeer
    let session: UInt64
  }

  let id: RoomID
  private(set) var name: String
  /// The only receiver that is taken for the room, where that is known; else the one that was met last.
  private(set) var receiverID: Identifier?
  private let isCertain: Bool
  private(set) var state: State {
    didSet {
      if case .connected = state { return }
      connected = nil
    }
  }
  /// The room while its session lasts; nil otherwise. Beside the state, not in it: in an enumeration each look at it would
  /// copy it, and it is large.
  var connected: ConnectedRoom?
  /// The reason why the last attempt failed, also while the next one is made; empty after a welcome.
  private(set) var lastObstacle = ""
  /// The same for surfaces that have words of their own; nil after a welcome.
  private(set) var trouble: RoomTrouble?
  /// The codecs that the room decodes, as it said last; nil before it was connected.
  private(set) var codecs: CodecSet?
  private var withdrawnUntil: LocalTime?
  /// True once a late `hello` of the process before may have taken the room.
  private var wasOvertaken = false
  private(set) var dialling = RoomDialling()
  /// True if the next `hello` asks for the room though somebody else has it.
  private(set) var takesOver = false
  /// One more than the number of the newest packet that the room was ever sent.
  private(set) var sentUpTo: UInt64 = 0
  /// The encoding that the room was sent last, where there were two.
  private(set) var sentForm = PacketForm.whole
  var weakness = WeakLink()
  var framer = MessageFramer(limit: ProtocolLimits.controlMessage)

  init(id: RoomID, name: String, receiverID: Identifier?, at now: LocalTime) {
    self.id = id
    self.name = name
    self.receiverID = receiverID
    isCertain = receiverID != nil
    state = .waiting(until: dialling.heard(at: now))
  }

  /// Nil while there is no control connection.
  var line: Line? {
    switch state {
    case .greeting(let line, _): line
    case .connected: connected?.line
    case .waiting, .connecting, .replaced: nil
    }
  }

  var isReady: Bool {
    switch connected?.status?.state {
    case .ready, .playing, .paused, .starved: true
    case .idle, .priming, .noDevice, nil: false
    }
  }

  /// True if the room lacks music and has given no credit for as long as a side may be silent.
  func withholdsCredit(at now: LocalTime) -> Bool {
    switch connected?.status?.state {
    case .priming, .starved:
      connected?.media?.isWithheld(for: ProtocolLimits.silence, at: now) ?? false
    case .idle, .ready, .playing, .paused, .noDevice, nil: false
    }
  }

  /// True if the network to the room is slower than the music.
  func isTooSlow(at now: LocalTime) -> Bool { connected?.media?.isTooSlow(at: now) ?? false }

  /// The reason why the room does not play, in people's words; empty if it plays or nothing is known.
  var obstacle: String {
    switch state {
    case .waiting, .connecting, .greeting, .replaced: lastObstacle
    case .connected: connected?.status?.detail ?? ""
    }
  }

  var isConnecting: Bool {
    switch state {
    case .connecting, .greeting: true
    case .waiting, .connected, .replaced: false
    }
  }

  /// True if there is a connection, or one is being made.
  var isOpen: Bool {
    switch state {
    case .connecting, .greeting, .connected: true
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
    if case .connected = state { return }
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
    framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    state = .greeting(
      Line(peer: peer, session: session), giveUpAt: now + ProtocolLimits.silence)
  }

  func isExpected(_ id: Identifier) -> Bool { !isCertain || receiverID == id }

  /// Returns the key of the time requests of its session; nil if `id` is not that of the key.
  func clockKey(_ id: UInt32) -> ClockKey? {
    guard let line, TimeRequest.keyID(ofSession: line.session) == id else { return nil }
    return ClockKey(line.peer.clockKey)
  }

  /// True if a welcome was awaited.
  mutating func welcomed(_ welcome: Welcome, leads: Bool = false, at now: LocalTime) -> Bool {
    guard case .greeting(let line, _) = state else { return false }
    state = .connected
    connected = ConnectedRoom(line, welcome: welcome, leads: leads, at: now)
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

  mutating func sent() {
    sentUpTo = max(sentUpTo, connected?.media?.nextSequence ?? 0)
    if let form = connected?.media?.form { sentForm = form }
  }

  /// A session that broke the protocol was not sound, however long it lasted.
  ///
  /// - Parameter trouble: where it is other than that the room cannot be reached.
  mutating func broke(_ reason: String, _ trouble: RoomTrouble? = nil, at now: LocalTime) {
    let isViolation = trouble == .misbehaving || trouble == .otherVersion
    let session = connected.flatMap { $0.media == nil || isViolation ? nil : now - $0.began }
    self.trouble = trouble ?? (connected == nil ? .unreachable : .gone)
    lastObstacle = reason
    state = .waiting(until: dialling.broke(session, at: now))
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

  /// Returns true once, if the session has just begun: a late `hello` of the process before may have ended it.
  mutating func mayBeOvertaken(at now: LocalTime) -> Bool {
    let isNew = connected.map { now < $0.began + Self.straggling } ?? false
    defer { wasOvertaken = wasOvertaken || isNew }
    return isNew && !wasOvertaken
  }

  mutating func replaced(_ reason: String, by holder: String) {
    state = .replaced
    (lastObstacle, trouble) = (reason, .taken(holder: holder))
  }

  /// True if the room has been silent for so long that its session is over.
  func isSilent(at now: LocalTime) -> Bool { connected.map { $0.giveUpTime <= now } ?? false }

  /// Nil where nothing is awaited; one that waits to be connected has no turn while the others are `isCrowded`.
  func deadline(isCrowded: Bool) -> LocalTime? {
    switch state {
    case .waiting: isCrowded ? nil : nextDeadline
    case .connecting, .greeting: nextDeadline
    case .connected: min(nextDeadline, starvationTime ?? nextDeadline)
    case .replaced: nil
    }
  }

  var nextDeadline: LocalTime {
    switch state {
    case .waiting(let until): until
    case .connecting(let giveUpAt), .greeting(_, let giveUpAt): giveUpAt
    case .connected: connected?.nextDeadline ?? LocalTime(nanoseconds: .max)
    case .replaced: LocalTime(nanoseconds: .max)
    }
  }
}
