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
  let room: Int
  let channel: Channel
  var down = Stream()
  var up = Stream()
  /// Whether each program still has its end of it.
  var senderHolds = true
  var receiverHolds = true

  init(id: Int, room: Int, channel: Channel) {
    self.id = id
    self.room = room
    self.channel = channel
  }

  /// What the sender's program still has to give to its kernel, whose own buffer takes this much.
  static let kernelBuffer = 128 << 10
  var queuedBytes: Int { max(0, down.undelivered - Self.kernelBuffer) }
}
