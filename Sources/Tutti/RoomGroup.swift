internal import Clock
internal import Driver
internal import Sender
internal import WireProtocol

/// The rooms of a player or renderer: their members, their settings, and their synchronisation.
///
/// Every method may be called from any task, while music plays. Settings belong to the room, which keeps them when this
/// program is gone. Rooms that are not connected at that moment are skipped.
public struct RoomGroup: Sendable {
  let engine: GroupEngine

  /// Plays in this room as well: it joins the sound of the others as soon as it is ready, within a second. A room that
  /// cannot be reached is tried again and again. Does nothing if it plays already.
  ///
  /// - Throws: `TuttiError.roomUnavailable` for a room of this program that cannot be made, and for what is no address;
  ///   `closed`.
  public func add(_ room: Room) async throws(TuttiError) {
    try await engine.perform { loop in
      Result { () throws(TuttiError) in try loop.add(room) }
    }.get()
  }

  /// Removes a room: it falls silent at once, and the others play on.
  ///
  /// - Throws: `TuttiError.noSuchRoom`, `closed`.
  public func remove(_ id: Room.ID) async throws(TuttiError) {
    guard try await engine.perform({ $0.remove(id) }) else { throw .noSuchRoom }
  }

  /// Sets the volume.
  ///
  /// - Parameters:
  ///   - volume: 0 (silent) to 1 (full), perceptual: half is about half as loud.
  ///   - id: one room; nil for all.
  /// - Throws: `TuttiError.invalid` outside that range; `noSuchRoom`, `closed`.
  public func setVolume(_ volume: Double, of id: Room.ID? = nil) async throws(TuttiError) {
    guard (0...1).contains(volume) else { throw .invalid("a volume is 0 to 1, not \(volume)") }
    let level = UInt16((volume * 1000).rounded())
    try await set(id) { .volume($0, level) }
  }

  /// Sets the highest volume that a room takes from anybody. Its receiver keeps it, and turns the room down to it.
  ///
  /// - Parameters:
  ///   - limit: 0.01 to 1, on the scale of `setVolume`; 1 limits nothing.
  ///   - id: one room; nil for all.
  /// - Throws: `TuttiError.invalid` outside that range, and where the receiver's own user has fixed the limit;
  ///   `noSuchRoom`, `closed`.
  public func setVolumeLimit(_ limit: Double, of id: Room.ID? = nil) async throws(TuttiError) {
    guard (0.01...1).contains(limit) else {
      throw .invalid("a volume limit is 0.01 to 1, not \(limit)")
    }
    let level = UInt16((limit * 1000).rounded())
    try await set(id) { .volumeLimit($0, level) }
  }

  /// Fades to silence, or back.
  ///
  /// - Throws: `TuttiError.noSuchRoom`, `closed`.
  public func setMuted(_ isMuted: Bool, of id: Room.ID? = nil) async throws(TuttiError) {
    try await set(id) { .mute($0, isMuted) }
  }

  /// Sets the delay.
  ///
  /// - Parameters:
  ///   - delay: positive sounds later, for example for a speaker that stands nearer; within ±2 s.
  ///   - id: one room; nil for all.
  /// - Throws: `TuttiError.invalid` outside that range; `noSuchRoom`, `closed`.
  public func setDelay(_ delay: Duration, of id: Room.ID? = nil) async throws(TuttiError) {
    let span = Nanoseconds(delay.wholeNanoseconds)
    guard ProtocolLimits.roomDelay.contains(span.count) else {
      throw .invalid("a delay is -2 to 2 seconds, not \(span.seconds)")
    }
    try await set(id) { .delay($0, span) }
  }

  /// Chooses which of two channels a room plays: a pair of rooms can be the left and the right speaker.
  ///
  /// - Throws: `TuttiError.noSuchRoom`, `closed`.
  public func setChannels(
    _ channels: RoomStatus.Channels, of id: Room.ID? = nil
  ) async throws(TuttiError) {
    try await set(id) { .channelMap($0, channels.map) }
  }

  /// Sets the sound that rooms keep: equalizer, tone, crossfeed for headphones, crossover. It takes over while music
  /// plays, without a click, and the rooms stay in step.
  ///
  /// - Parameters:
  ///   - sound: in place of all that is set.
  ///   - id: one room; nil for all.
  /// - Throws: `TuttiError.invalid` for a value outside its range, and if a room keeps no sound or has no FIR filter to
  ///   use; then none is changed. `noSuchRoom`, `closed`.
  public func setSound(_ sound: RoomSound, of id: Room.ID? = nil) async throws(TuttiError) {
    let change = try sound.checked()
    try await set(id) { .sound($0, change) }
  }

  /// Returns the state of the group at this instant.
  ///
  /// - Throws: `TuttiError.closed`.
  public func status() async throws(TuttiError) -> PlaybackStatus {
    try await engine.perform { loop in
      PlaybackStatus(loop.driver.status(), name: loop.id)
    }
  }

  private func set(
    _ id: Room.ID?, _ command: @escaping @Sendable (RoomSelection) -> PlayerCommand
  ) async throws(TuttiError) {
    let reply = try await engine.perform { loop in
      loop.selection(id).map { loop.driver.carryOut(command($0)) }
    }
    guard let reply else { throw .noSuchRoom }
    _ = try reply.mapError(TuttiError.init).get()
  }
}
