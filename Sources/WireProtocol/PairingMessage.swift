/// The messages on a connection that serves pairing and nothing else. See docs/protocol/pairing.md.
package enum PairingMessage: Hashable, Sendable {
  // From the sender, who proves that its user knows the PIN.
  /// Opens the exchange. The receiver shows this name for the sender.
  case request(name: String)
  case share([UInt8])
  case confirm([UInt8])
  /// Asks to be forgotten, in the place of `request`.
  case unpair
  /// Asks the receiver to say its PIN aloud, in the place of `request`.
  case sayPIN

  // From the receiver, who verifies it.
  case salt([UInt8])
  case answer(share: [UInt8], confirm: [UInt8])
  /// Both know each other from now on. The name is the room's.
  case paired(name: String)
  /// In the place of `paired`, from the first daemon of a household to a machine that joins it: the household's name, and
  /// its private key as PEM.
  case household(name: String, key: [UInt8])
  case refused(PairingRefusal)
  /// Answers `unpair`.
  case unpaired
  /// Answers `sayPIN`: the receiver begins to speak.
  case sayingPIN
}

package struct PairingRefusal: Hashable, Sendable {
  package enum Reason: UInt8, CaseIterable, Sendable {
    case wrongPIN = 1
    /// There were too many wrong PINs, or it has said its PIN too often: ask again once `wait` has passed.
    case wait = 2
    /// Another sender is pairing.
    case busy = 3
    /// This receiver cannot pair; `detail` says why.
    case notPossible = 4
    /// A reason of a later version; `detail` says which.
    case other = 0
  }
  package var reason: Reason
  /// Milliseconds until the next PIN is looked at, or until it says its PIN again; 0 if that is at once, or does not
  /// apply.
  package var wait: UInt32
  /// For people.
  package var detail: String

  package init(reason: Reason, wait: UInt32 = 0, detail: String = "") {
    self.reason = reason
    self.wait = wait
    self.detail = detail
  }
}

extension PairingMessage {
  /// Bytes of a salt, of a share (a point of P-256, uncompressed), and of a confirmation.
  package static let saltByteCount = 16
  package static let shareByteCount = 65
  package static let confirmByteCount = 32
  /// Bytes of a household's key: four times what PEM makes of an Ed25519 key.
  package static let keyLimit = 512

  /// Returns nil for messages that this version does not know. Layouts: docs/protocol/pairing.md.
  package static func decode(_ message: RawMessage) throws(DecodeError) -> PairingMessage? {
    var reader = ByteReader(message.payload)
    switch message.type {
    case MessageType.pairRequest: return .request(name: try reader.peerName("sender name"))
    case MessageType.pairShare:
      return .share(Array(try reader.bytes(shareByteCount, "share")))
    case MessageType.pairConfirm:
      return .confirm(Array(try reader.bytes(confirmByteCount, "confirmation")))
    case MessageType.unpair: return .unpair
    case MessageType.sayPIN: return .sayPIN
    case MessageType.pairSalt: return .salt(Array(try reader.bytes(saltByteCount, "salt")))
    case MessageType.pairAnswer:
      let share = Array(try reader.bytes(shareByteCount, "share"))
      return .answer(
        share: share, confirm: Array(try reader.bytes(confirmByteCount, "confirmation")))
    case MessageType.paired: return .paired(name: try reader.peerName("name"))
    case MessageType.household:
      let name = try reader.peerName("name")
      return .household(name: name, key: Array(try reader.bytes(try reader.keyByteCount(), "key")))
    case MessageType.pairRefused: return .refused(try PairingRefusal(decoding: &reader))
    case MessageType.unpaired: return .unpaired
    case MessageType.sayingPIN: return .sayingPIN
    default: return nil
    }
  }

  /// Appends the message with its framing.
  package func encode(appendingTo bytes: inout [UInt8]) {
    ByteWriter.message(type, appendingTo: &bytes) { writer in
      switch self {
      case .request(let name), .paired(let name):
        writer.text(name, atMost: ProtocolLimits.name)
      case .share(let value), .confirm(let value), .salt(let value): writer.bytes(value)
      case .answer(let share, let confirm):
        writer.bytes(share)
        writer.bytes(confirm)
      case .household(let name, let key):
        writer.text(name, atMost: ProtocolLimits.name)
        let key = Array(key.prefix(Self.keyLimit))
        writer.uint16(UInt16(key.count))
        writer.bytes(key)
      case .refused(let refusal): refusal.encode(to: &writer)
      case .unpair, .unpaired, .sayPIN, .sayingPIN: break
      }
    }
  }

  private var type: UInt16 {
    switch self {
    case .request: MessageType.pairRequest
    case .share: MessageType.pairShare
    case .confirm: MessageType.pairConfirm
    case .unpair: MessageType.unpair
    case .sayPIN: MessageType.sayPIN
    case .salt: MessageType.pairSalt
    case .answer: MessageType.pairAnswer
    case .paired: MessageType.paired
    case .household: MessageType.household
    case .refused: MessageType.pairRefused
    case .unpaired: MessageType.unpaired
    case .sayingPIN: MessageType.sayingPIN
    }
  }
}

extension PairingRefusal {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let reason = Reason(rawValue: try reader.uint8("reason")) ?? .other
    try reader.skip(1, "reserved")
    let wait = try reader.uint32("wait")
    self.init(
      reason: reason, wait: wait, detail: try reader.text(atMost: ProtocolLimits.detail, "detail"))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint8(reason.rawValue)
    writer.zeros(1)
    writer.uint32(wait)
    writer.text(detail, atMost: ProtocolLimits.detail)
  }
}

extension ByteReader {
  fileprivate mutating func peerName(_ field: String) throws(DecodeError) -> String {
    try text(atMost: ProtocolLimits.name, field)
  }

  fileprivate mutating func keyByteCount() throws(DecodeError) -> Int {
    Int(try uint16(in: 1...UInt16(PairingMessage.keyLimit), "length of the key"))
  }
}
