package import WireProtocol

/// The facts that proofs are about, besides the secret: the two ends, and their connection.
package enum Transcript {
  /// SPAKE2+'s Context. A proof of another connection, or between other keys, does not fit it.
  package static func pairing(
    prover: Identifier, verifier: Identifier, binding: [UInt8]
  ) -> [UInt8] {
    Array("tutti pairing 1".utf8) + prover.bytes + verifier.bytes + binding
  }

  /// Returns the bytes that are signed with the token that only one user of one machine can read.
  package static func local(binding: [UInt8]) -> [UInt8] {
    Array("tutti local 1".utf8) + binding
  }
}

extension [UInt8] {
  /// Takes the same time whichever bytes differ, so that nobody can find secret bytes one by one.
  package func isEqualInConstantTime(to other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    return zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
