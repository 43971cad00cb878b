/// Errors in bytes from outside. `description` is one sentence that may be sent back.
package enum DecodeError: Error, Hashable, Sendable {
  /// The message ends before its last field does.
  case truncated(field: String)
  /// A length field promises more than `ProtocolLimits` allows, or a message too short to have a type.
  case badLength(Int, limit: Int)
  /// The first message opens no connection of this protocol, or lacks the magic bytes: the other side
  /// speaks another one.
  case notThisProtocol
  case unsupportedVersion(UInt16)
  case outOfRange(field: String, value: Int64)
  case tooLong(field: String, byteCount: Int, limit: Int)
  /// Not UTF-8, or with control characters.
  case malformedText(field: String)
  /// A packet is sealed by itself, which no version does yet.
  case sealed
  /// The tag of a packet does not match its key, or there is no such key.
  case notAuthentic
  /// A service record lacks a key.
  case missing(key: String)
}

extension DecodeError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .truncated(let field): "message ends before \(field)"
    case .badLength(let length, let limit): "message of \(length) bytes, allowed are 2 to \(limit)"
    case .notThisProtocol: "not a Tutti connection"
    case .unsupportedVersion(let version):
      "protocol version \(version), spoken is \(ProtocolVersion.spoken)"
    case .outOfRange(let field, let value): "\(field) out of range: \(value)"
    case .tooLong(let field, let byteCount, let limit):
      "\(field) has \(byteCount) bytes, allowed are \(limit)"
    case .malformedText(let field): "\(field) is not plain UTF-8 text"
    case .sealed: "packet is sealed"
    case .notAuthentic: "packet is not from this session"
    case .missing(let key): "service record lacks the key \(key)"
    }
  }
}
