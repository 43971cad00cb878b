/// The arithmetic of SPAKE2+ (RFC 9383, P256-SHA256-HKDF-SHA256-HMAC-SHA256, both identities empty), and the other
/// cryptography of pairing. The state machines of this module decide what is sent, and when. Shares are points of the
/// curve in uncompressed form; an implementation refuses those that are not, and the identity.
package protocol PairingArithmetic: Sendable {
  /// Returns the record that a receiver keeps of its PIN: w0 and L of the PIN's scrypt (N 2^14, r 8, p 1, 80 bytes,
  /// each half taken modulo the group's order).
  func verifierRecord(pin: String, salt: [UInt8]) throws(PairingError) -> PairingVerifierRecord
  func proverShare(pin: String, salt: [UInt8]) throws(PairingError) -> PairingProverState
  func verifierAnswer(_ record: PairingVerifierRecord, shareP: [UInt8], context: [UInt8])
    throws(PairingError) -> PairingVerifierAnswer
  func proverConfirm(_ state: PairingProverState, shareV: [UInt8], context: [UInt8])
    throws(PairingError) -> PairingConfirmations
  /// HMAC-SHA256.
  func hmac(key: [UInt8], message: [UInt8]) -> [UInt8]
}

package enum PairingError: Error, Hashable, Sendable {
  /// A share is not a point of the curve that may be used.
  case badShare
  /// The cryptographic library failed; the reason is one line for people.
  case failed(reason: String)
}

/// The record by which a receiver's session checks a PIN without knowing it. Whoever steals this record alone can
/// pretend to be the receiver, but must still guess the PIN to pair with it.
package struct PairingVerifierRecord: Hashable, Sendable {
  /// 16 bytes.
  package var salt: [UInt8]
  /// 32 bytes, a number below the group's order, most significant byte first.
  package var w0: [UInt8]
  /// 65 bytes, a point of the curve, uncompressed.
  package var l: [UInt8]

  package init(salt: [UInt8], w0: [UInt8], l: [UInt8]) {
    self.salt = salt
    self.w0 = w0
    self.l = l
  }
}

/// The secrets of one exchange, with the share that is sent. Numbers have 32 bytes, most significant first.
package struct PairingProverState: Sendable {
  package var x: [UInt8]
  package var w0: [UInt8]
  package var w1: [UInt8]
  package var shareP: [UInt8]

  package init(x: [UInt8], w0: [UInt8], w1: [UInt8], shareP: [UInt8]) {
    self.x = x
    self.w0 = w0
    self.w1 = w1
    self.shareP = shareP
  }
}

package struct PairingVerifierAnswer: Sendable {
  package var shareV: [UInt8]
  package var confirmV: [UInt8]
  /// The confirmation that a prover sends if it knows the PIN.
  package var expectedConfirmP: [UInt8]

  package init(shareV: [UInt8], confirmV: [UInt8], expectedConfirmP: [UInt8]) {
    self.shareV = shareV
    self.confirmV = confirmV
    self.expectedConfirmP = expectedConfirmP
  }
}

package struct PairingConfirmations: Sendable {
  /// The confirmation that a verifier has sent if it keeps this PIN.
  package var expectedConfirmV: [UInt8]
  package var confirmP: [UInt8]

  package init(expectedConfirmV: [UInt8], confirmP: [UInt8]) {
    self.expectedConfirmV = expectedConfirmV
    self.confirmP = confirmP
  }
}
