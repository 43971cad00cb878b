package import Clock

/// When a command is heard, for those who wait for it.
extension GroupSession {
  package enum Hearing: Hashable, Sendable {
    /// The rooms do not play yet, or have no audio of it.
    case coming
    /// From this time of the machine's clock on, in all rooms.
    case at(LocalTime)
    /// It is carried out, and time stands still: nothing is heard.
    case silent
  }

  /// The media time at which the place, or the effects, that were asked for last begin. Nil while they are not carried
  /// out, and before anything was asked for.
  package var chosenPlace: MediaTime? { hasChoice ? nil : timeline.cuts.last?.from }

  /// True if a place or effects were asked for, and the rooms have not heard of it.
  package var hasChoice: Bool { restart.target != nil }

  /// When the audio at `place`, which a cut began, is heard.
  package func hearing(of place: MediaTime, at local: LocalTime) -> Hearing {
    let now = clock.continuous(local)
    let isEnd = timeline.end.map { $0 <= place } ?? false
    switch timeline.state {
    case .starting where start.isHeld: return .silent
    // Rooms get ready, and no anchor says yet when they begin.
    case .starting(let first) where first <= place && !isEnd: return .coming
    case .paused(let anchor) where anchor.mediaTime <= place: return .silent
    case .holding(let anchor) where anchor.mediaTime <= place: return .coming
    case .starting, .paused, .holding, .playing: break
    }
    guard isEnd || store.end.map({ $0 > place }) ?? false else { return .coming }
    if let time = timeline.groupTime(of: place) {
      return .at(clock.machine(LocalTime(onSender: time)))
    }
    // The anchors of that time are forgotten.
    return mediaTime(at: now) >= place ? .at(local) : .coming
  }

  /// When a start that was asked for is heard.
  package func hearingOfStart(at local: LocalTime) -> Hearing {
    switch timeline.state {
    case .starting: isStopped(at: clock.continuous(local)) || start.isHeld ? .silent : .coming
    case .holding: .coming
    case .paused: .silent
    case .playing(let anchor): .at(clock.machine(LocalTime(onSender: anchor.groupTime)))
    }
  }
}
