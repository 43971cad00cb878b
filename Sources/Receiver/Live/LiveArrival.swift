import Audio
import Clock
import WireProtocol

/// The decrypted content of one datagram of a live stream.
struct LiveArrival {
  let number: UInt64
  private(set) var formats: [(id: UInt16, format: StreamFormat)] = []
  /// The packet with the datagram's number, then repeats of earlier packets.
  private(set) var packets: [AudioPacket] = []

  /// Returns nil if the packets do not match the datagram's number.
  init?(_ messages: [UInt8], number: UInt64) {
    self.number = number
    var framer = MessageFramer(limit: LiveDatagram.byteLimit)
    framer.append(messages)
    while let raw = try? framer.next() {
      switch try? MediaMessage.decode(raw) {
      case .format(let id, let format)?: formats.append((id, format))
      case .packet(let packet)?: packets.append(packet)
      case .attach, .artwork, nil: break
      }
    }
    guard packets.first?.sequence == number,
      packets.dropFirst().allSatisfy({ $0.sequence < number })
    else { return nil }
  }

  var generation: UInt32 { packets.map(\.generation).max() ?? 0 }
}

/// Collects datagrams whose numbers are far from the expected one. All rooms have the key, so a room could forge
/// datagrams. The receiver follows a jump only after `length` consecutive ones, so that one or two forged datagrams
/// cannot lead it away.
struct LiveLeap {
  static let length = 3

  private var row: [LiveArrival] = []

  /// Returns the collected datagrams once there are `length` in a row, else nil.
  mutating func add(_ arrival: LiveArrival) -> [LiveArrival]? {
    guard row.last?.number != arrival.number else { return nil }
    if let last = row.last, last.number &+ 1 != arrival.number { row = [] }
    row.append(arrival)
    guard row.count == Self.length else { return nil }
    defer { row = [] }
    return row
  }
}
