package import WireProtocol

/// A receiver as known from discovery or an earlier session.
package struct RoomRecord: Codable, Hashable, Sendable {
  /// Largest number of receivers that are known at a time: announced and remembered ones.
  package static let limit = 320

  package enum State: String, Codable, Sendable {
    case free
    case busy
    /// It is only remembered.
    case away
  }

  /// 32 hexadecimal digits.
  package var id: String
  package var name: String
  package var model: String
  package var state: State
  /// Addresses without the port, the likeliest first.
  package var addresses: [String]
  package var port: UInt16
  package var codecs: [String]
  /// Who may play there; nil if it does not tell.
  package var access: ReceiverAdvertisement.Access?

  package init(
    id: String, name: String, model: String, state: State, addresses: [String], port: UInt16,
    codecs: [String], access: ReceiverAdvertisement.Access? = nil
  ) {
    self.id = id
    self.name = name
    self.model = model
    self.state = state
    self.addresses = addresses
    self.port = port
    self.codecs = codecs
    self.access = access
  }
}

extension ReceiverAdvertisement.Access: Codable {}
