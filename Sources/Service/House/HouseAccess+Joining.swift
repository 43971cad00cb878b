package import House
package import Pairing
import Synchronization
package import WireProtocol

package import enum House.Refusal

/// A machine that joins the household proves that its user knows the PIN. Its guesses and those of browsers are counted as one.
extension HouseAccess {
  /// Returns the record by which a machine is checked. It is made once for each PIN, which takes a tenth of a second.
  package func verifier(
    by arithmetic: any PairingArithmetic
  ) async throws(Refusal) -> PairingVerifierRecord {
    try await onWriter { () throws(Refusal) in
      let (pin, known) = self.state.withLock { ($0.record.pin, $0.verifier) }
      if let known, known.pin == pin { return known.record }
      guard let pin, let salt = try? self.means.random(PairingMessage.saltByteCount),
        let record = try? arithmetic.verifierRecord(pin: pin.digits, salt: salt)
      else { throw Self.noRandomness }
      self.state.withLock { $0.verifier = (pin, record) }
      return record
    }
  }

  /// Returns nil once a guess is counted on the disk; a refusal where it is not taken now, or cannot be counted.
  package func countGuess() async -> PairingRefusal? {
    do throws(Refusal) {
      try await onWriter { () throws(Refusal) in
        try self.wait(\.pinGuesses, "PINs")
        try self.note(false, \.pinGuesses, \.wrongPINs)
      }
      return nil
    } catch {
      guard case .tooMany(_, let seconds) = error else {
        return PairingRefusal(reason: .notPossible, detail: "its disk takes nothing")
      }
      return PairingRefusal(reason: .wait, wait: UInt32(clamping: seconds * 1000))
    }
  }

  /// The machine knew the PIN: the guesses count no more.
  package func guessWasRight() async {
    try? await onWriter { () throws(Refusal) in
      try self.note(true, \.pinGuesses, \.wrongPINs)
    }
  }
}
