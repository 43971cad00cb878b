import Audio
import WireProtocol

/// A `PassObstacle`, in the same form.
package struct MediaObstacle: Hashable, Sendable {
  var kind: UInt8
  var number: Int64 = 0
  var codec = ""
  var failure: MediaFailure?

  init(kind: UInt8) { self.kind = kind }

  package init(_ obstacle: PassObstacle, of location: String) {
    switch obstacle {
    case .soundIsChanged: kind = 1
    case .isFaded: kind = 9
    case .isMixed(let channels): (kind, number) = (2, Int64(channels))
    case .isResampled(let rate): (kind, number) = (3, Int64(rate))
    case .isLive: kind = 4
    case .isPiped: kind = 5
    case .roomsLack(let codec): (kind, number) = (6, Int64(codec.rawValue))
    case .notPassable(let codec): (kind, self.codec) = (7, codec)
    case .unreadable(let error): (kind, failure) = (8, MediaFailure(error, of: location))
    }
  }

  package func obstacle(of location: String) -> PassObstacle {
    switch kind {
    case 1: .soundIsChanged
    case 2: .isMixed(channels: Int(clamping: number))
    case 3: .isResampled(rate: Int(clamping: number))
    case 4: .isLive
    case 5: .isPiped
    case 6: Codec(rawValue: UInt16(clamping: number)).map { .roomsLack($0) } ?? .isLive
    case 9: .isFaded
    case 8:
      failure.map { .unreadable($0.error(of: location)) } ?? .notPassable(codec: "unknown")
    default: .notPassable(codec: codec.shownPlainly)
    }
  }
}
