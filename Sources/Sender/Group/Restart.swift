import Clock

/// A place to go on from that replaces everything enqueued: the result of a seek, a skip, a change of effects or an edit.
/// At most one is pending, because the newest is what the listener wants. Decides when rooms hear of it.
struct Restart {
  /// Restarts that follow each other faster than this are one: a listener who drags a slider wants the last place.
  private static let interval = Nanoseconds.milliseconds(40)
  /// Longest wait for an answer that would save a cut.
  private static let answerTimeout = Nanoseconds.milliseconds(100)
  /// Edits that follow each other this fast are one.
  private static let editInterval = Nanoseconds.milliseconds(5)
  /// Longest time that the old sound plays on at a change of effects.
  private static let longestLead = Nanoseconds.seconds(2)

  struct Target {
    var item: PlayItem
    var position: MediaDuration
    /// The same place, or what has followed it by then, wherever that is at the cut.
    var isThere = false
    /// The same sound, with other effects: the old one plays on until the new one is there.
    var isChange = false
    /// The new sound depends on seconds of what follows.
    var looksAhead = false
    /// `position` counts from where somebody has left the item, if there is such a place.
    var resumes = false
  }

  enum Step {
    /// Until `deadline`, or until an order is answered.
    case wait
    /// Nothing is there yet behind the cut that was made last: another place is put there, and no room hears of it.
    case replace
    case cut
  }

  /// True if the group goes on nowhere until somebody chooses an item.
  var isHalted = false
  /// Asked for while the last one is not carried out, or has just been.
  private(set) var target: Target?
  private(set) var deadline: LocalTime?
  private var cutAt: LocalTime?
  /// How far ahead effects change, so that the sound with them is in the rooms by then. Those that look at seconds of what
  /// follows, as one does that finds out the loudness, take longer.
  private var leads = (plain: Nanoseconds.milliseconds(250), looking: Nanoseconds.seconds(1))
  private var changeCut: (place: MediaTime, looksAhead: Bool)?
  /// When the list is compared with what is enqueued, after an edit.
  private(set) var reconcileTime: LocalTime?

  var isPending: Bool { target != nil || reconcileTime != nil }

  mutating func ask(for target: Target) { self.target = target }

  mutating func forget() { (target, deadline) = (nil, nil) }

  mutating func began(_ target: Target, from time: MediaTime) {
    changeCut = target.isChange ? (time, target.looksAhead) : nil
  }

  /// The rooms stand still at a cut. Where effects change there, opening took longer than was thought, and the next change
  /// gets more time.
  mutating func stoodStill(at cut: MediaTime) {
    guard let change = changeCut, change.place == cut else { return }
    changeCut = nil
    let before = lead(of: change.looksAhead)
    let lead = min(before + before, Self.longestLead)
    if change.looksAhead { leads.looking = lead } else { leads.plain = lead }
  }

  func lead(of target: Target) -> Nanoseconds { lead(of: target.looksAhead) }

  private func lead(of looksAhead: Bool) -> Nanoseconds {
    looksAhead ? max(leads.looking, leads.plain) : leads.plain
  }

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
  ///   - awaited: until when the sound of a change that was made last may still come in time: another one follows it.
  ///   - room: when the rooms can keep the anchors that a cut brings, if they cannot now.
  mutating func nextStep(
    isAtCut: Bool, isIdle: Bool, awaited: LocalTime?, room: LocalTime?, at now: LocalTime
  ) -> Step {
    deadline = awaited.flatMap { now < $0 ? $0 : nil }
    guard deadline == nil else { return .wait }
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
      return now < since + Self.answerTimeout ? since + Self.answerTimeout : nil
    }
    if let cutAt, now < cutAt + Self.interval { return cutAt + Self.interval }
    return room
  }
}
