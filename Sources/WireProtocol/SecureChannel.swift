/// The other end of a secure channel.
package struct SecuredPeer: Hashable, Sendable {
  /// The identifier of its key: nobody can make a key for a given identifier.
  package var id: Identifier
  /// The same 16 bytes at both ends. It authenticates the clock's packets.
  package var clockKey: [UInt8]
  /// The same 32 bytes at both ends, and in no other channel. It ties a proof to this channel.
  package var binding: [UInt8]

  package init(id: Identifier, clockKey: [UInt8], binding: [UInt8]) {
    self.id = id
    self.clockKey = clockKey
    self.binding = binding
  }
}

/// The encryption of one connection, without I/O. Used by one thread.
package protocol SecureChannel: AnyObject {
  /// Nil until the handshake is complete.
  var peer: SecuredPeer? { get }

  /// Takes bytes that came from the network and returns the plain text that they complete, which may be empty. After an
  /// error the channel is over; `takeOutput` may still hold an alert for the peer.
  func receive(_ bytes: [UInt8]) throws(SecureChannelError) -> [UInt8]

  /// Encrypts `bytes`. Call it only once `peer` is there.
  func send(_ bytes: [UInt8])

  /// Returns the bytes that must go to the network now, those of the handshake included. Call it on a new channel
  /// first, and after each call of another method.
  func takeOutput() -> [UInt8]

  /// Tells the peer that nothing follows.
  func finish()
}

package struct SecureChannelError: Error, Hashable, Sendable {
  /// One line for people.
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

/// Tells the two ends apart: the one that dialled speaks first.
package enum SecureRole: Sendable { case dialled, accepted }
