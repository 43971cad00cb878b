package import Clock
import WireProtocol

/// Measures from a room's reports how fast packets reach it: whether its network is slower than the music, and when a
/// packet that is sent now will be there. Measures over spans in which nothing but the network holds packets back.
package struct MediaDelivery {
  /// Length of a span that allows a verdict.
  static let span = Nanoseconds.seconds(2)
  /// A verdict holds for this long if nothing confirms or contradicts it. It holds across cuts, because the network is
  /// the same.
  static let memory = Nanoseconds.seconds(30)
  /// Seconds of music that must arrive per second. With less, the room falls behind by more than the error of
  /// measurement.
  static let sufficient = 0.97
  /// A network that delivers nothing for longer than this is down, not slow.
  private static let stall = Nanoseconds.milliseconds(1500)
  /// Packets to remember: some seconds of the smallest ones.
  static let limit = 1024
  /// Longest delay to predict. A longer one is not worth a guess.
  package static let longestDelay = Nanoseconds.seconds(10)

  private struct Sent {
    let end: MediaTime
    /// Bytes and music sent on this connection, up to the packet's end.
    let amount: Amount
  }

  private struct Amount {
    var bytes: UInt64 = 0
    var music = MediaDuration.zero
  }

  private struct Arrival {
    let amount: Amount
    let time: LocalTime
  }

  private struct Verdict {
    let bytesPerSecond: Double
    let time: LocalTime
  }

  /// The last packet that is known to have arrived, and those after it.
  private var sent: [Sent] = []
  private var generation: UInt32 = 0
  /// Music sent on this connection.
  private(set) var music = MediaDuration.zero
  private var last: Arrival?
  /// Time of the last report of new arrivals.
  private var grewAt: LocalTime?
  private var isBacklogged = false
  /// Beginning of the present span; nil while something other than the network holds packets back.
  private var start: Arrival?
  /// Set if the network is too slow.
  private var verdict: Verdict?

  /// Number of remembered packets.
  var count: Int { sent.count }

  /// Records that a packet was sent. `total` is the number of bytes sent so far, including this packet.
  mutating func sent(_ entry: PacketStore.Entry, total: UInt64) {
    if entry.generation != generation { start = nil }
    generation = entry.generation
    music = music + (entry.end - entry.mediaTime)
    if sent.count == Self.limit { sent.removeFirst(Self.limit / 2) }
    sent.append(Sent(end: entry.end, amount: Amount(bytes: total, music: music)))
  }

  /// Packets are sent again, from an earlier one on.
  mutating func goBack() {
    sent.removeAll()
    start = nil
  }

  /// Says whether packets wait, and for nothing but the connection.
  mutating func backlog(_ exists: Bool) {
    isBacklogged = exists
    if !exists { start = nil }
  }

  /// The room has received everything up to `end`.
  mutating func delivered(until end: MediaTime, at now: LocalTime) {
    guard let index = sent.firstIndex(where: { $0.end == end }) else { return }
    let arrival = Arrival(amount: sent[index].amount, time: now)
    sent.removeFirst(index)
    let isNew = arrival.amount.bytes > last?.amount.bytes ?? 0
    let isStalled = grewAt.map { now - $0 > Self.stall } ?? true
    if isNew { grewAt = now }
    last = arrival
    guard isBacklogged, !isStalled, let start else {
      start = isBacklogged ? arrival : nil
      return
    }
    if isRefuted(from: start, to: arrival) { verdict = nil }
    guard now - start.time >= Self.span else { return }
    judge(from: start, to: arrival)
    self.start = arrival
  }

  /// True if so much has arrived that the network is a faster one now: more than it was held up.
  private func isRefuted(from start: Arrival, to end: Arrival) -> Bool {
    guard let verdict else { return false }
    let seconds = max(1, (end.time - start.time).seconds)
    return Double(end.amount.bytes - start.amount.bytes) > 2 * verdict.bytesPerSecond * seconds
  }

  private mutating func judge(from start: Arrival, to end: Arrival) {
    let seconds = (end.time - start.time).seconds
    let progress = (end.amount.music - start.amount.music).seconds / seconds
    let bytes = Double(end.amount.bytes - start.amount.bytes)
    verdict =
      progress < Self.sufficient && bytes > 0
      ? Verdict(bytesPerSecond: bytes / seconds, time: end.time) : nil
  }

  /// True if the network is slower than the music.
  func isTooSlow(at now: LocalTime) -> Bool {
    verdict.map { now - $0.time < Self.memory } ?? false
  }

  /// Bytes per second that arrive; nil unless the network was too slow when it was measured last.
  var slowRate: Int? { verdict.map { max(1, Int(min($0.bytesPerSecond, 1e9))) } }

  /// Returns the time until this byte of the connection is in the room; nil unless the network is too slow.
  func delay(ofByte byte: UInt64, at now: LocalTime) -> Nanoseconds? {
    guard isTooSlow(at: now), let verdict, let last else { return nil }
    let missing = byte > last.amount.bytes ? byte - last.amount.bytes : 0
    let seconds = min(
      Double(missing) / verdict.bytesPerSecond - (now - last.time).seconds,
      Self.longestDelay.seconds)
    return Nanoseconds(Int64(max(0, seconds) * 1e9))
  }
}
