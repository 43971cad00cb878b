import Clock

/// Finds out whether a link carries the music, while a room is sent its first packets. TCP measures what arrives within
/// half a second, long before the room's reports tell, so the room gets the small encoding before anything is missing.
struct LinkProbe {
  /// Music that a room is sent at most before its link is known: what is under way holds up all that follows.
  static let music = MediaDuration.milliseconds(400)
  /// A link that carries the music at no time of the second half of this is too slow. A TCP connection begins slowly, and
  /// doubles its rate with each round trip.
  static let time = Nanoseconds.milliseconds(500)
  /// A link that carries so many times what the music takes is good as soon as the room has all that it was sent.
  private static let ample = 1.5

  private enum Stage {
    /// The packets so far say nothing: a source may have had no more, or a room no space.
    case filling
    /// Packets wait for the network.
    case measuring(since: LocalTime)
    case over
  }

  private var stage = Stage.filling
  /// The highest rate that counts, as a multiple of what the music takes.
  private var best = 0.0
  private var isMeasured = false
  /// The room has reported that all packets have arrived. Shapers let the first few through much faster than the others, and
  /// TCP measures the handshake alone before that.
  private var hasArrived = false

  var isMeasuring: Bool { if case .measuring = stage { true } else { false } }

  /// True if a room that was sent so much music gets no more for now.
  func holdsBack(after music: MediaDuration) -> Bool {
    if case .over = stage { false } else { music >= Self.music }
  }

  /// Packets wait for the network, or for the end of the probe.
  mutating func waits(at now: LocalTime) {
    if case .filling = stage { stage = .measuring(since: now) }
  }

  mutating func end() { stage = .over }

  /// The room has received all that it was sent. Where nothing measures the connection, that is all there is to know.
  mutating func delivered() {
    guard isMeasuring else { return }
    hasArrived = true
    if !isMeasured { end() }
  }

  /// Takes a measurement of TCP. Returns true if the link is too slow.
  ///
  /// - Parameter share: bytes per second that arrive, as a multiple of what the music takes; 0 if not known.
  mutating func measured(_ share: Double, at now: LocalTime) -> Bool {
    guard case .measuring(let since) = stage else { return false }
    isMeasured = isMeasured || share > 0
    let span = now - since
    if span + span >= Self.time { best = max(best, share) }
    guard hasArrived && share >= Self.ample || span >= Self.time else { return false }
    end()
    return best > 0 && best < MediaDelivery.sufficient
  }
}
