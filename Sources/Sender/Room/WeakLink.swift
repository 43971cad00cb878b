import Clock

/// Decides from a room's reports which encoding it gets. Its link is weak if less music arrives than sounds, and the room
/// has little left, or if a `LinkProbe` has found that at the beginning. A weak link is tried again: while the room has much
/// music ahead, it gets the usual encoding, and if that is too much, it is back at the small one before anything is missing.
struct WeakLink {
  /// With more music than this ahead, a room can wait: what the socket and the network hold still arrives in time, at a
  /// third of the rate.
  static let leastLead = MediaDuration.seconds(8)
  /// Music that a room with a weak link must have for a start: what comes next takes as long where packets were lost.
  static let musicForStart = MediaDuration.seconds(1)
  /// Music that a room gets ahead at most until it knows its clock: more than it needs for a start, and less than a link that
  /// it fills would take to carry.
  static let musicForClock = MediaDuration.seconds(2)
  /// Music that a room must have ahead for a trial.
  static let leadForTrial = MediaDuration.seconds(15)
  /// Time from the beginning of a weakness to the first trial. It doubles with each trial that fails.
  static let firstPause = Nanoseconds.seconds(60)
  static let longestPause = Nanoseconds.seconds(1800)
  /// A trial has succeeded after this, and a room that is away is forgotten.
  static let memory = Nanoseconds.seconds(600)

  private enum Stage {
    case sound
    case weak(trialAt: LocalTime)
    case tried(since: LocalTime)
  }

  private var stage = Stage.sound
  private var pause = firstPause
  /// The time since which the room is away; nil while it is there.
  private var awaySince: LocalTime?

  /// True if the room is to get the small encoding.
  var isWeak: Bool { if case .weak = stage { true } else { false } }

  /// True if the small encoding must be there, so that the room can change to it at once.
  var needsSmall: Bool { if case .sound = stage { false } else { true } }

  /// The room is away. After ten minutes nothing is made for it any more, and its link is judged anew when it comes back.
  mutating func isAway(at now: LocalTime) {
    guard needsSmall else { return }
    let since = awaySince ?? now
    awaySince = since
    if now - since >= Self.memory { self = WeakLink() }
  }

  /// The link was found not to carry the music.
  mutating func failed(at now: LocalTime) {
    guard case .sound = stage else { return }
    pause = Self.firstPause
    stage = .weak(trialAt: now + pause)
  }

  /// - Parameters:
  ///   - isTooSlow: the link delivers less music than sounds.
  ///   - lead: music that the room has ahead.
  mutating func judge(isTooSlow: Bool, lead: MediaDuration, at now: LocalTime) {
    awaySince = nil
    switch stage {
    case .sound:
      if isTooSlow, lead < Self.leastLead { failed(at: now) }
    case .weak(let trialAt):
      if now >= trialAt, lead >= Self.leadForTrial { stage = .tried(since: now) }
    case .tried(let since):
      if isTooSlow {
        pause = min(pause + pause, Self.longestPause)
        stage = .weak(trialAt: now + pause)
      } else if now - since >= Self.memory {
        stage = .sound
      }
    }
  }
}
