package import WireProtocol

/// The receiver's side of one exchange. Send `salt`, then pass each message that arrives to `received`.
///
/// A prover learns from the answer whether its PIN is right. So each share counts as a guess, and the guess is on disk
/// before the answer leaves: neither hanging up nor a power cut gives a guess back.
package struct PairingVerifier: Sendable {
  package enum Step: Hashable, Sendable {
    /// Count a guess, store it for good, and then call `guessKept`.
    case keepGuess
    /// The prover knows the PIN.
    case proved
    case wrongPIN
    /// The sender sent a message that does not belong here.
    case outOfTurn
  }

  private enum State {
    case awaitsShare
    case awaitsDisk(shareP: [UInt8])
    case awaitsConfirm(expected: [UInt8])
    case ended
  }

  private let record: PairingVerifierRecord
  private let context: [UInt8]
  private let arithmetic: any PairingArithmetic
  private var state = State.awaitsShare

  /// `context` is `Transcript.pairing` of both ends and their connection.
  package init(
    _ record: PairingVerifierRecord, context: [UInt8], arithmetic: any PairingArithmetic
  ) {
    self.record = record
    self.context = context
    self.arithmetic = arithmetic
  }

  package var salt: PairingMessage { .salt(record.salt) }

  package mutating func received(_ message: PairingMessage) -> Step {
    switch (state, message) {
    case (.awaitsShare, .share(let share)):
      state = .awaitsDisk(shareP: share)
      return .keepGuess
    case (.awaitsConfirm(let expected), .confirm(let confirm)):
      state = .ended
      return expected.isEqualInConstantTime(to: confirm) ? .proved : .wrongPIN
    default:
      state = .ended
      return .outOfTurn
    }
  }

  /// Returns the message to send now that the guess cannot be lost any more; nil if no guess awaits that.
  ///
  /// - Throws: if the prover's share cannot be used. Then the exchange is over.
  package mutating func guessKept() throws(PairingError) -> PairingMessage? {
    guard case .awaitsDisk(let shareP) = state else { return nil }
    state = .ended
    let answer = try arithmetic.verifierAnswer(record, shareP: shareP, context: context)
    state = .awaitsConfirm(expected: answer.expectedConfirmP)
    return .answer(share: answer.shareV, confirm: answer.confirmV)
  }
}
