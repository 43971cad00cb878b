import Audio
import Clock
import WireProtocol

/// What a datagram holds, once it is opened.
struct LiveArrival {
  let number: UInt64
  private(set) var formats: [(id: UInt16, format: StreamFormat)] = []
  /// The one that the number names, and earlier ones again.
  private(set) var packets: [AudioPacket] = []

  /// Nil where the packets are not those that the number promises.
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

/// Datagrams that lie far from what is awaited. All rooms have the key, and one that lies must not lead the others away by
/// a datagram or two, so a receiver follows only where several come in a row.
struct LiveLeap {
  static let length = 3

  private var row: [LiveArrival] = []

  /// The row, once it is long enough.
  mutating func add(_ arrival: LiveArrival) -> [LiveArrival]? {
    guard row.last?.number != arrival.number else { return nil }
    if let last = row.last, last.number &+ 1 != arrival.number { row = [] }
    row.append(arrival)
    guard row.count == Self.length else { return nil }
    defer { row = [] }
    return row
  }
}
