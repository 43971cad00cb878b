/// The first message of a connection to a receiver: it says what the connection is for.
package enum OpeningMessage: Hashable, Sendable {
  case control(Hello)
  case media(session: UInt64)
  /// `hello` follows on the same connection.
  case proof([UInt8])
  case pairing(PairingMessage)
  case term(TermRequest)

  /// - Throws: `unsupportedVersion` if the other side speaks this protocol, but there is no version in
  ///   common: answer with `Refusal.Reason.unsupportedVersion`. Anything else is a violation of the
  ///   protocol.
  package static func decode(_ message: RawMessage) throws(DecodeError) -> OpeningMessage {
    switch message.type {
    case MessageType.hello: .control(try Hello(decoding: message.payload))
    case MessageType.attach: .media(session: try MediaMessage.session(ofAttach: message.payload))
    case MessageType.prove: .proof(try proof(message.payload))
    case MessageType.pairRequest, MessageType.unpair, MessageType.sayPIN:
      .pairing(try pairing(message))
    case MessageType.askTerm: .term(try TermRequest(decoding: message.payload))
    default: throw .notThisProtocol
    }
  }

  private static func proof(_ payload: ArraySlice<UInt8>) throws(DecodeError) -> [UInt8] {
    var reader = ByteReader(payload)
    return try reader.proof()
  }

  private static func pairing(_ message: RawMessage) throws(DecodeError) -> PairingMessage {
    guard let message = try PairingMessage.decode(message) else { throw .notThisProtocol }
    return message
  }
}

extension OpeningMessage {
  /// True if a first message, which may not be decodable, asks to open a media connection.
  package static func isMedia(_ message: RawMessage) -> Bool { message.type == MessageType.attach }
}

extension ByteReader {
  /// Reads the beginning of every opening message of every version: the magic bytes and the version.
  mutating func magicAndVersion() throws(DecodeError) -> UInt16 {
    guard try uint32("magic") == ProtocolVersion.magic else { throw .notThisProtocol }
    return try uint16("version")
  }
}
