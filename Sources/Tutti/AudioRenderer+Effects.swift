internal import Clock
internal import Sender

/// Pitch and filters. They act in the middle of what sounds, about a third of a second after the call: what the rooms hold
/// is replaced without a gap, and nothing need be enqueued again. Times stay those of the timeline.
extension AudioRenderer {
  /// Plays higher or lower at the same speed.
  ///
  /// - Parameter semitones: -12 to 12, also fractions; 0 is as enqueued.
  /// - Returns: when that is heard; the instant of the call while time stands still, for what sounds then.
  /// - Throws: `TuttiError.invalid` outside that range, and for a renderer with a latency; `unavailable` without FFmpeg's
  ///   filters; `closed`.
  @discardableResult
  public func setPitch(_ semitones: Double) async throws(TuttiError) -> HostTime {
    try Effects.check(pitch: semitones)
    return try await change { $0.pitch = semitones }
  }

  /// Filters all that is enqueued, in this order; an empty array leaves it unchanged.
  ///
  /// - Parameter filters: at most 16.
  /// - Returns: as `setPitch`.
  /// - Throws: `TuttiError.invalid` for more, for a value outside its range, and for a renderer with a latency;
  ///   `unavailable` without FFmpeg's filters; `closed`.
  @discardableResult
  public func setFilters(_ filters: [SoundFilter]) async throws(TuttiError) -> HostTime {
    let checked = try Effects.checked(filters)
    return try await change { $0.filters = checked }
  }

  private func change(
    _ change: @escaping @Sendable (inout Effects) -> Void
  ) async throws(TuttiError) -> HostTime {
    try checkTimeline()
    var wish = Effects()
    change(&wish)
    try wish.check()
    return try await perform { loop, queue in
      var effects = loop.session.effects
      change(&effects)
      return loop.change(queue, to: effects)
    }
  }
}

extension RenderGroup {
  /// Lets what is enqueued sound with these effects, from the first instant at which the rooms have it with them. While
  /// time stands still, from where it stands.
  func change(_ queue: SampleQueue, to effects: Effects) -> HostTime {
    guard let point = schedule(queue) else {
      run(queue, with: effects, from: .zero, at: HostTime(now))
      return HostTime(now)
    }
    let earliest = HostTime(now) + Duration(session.status(at: now).outputLatency)
    var instant = earliest + RenderMargins.change
    if let end = session.suppliedUntil(at: now) {
      instant = max(earliest, min(instant, HostTime(end)))
    }
    instant = max(instant, point.hostTime)
    run(queue, with: effects, from: point.time(at: instant), at: instant)
    return instant
  }
}

extension Effects {
  /// - Throws: `TuttiError.invalid` outside of the range.
  static func check(pitch semitones: Double) throws(TuttiError) {
    guard pitches.contains(semitones) else {
      throw .invalid("a pitch is -12 to 12 semitones, not \(semitones)")
    }
  }

  /// - Throws: `TuttiError.invalid` for too many, and for a value outside its range.
  static func checked(_ filters: [SoundFilter]) throws(TuttiError) -> [Sender.SoundFilter] {
    guard filters.count <= filterLimit else {
      throw .invalid("there are at most \(filterLimit) filters, not \(filters.count)")
    }
    var checked: [Sender.SoundFilter] = []
    for filter in filters { checked.append(try filter.checked()) }
    return checked
  }
}
