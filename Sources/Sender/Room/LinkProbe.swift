import Clock

/// Finds out whether a link carries the music, while a room is sent its first packets. TCP acknowledges what arrives, long
/// before the room's reports tell, so the room gets the small encoding before anything is missing. A room reports once a
/// second, and TCP's own rate is of no use here: while there is little to send, it stays at its fastest moment.
struct LinkProbe {
  /// Music that a room is sent at most before its link is known: what is under way holds up all that follows.
  static let music = MediaDuration.milliseconds(400)
  /// A link is judged after this by what has arrived until then. A TCP connection begins slowly, and doubles its rate
  /// with each round trip.
  static let time = Nanoseconds.milliseconds(500)
  /// Bytes that arrive before this do not count: shapers let the first few packets through at once.
  static let burstTime = Nanoseconds.milliseconds(50)

  private enum Stage {
    /// The packets so far say nothing: a source may have had no more, or a room no space.
    case filling
    /// Packets wait for the network.
    case measuring(since: LocalTime)
    case over
  }

  private struct Arrival {
    let bytes: Int
    let time: LocalTime
  }

  private var stage = Stage.filling
  /// The beginning of the measurement, and the last look at which more had arrived than before.
  private var first: Arrival?
  private var last: Arrival?
  private var isMeasured = false

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

  /// The room has reported all that it was sent. Where nothing measures the connection, that is all there is to know.
  mutating func delivered() {
    if isMeasuring, !isMeasured { end() }
  }

  /// Takes the number of acknowledged bytes. Returns true if the link is too slow.
  ///
  /// - Parameter needed: bytes per second that the music takes.
  mutating func measured(
    _ arrived: Int, of sent: Int, needed: Double, at now: LocalTime
  ) -> Bool {
    guard case .measuring(let since) = stage else { return false }
    isMeasured = true
    let span = now - since
    if first == nil, span >= Self.burstTime {
      // No burst is half of it. Such a link is fast, and may have lost a packet, which is repeated after 200 ms.
      let isFast = arrived >= sent - arrived
      first = isFast ? Arrival(bytes: 0, time: since) : Arrival(bytes: arrived, time: now)
    }
    if arrived > last?.bytes ?? 0 { last = Arrival(bytes: arrived, time: now) }
    guard arrived >= sent || span >= Self.time else { return false }
    end()
    guard let first else { return false }
    let time = ((last?.time ?? now) - first.time).seconds
    let bytes = Double((last?.bytes ?? 0) - first.bytes)
    return bytes <= 0 || bytes < time * needed * MediaDelivery.sufficient
  }
}
