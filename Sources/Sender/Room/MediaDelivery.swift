import Clock
import WireProtocol

/// How fast packets reach a room, as its reports of what it has taken tell: whether its network is slower than the music, and when
/// a packet that is sent now would be there. Measured over spans in which nothing but the network holds packets back.
struct MediaDelivery {
  /// A span this long gives a verdict.
  static let span = Nanoseconds.seconds(2)
  /// A verdict holds for this long if nothing confirms or contradicts it. It holds across cuts, for the network is the same.
  static let memory = Nanoseconds.seconds(30)
  /// Seconds of music that arrive in a second. With less than this the room falls behind by more than the measurement errs.
  private static let sufficient = 0.97
  /// A network that delivers nothing for longer than this is down rather than slow.
  private static let stall = Nanoseconds.milliseconds(1500)
  /// Some seconds of the smallest packets.
  static let limit = 1024
  /// A longer delay is not worth a guess.
  private static let longestDelay = Nanoseconds.seconds(10)

  private struct Sent {
    let end: MediaTime
    /// Sent on this connection up to the packet's end.
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

  /// The packet that is known to have arrived last, and those after it.
  private var sent: [Sent] = []
  private var generation: UInt32 = 0
  private var music = MediaDuration.zero
  private var last: Arrival?
  /// When a report last told of something new.
  private var grewAt: LocalTime?
  private var isBacklogged = false
  /// Where the present span began; nil while something else than the network holds packets back.
  private var start: Arrival?
  /// That the network is too slow.
  private var verdict: Verdict?

  /// Packets that are remembered.
  var count: Int { sent.count }

  /// `total` bytes have been sent, this packet included.
  mutating func sent(_ entry: PacketStore.Entry, total: UInt64) {
    if entry.generation != generation { start = nil }
    generation = entry.generation
    music = music + (entry.end - entry.mediaTime)
    if sent.count == Self.limit { sent.removeFirst(Self.limit / 2) }
    sent.append(Sent(end: entry.end, amount: Amount(bytes: total, music: music)))
  }

  /// Packets are sent again.
  mutating func goBack() {
    sent.removeAll()
    start = nil
  }

  /// Whether packets wait, and for nothing but the connection.
  mutating func backlog(_ exists: Bool) {
    isBacklogged = exists
    if !exists { start = nil }
  }

  /// The room has taken everything up to `end`.
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
    guard now - start.time >= Self.span else { return }
    judge(from: start, to: arrival)
    self.start = arrival
  }

  private mutating func judge(from start: Arrival, to end: Arrival) {
    let seconds = (end.time - start.time).seconds
    let progress = (end.amount.music - start.amount.music).seconds / seconds
    let bytes = Double(end.amount.bytes - start.amount.bytes)
    verdict =
      progress < Self.sufficient && bytes > 0
      ? Verdict(bytesPerSecond: bytes / seconds, time: end.time) : nil
  }

  /// Whether the network is slower than the music.
  func isTooSlow(at now: LocalTime) -> Bool {
    verdict.map { now - $0.time < Self.memory } ?? false
  }

  /// How long it takes until this byte of the connection is in the room; nil unless the network is too slow.
  func delay(ofByte byte: UInt64, at now: LocalTime) -> Nanoseconds? {
    guard isTooSlow(at: now), let verdict, let last else { return nil }
    let missing = byte > last.amount.bytes ? byte - last.amount.bytes : 0
    let seconds = min(
      Double(missing) / verdict.bytesPerSecond - (now - last.time).seconds,
      Self.longestDelay.seconds)
    return Nanoseconds(Int64(max(0, seconds) * 1e9))
  }
}
