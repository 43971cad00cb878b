import Clock

/// A place to go on from, in the stead of everything that is enqueued: what a seek, a skip, a change of effects and an edit
/// come to. At most one is pending, as the newest is what the listener wants. Decides when rooms hear of it.
struct Restart {
  /// Restarts that follow each other faster than this are one: a listener who drags a slider wants the last place.
  private static let interval = Nanoseconds.milliseconds(40)
  /// How long an answer is waited for that would save a cut.
  private static let answerPatience = Nanoseconds.milliseconds(100)
  /// Edits that follow each other this fast are one.
  private static let editInterval = Nanoseconds.milliseconds(5)

  struct Target {
    var item: PlayItem
    var position: MediaDuration
    /// The same place, or what has followed it by then, wherever that is at the cut.
    var isThere = false
  }

  enum Step {
    /// Until `deadline`, or until an order is answered.
    case wait
    /// Nothing is there yet behind the cut that was made last: another place is put there, and no room hears of it.
    case replace
    case cut
  }

  /// Asked for while the last one is not carried out, or has just been.
  private(set) var target: Target?
  private(set) var deadline: LocalTime?
  private var cutAt: LocalTime?
  /// When the list is compared with what is enqueued, after an edit.
  private(set) var reconcileTime: LocalTime?

  var isPending: Bool { target != nil || reconcileTime != nil }

  mutating func ask(for target: Target) { self.target = target }

  mutating func forget() { (target, deadline) = (nil, nil) }

  mutating func edited(at now: LocalTime) {
    reconcileTime = reconcileTime ?? now + Self.editInterval
  }

  /// An edit can be looked at now that could not be before.
  mutating func reconcile(at now: LocalTime) { reconcileTime = now }

  /// True once after an edit, when it is to be looked at.
  mutating func takeEdit(at now: LocalTime) -> Bool {
    guard let time = reconcileTime, time <= now else { return false }
    reconcileTime = nil
    return true
  }

  /// How the target is carried out; it is forgotten unless it has to wait.
  /// - Parameters:
  ///   - isAtCut: whether a cut made now would lie where the last one does, behind which there is nothing yet.
  ///   - isIdle: whether the producer has answered all orders.
  ///   - room: when the rooms can keep the anchors that a cut brings, if they cannot now.
  mutating func nextStep(
    isAtCut: Bool, isIdle: Bool, room: LocalTime?, at now: LocalTime
  ) -> Step {
    deadline = nil
    if isAtCut, isIdle {
      target = nil
      return .replace
    }
    deadline = wait(isAtCut: isAtCut, room: room, at: now)
    guard deadline == nil else { return .wait }
    target = nil
    cutAt = now
    return .cut
  }

  /// The answer to the order under way wakes the session; but a source may wait for its network for ever.
  private mutating func wait(isAtCut: Bool, room: LocalTime?, at now: LocalTime) -> LocalTime? {
    if isAtCut {
      let since = cutAt ?? now
      cutAt = since
      return now < since + Self.answerPatience ? since + Self.answerPatience : nil
    }
    if let cutAt, now < cutAt + Self.interval { return cutAt + Self.interval }
    return room
  }
}
