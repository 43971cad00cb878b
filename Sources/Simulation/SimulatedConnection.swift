import Clock
import Sender
import WireProtocol

/// A TCP connection: two ordered streams of bytes that lose nothing, but wait.
final class SimulatedConnection {
  enum Payload {
    case bytes([UInt8])
    /// A flush or an anchor has arrived completely: for the microphone, which must know from when on it
    /// applies.
    case flushEnd(generation: UInt32)
    case anchorEnd(Anchor)
    /// The end; nothing comes after it.
    case end(reason: String)

    var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  /// One direction.
  struct Stream {
    /// Bytes that were sent and have not arrived.
    var undelivered = 0
    /// Arrival of the newest segment; no later one arrives before it.
    var lastArrival = TrueTime.zero
    /// Payloads that should have arrived while the network was down, in order.
    var held: [Payload] = []
    var isEnded = false
  }

  let id: Int
  /// The sender's number of the connection.
  let senderID: RoomConnectionID
  let room: Int
  let channel: Channel
  /// The daemon that has made it, and its term.
  let daemon: Int
  let term: Term
  var isEstablished = false
  /// True if the room has begun its session.
  var isWelcome = false
  var down = Stream()
  var up = Stream()
  /// True while each program holds its end.
  var senderHolds = true
  var receiverHolds = true
  /// Bytes that the sender's program has sent and that may not leave yet.
  var outgoing = OutgoingQueue()
  var path = PathMeter()
  /// True if bytes wait here, rather than in the link, while its queue is full (`LinkQuality.queue`).
  var hasBoundedQueue = false

  init(
    id: Int, senderID: RoomConnectionID, room: Int, channel: Channel, daemon: Int = 0,
    term: Term = 0
  ) {
    (self.daemon, self.term) = (daemon, term)
    self.id = id
    self.senderID = senderID
    self.room = room
    self.channel = channel
  }

  /// Bytes that the sender's program still has to give to its kernel, whose own buffer takes this many.
  static let kernelBuffer = 128 << 10
  /// Bytes that it takes ahead of what the network takes, as the driver's sockets are set.
  private static let unsentLimit = 32 << 10
  /// Bytes in that buffer.
  var unacknowledged: Int { min(down.undelivered + unsent, Self.kernelBuffer) }
  /// Bytes that the kernel keeps because the link's queue is full.
  private var unsent: Int {
    hasBoundedQueue ? min(outgoing.bytes.count, Self.unsentLimit) : 0
  }
  var queuedBytes: Int {
    outgoing.bytes.count - unsent + max(0, down.undelivered + unsent - Self.kernelBuffer)
  }
}

/// Bytes that leave in turns and no faster than a rate, as the reactor and the kernel let them.
struct OutgoingQueue {
  private(set) var bytes: [UInt8] = []
  /// Bytes that may still leave in this turn; nil for no limit.
  private var turn: Int?
  /// Bytes per second; nil for no limit.
  private var rate: Double?
  private var nextPiece = TrueTime.zero
  /// Time of the next look at the rest, if one is planned.
  var nextLook: TrueTime?

  mutating func append(_ more: [UInt8]) { bytes += more }
  mutating func setTurn(_ bytes: Int?) { turn = bytes }
  mutating func endLimits() { (turn, rate) = (nil, nil) }
  mutating func setRate(_ rate: Double) { self.rate = rate < MediaPacing.fastest ? rate : nil }

  /// Returns the bytes that leave now, or nil; no more than `limit`.
  mutating func next(at now: TrueTime, atMost limit: Int = .max) -> [UInt8]? {
    guard !bytes.isEmpty, turn != 0, rate == nil || nextPiece <= now else { return nil }
    // A kernel that paces sends some milliseconds' worth at a time.
    let most = rate.map { max(1448, Int($0 * 0.005)) } ?? .max
    let count = min(bytes.count, turn ?? .max, most, limit)
    let piece = Array(bytes.prefix(count))
    bytes.removeFirst(count)
    turn? -= count
    if let rate { nextPiece = now + Nanoseconds(seconds: Double(count) / rate) }
    return piece
  }

  /// Time at which bytes may leave again, if only the rate holds them back.
  var nextDeparture: TrueTime? { bytes.isEmpty || turn == 0 ? nil : nextPiece }
}

/// TCP's measurements of one connection's path, from its acknowledged segments.
struct PathMeter {
  private struct Segment {
    let count: Int
    let roundTrip: Nanoseconds
    /// The delivered bytes when the segment left, and the time of their delivery.
    let delivered: Int
    let deliveredAt: TrueTime
    let isLimited: Bool
  }

  private var inFlight: [Segment] = []
  private var delivered = 0
  private var deliveredAt = TrueTime.zero
  private var smoothed: Nanoseconds?
  private var shortest: Nanoseconds?
  private var deliveryRate = 0.0

  /// Notes a segment that left. `roundTrip` is its round trip if it is not lost. A program that gives its kernel little
  /// to send limits the rate itself: then TCP keeps the fastest that it has measured.
  mutating func left(_ count: Int, roundTrip: Nanoseconds, isLimited: Bool, at now: TrueTime) {
    if inFlight.isEmpty { deliveredAt = now }
    inFlight.append(
      Segment(
        count: count, roundTrip: roundTrip, delivered: delivered, deliveredAt: deliveredAt,
        isLimited: isLimited))
  }

  mutating func arrived(at now: TrueTime) {
    guard !inFlight.isEmpty else { return }
    let segment = inFlight.removeFirst()
    delivered += segment.count
    deliveredAt = now
    let span = (now - segment.deliveredAt).seconds
    let rate = span > 0 ? Double(delivered - segment.delivered) / span : 0
    if rate > 0, rate > deliveryRate || !segment.isLimited { deliveryRate = rate }
    shortest = min(shortest ?? segment.roundTrip, segment.roundTrip)
    // RFC 6298.
    let before = smoothed ?? segment.roundTrip
    smoothed = Nanoseconds((before.count * 7 + segment.roundTrip.count) / 8)
  }

  /// Nil before any segment was acknowledged.
  var path: MediaPath? {
    guard let smoothed, let shortest else { return nil }
    return MediaPath(
      roundTrip: smoothed, shortest: shortest, deliveryRate: UInt64(deliveryRate))
  }
}
