internal import Sender
internal import Synchronization
internal import WireProtocol

/// The volume of a player or renderer, apart from its rooms'.
final class VolumeBox: Sendable {
  private let state = Mutex(StreamVolume.full)

  var volume: Double { Double(state.withLock { $0.volume }) / 1000 }
  var isMuted: Bool { state.withLock { $0.isMuted } }

  fileprivate func change(_ change: (inout StreamVolume) -> Void) -> StreamVolume {
    state.withLock { volume in
      change(&volume)
      return volume
    }
  }

  func set(_ volume: Double, in engine: GroupEngine) async throws(TuttiError) {
    guard (0...1).contains(volume) else { throw .invalid("a volume is 0 to 1, not \(volume)") }
    try await engine.answer { [self] loop in
      loop.carryOut(.streamVolume(change { $0.volume = UInt16((volume * 1000).rounded()) }))
    }
  }

  func set(isMuted: Bool, in engine: GroupEngine) async throws(TuttiError) {
    try await engine.answer { [self] loop in
      loop.carryOut(.streamVolume(change { $0.isMuted = isMuted }))
    }
  }

  /// Rooms go from one step to the next in a ramp of their own.
  private static let step = Duration.milliseconds(40)

  /// Goes to a volume in steps, in the caller's task.
  func fade(
    to end: Double, over duration: Duration, in engine: GroupEngine
  ) async throws(TuttiError) {
    guard (0...1).contains(end) else { throw .invalid("a volume is 0 to 1, not \(end)") }
    let (start, begin) = (volume, HostTime.now)
    var share = 0.0
    while share < 1 {
      if Task.isCancelled { throw .cancelled }
      share = duration > .zero ? min(1, (HostTime.now - begin) / duration) : 1
      try await set(start + (end - start) * share, in: engine)
      guard share < 1 else { return }
      do { try await Task.sleep(for: Self.step) } catch { throw .cancelled }
    }
  }
}

extension Player {
  /// Volume of this player, 0 (silent) to 1 (full), perceptual, on top of its rooms' own. No room remembers it.
  public var volume: Double { streamVolume.volume }

  public var isMuted: Bool { streamVolume.isMuted }

  /// Fades to a volume, in all rooms at once. `rooms.setVolume` sets the rooms' own, for the whole household.
  ///
  /// - Throws: `TuttiError.invalid` outside 0 to 1; `closed`.
  public func setVolume(_ volume: Double) async throws(TuttiError) {
    try await streamVolume.set(volume, in: engine)
  }

  /// Fades to silence, or back; time continues.
  ///
  /// - Throws: `TuttiError.closed`.
  public func setMuted(_ isMuted: Bool) async throws(TuttiError) {
    try await streamVolume.set(isMuted: isMuted, in: engine)
  }

  /// Goes to a volume within a time, as for a sleep timer, and waits for it. Cancelling the task leaves the volume where it
  /// is by then.
  ///
  /// - Throws: `TuttiError.invalid` outside 0 to 1; `cancelled` with the task; `closed`.
  public func fade(to volume: Double, over duration: Duration) async throws(TuttiError) {
    try await streamVolume.fade(to: volume, over: duration, in: engine)
  }
}

extension AudioRenderer {
  /// Volume of this renderer, 0 (silent) to 1 (full), perceptual, on top of its rooms' own. No room remembers it.
  public var volume: Double { streamVolume.volume }

  public var isMuted: Bool { streamVolume.isMuted }

  /// Fades to a volume, in all its rooms at once. It is multiplied with the rooms' own volumes, which `rooms.setVolume`
  /// sets for the whole household.
  ///
  /// - Throws: `TuttiError.invalid` outside 0 to 1; `closed`.
  public func setVolume(_ volume: Double) async throws(TuttiError) {
    try await streamVolume.set(volume, in: engine)
  }

  /// Fades to silence, or back; time continues.
  ///
  /// - Throws: `TuttiError.closed`.
  public func setMuted(_ isMuted: Bool) async throws(TuttiError) {
    try await streamVolume.set(isMuted: isMuted, in: engine)
  }

  /// Goes to a volume within a time, and waits for it. Cancelling the task leaves the volume where it is by then.
  ///
  /// - Throws: `TuttiError.invalid` outside 0 to 1; `cancelled` with the task; `closed`.
  public func fade(to volume: Double, over duration: Duration) async throws(TuttiError) {
    try await streamVolume.fade(to: volume, over: duration, in: engine)
  }
}
