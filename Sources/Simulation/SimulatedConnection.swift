import Clock
import Sender

/// A TCP connection: two ordered streams of bytes that lose nothing, but wait.
final class SimulatedConnection {
  enum Payload {
    case bytes([UInt8])
    /// A flush or an anchor has arrived whole: for the microphone, which must know from when on it holds.
    case flushEnd(generation: UInt32)
    case anchorEnd(Anchor)
    /// The end: after it, nothing comes.
    case end(reason: String)

    var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  /// One direction.
  struct Stream {
    /// What was sent and has not arrived.
    var undelivered = 0
    /// When the newest segment arrives: none after it comes before it.
    var lastArrival = TrueTime.zero
    /// What should have arrived while the network was down, in order.
    var held: [Payload] = []
    var isEnded = false
  }

  let id: Int
  /// The sender's number for it.
  let senderID: RoomConnectionID
  let room: Int
  let channel: Channel
  var isEstablished = false
  var down = Stream()
  var up = Stream()
  /// Whether each program still has its end of it.
  var senderHolds = true
  var receiverHolds = true
  /// What the sender's program has sent and may not leave yet.
  var outgoing = OutgoingQueue()
  var path = PathMeter()

  init(id: Int, senderID: RoomConnectionID, room: Int, channel: Channel) {
    self.id = id
    self.senderID = senderID
    self.room = room
    self.channel = channel
  }

  /// What the sender's program still has to give to its kernel, whose own buffer takes this much.
  static let kernelBuffer = 128 << 10
  var queuedBytes: Int { outgoing.bytes.count + max(0, down.undelivered - Self.kernelBuffer) }
}

/// Bytes that leave by turns and no faster than a rate, as the reactor and the kernel let them.
struct OutgoingQueue {
  private(set) var bytes: [UInt8] = []
  /// What may still leave in this turn; nil where there is no limit.
  private var turn: Int?
  /// Bytes a second; nil where there is no limit.
  private var rate: Double?
  private var nextPiece = TrueTime.zero
  /// When the rest is looked at, where that is planned.
  var nextLook: TrueTime?

  mutating func append(_ more: [UInt8]) { bytes += more }
  mutating func setTurn(_ bytes: Int?) { turn = bytes }
  mutating func endLimits() { (turn, rate) = (nil, nil) }
  mutating func setRate(_ rate: Double) { self.rate = rate < MediaPacing.fastest ? rate : nil }

  /// What leaves now, where something may.
  mutating func next(at now: TrueTime) -> [UInt8]? {
    guard !bytes.isEmpty, turn != 0, rate == nil || nextPiece <= now else { return nil }
    // A kernel that paces sends some milliseconds' worth at a time.
    let most = rate.map { max(1448, Int($0 * 0.005)) } ?? .max
    let count = min(bytes.count, turn ?? .max, most)
    let piece = Array(bytes.prefix(count))
    bytes.removeFirst(count)
    turn? -= count
    if let rate { nextPiece = now + Nanoseconds(seconds: Double(count) / rate) }
    return piece
  }

  /// When something may leave again, where only the rate holds it back.
  var nextDeparture: TrueTime? { bytes.isEmpty || turn == 0 ? nil : nextPiece }
}

/// What TCP knows of the way of one connection, by the segments that were answered.
struct PathMeter {
  private struct Segment {
    let count: Int
    let roundTrip: Nanoseconds
    /// When the segment left: what had been delivered by then, and since when.
    let delivered: Int
    let deliveredAt: TrueTime
  }

  private var inFlight: [Segment] = []
  private var delivered = 0
  private var deliveredAt = TrueTime.zero
  private var smoothed: Nanoseconds?
  private var shortest: Nanoseconds?
  private var deliveryRate = 0.0

  /// `roundTrip` is what the segment takes where it is not lost.
  mutating func left(_ count: Int, roundTrip: Nanoseconds, at now: TrueTime) {
    if inFlight.isEmpty { deliveredAt = now }
    inFlight.append(
      Segment(
        count: count, roundTrip: roundTrip, delivered: delivered, deliveredAt: deliveredAt))
  }

  mutating func arrived(at now: TrueTime) {
    guard !inFlight.isEmpty else { return }
    let segment = inFlight.removeFirst()
    delivered += segment.count
    deliveredAt = now
    let span = (now - segment.deliveredAt).seconds
    if span > 0 { deliveryRate = Double(delivered - segment.delivered) / span }
    shortest = min(shortest ?? segment.roundTrip, segment.roundTrip)
    // RFC 6298.
    let before = smoothed ?? segment.roundTrip
    smoothed = Nanoseconds((before.count * 7 + segment.roundTrip.count) / 8)
  }

  /// Nil before anything was answered.
  var path: MediaPath? {
    guard let smoothed, let shortest else { return nil }
    return MediaPath(
      roundTrip: smoothed, shortest: shortest, deliveryRate: UInt64(deliveryRate))
  }
}
