import Clock
import WireProtocol

/// A room while its session lasts.
struct ConnectedRoom {
  let line: RoomLink.Line
  var welcome: Welcome
  private(set) var status: RoomStatus?
  /// The time at which the status came; that of the session's beginning before the first.
  private(set) var statusTime: LocalTime
  /// The media time up to which it held audio as it came, by its first status; nil before that.
  private(set) var heldUntil: MediaTime?
  /// True once it has said that it can play, for which it must know its clock.
  private var wasReady = false
  /// When the status gets old: it is told once a second. Nil once that was noted.
  private var statusIsGoodUntil: LocalTime?
  var toldState: ToldState?
  /// A room says how it is once a second, so what is not told of a room that changes all the time is told soon.
  private var tellings = RateLimit(perSecond: 2, burst: tellingBurst)
  /// Changes that may follow each other at once.
  private static let tellingBurst: Int64 = 10
  /// A room that starves before this does so because of what it was told, or because there was nothing to send.
  private(set) var starvationCountsFrom: LocalTime
  /// As it has said them, or was told them last.
  private(set) var settings: RoomSettings
  /// When it was told them; nil if it has said them.
  private var settingsTime: LocalTime?
  /// The announcements that it has.
  var announced = AnnouncedItems()
  /// Nil while the media connection is not open.
  var media: MediaFlow?
  var livePath = LivePath()
  /// The packet with which it goes on behind what another process has sent it; nil if it goes on as any other room does.
  var seam: UInt64?
  let began: LocalTime
  private var lastHeard: LocalTime
  private(set) var nextKeepAlive: LocalTime
  /// Longest silence of this side.
  private let keepAliveInterval: Nanoseconds

  /// - Parameter leads: true if the room must notice soon when this side is gone.
  init(_ line: RoomLink.Line, welcome: Welcome, leads: Bool = false, at now: LocalTime) {
    self.line = line
    keepAliveInterval =
      leads ? ProtocolLimits.leaderKeepAliveInterval : ProtocolLimits.keepAliveInterval
    self.welcome = welcome
    (began, statusTime) = (now, now)
    starvationCountsFrom = now + Self.starvationGrace
    settings = welcome.settings
    lastHeard = now
    nextKeepAlive = now + keepAliveInterval
    statusIsGoodUntil = now + Self.statusLife
  }

  /// Time that a message takes to a room, and a status from there.
  private static let settingsWay = Nanoseconds.milliseconds(250)

  /// True unless it was told settings of which it is not known whether they have reached it.
  var hasTakenSettings: Bool {
    settingsTime.map { statusTime >= $0 + Self.settingsWay } ?? true
  }

  mutating func told(_ settings: RoomSettings, at now: LocalTime) {
    (self.settings, settingsTime) = (settings, now)
  }

  /// A status that is older than this is shown as such.
  static let statusLife = Nanoseconds.seconds(3)

  mutating func told(_ status: RoomStatus, at now: LocalTime) {
    (self.status, statusTime) = (status, now)
    heldUntil = heldUntil ?? status.bufferedUntil
    wasReady = wasReady || [.ready, .playing, .paused].contains(status.state)
    statusIsGoodUntil = now + Self.statusLife
  }

  /// True once if the room has said nothing of its state for too long. The session goes on if other messages come.
  mutating func marksStatusOld(at now: LocalTime) -> Bool {
    guard let end = statusIsGoodUntil, end <= now else { return false }
    statusIsGoodUntil = nil
    status?.detail = "its status has not come for a while"
    return true
  }

  func keepAliveIsDue(at now: LocalTime) -> Bool { nextKeepAlive <= now }

  var nextDeadline: LocalTime {
    min(giveUpTime, nextKeepAlive, statusIsGoodUntil ?? nextKeepAlive)
  }

  /// Longest time that the first packets after a change take to a room.
  private static let starvationGrace = Nanoseconds.milliseconds(500)

  /// Excuses lacking music for a moment. A room with a delay needs audio that lies farther back or ahead by the delay.
  mutating func excuseStarvation(at now: LocalTime, delayedBy change: Nanoseconds = .zero) {
    let span = Nanoseconds(abs(settings.delay.count) + abs(change.count))
    starvationCountsFrom = max(starvationCountsFrom, now + Self.starvationGrace + span)
  }

  /// Time before a change at which the room must hear of it; nil until the room has said so. It is limited, so that one
  /// room with an absurd figure does not make all others wait.
  var horizon: Nanoseconds? { status.map { min($0.commitHorizon, RoomSet.longestHorizon) } }

  /// A new room knows its clock by then, or will not know it for want of time packets.
  private static let settlingTime = Nanoseconds.seconds(10)

  /// True if it is new, and was not ready yet: time packets wait behind all music that it is sent.
  func waitsForClock(at now: LocalTime) -> Bool {
    !wasReady && status?.state == .priming && now < began + Self.settlingTime
  }

  /// The music that it needs ahead of the group for `music` ahead of what it is to play, which its delay makes earlier or later.
  func lead(of music: MediaDuration) -> MediaDuration {
    music + MediaDuration(max(.zero, -settings.delay))
  }

  /// True if one more change of its state may be told. A change that repeats what was told counts as well.
  mutating func isToldOf(at now: LocalTime) -> Bool { tellings.admits(at: now) }

  var giveUpTime: LocalTime { lastHeard + ProtocolLimits.silence }
  mutating func heard(at now: LocalTime) { lastHeard = now }
  mutating func spoke(at now: LocalTime) { nextKeepAlive = now + keepAliveInterval }
}
