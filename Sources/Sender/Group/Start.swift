import Clock

/// Decides when a group begins to play: when its rooms are ready, at a given time, or not before somebody resumes it.
enum Start {
  /// Waits for `resume`. `isPause` is true if somebody has paused the group, and was told so.
  case held(isPause: Bool)
  /// Waits for the rooms, and for `earliest`. From `deadline` on, rooms that are not ready hold up nobody; nil while all
  /// are ready, and while none is.
  case open(earliest: GroupTime? = nil, deadline: LocalTime? = nil)

  var isHeld: Bool { if case .held = self { true } else { false } }

  /// The group does not play before this time, though all rooms are ready.
  var earliest: GroupTime? { if case .open(let earliest, _) = self { earliest } else { nil } }

  var deadline: LocalTime? { if case .open(_, let deadline) = self { deadline } else { nil } }

  /// Returns true if the group can begin now.
  ///
  /// - Parameter grace: Time that a room may take to get ready after the first one was.
  mutating func isDue(
    someRoomIsReady: Bool, allAreReady: Bool, grace: Nanoseconds, at now: LocalTime
  ) -> Bool {
    guard case .open(let earliest, let known) = self else { return false }
    let deadline = someRoomIsReady && !allAreReady ? known ?? now + grace : nil
    self = .open(earliest: earliest, deadline: deadline)
    return someRoomIsReady && deadline.map { $0 <= now } ?? true
  }
}
