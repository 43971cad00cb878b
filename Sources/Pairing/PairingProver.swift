package import WireProtocol

/// The sender's side of one exchange: it proves that its user knows the PIN, and checks that the receiver does. Send
/// `request`, then pass each message that arrives to `received`.
package struct PairingProver: Sendable {
  package enum Step: Hashable, Sendable {
    case send(PairingMessage)
    case ended(PairingOutcome)
  }

  private enum State {
    case awaitsSalt
    case awaitsAnswer(PairingProverState)
    case awaitsVerdict
    case ended
  }

  private let pin: PIN
  private let context: [UInt8]
  private let arithmetic: any PairingArithmetic
  private var state = State.awaitsSalt

  /// `context` is `Transcript.pairing` of both ends and their connection.
  package init(pin: PIN, context: [UInt8], arithmetic: any PairingArithmetic) {
    self.pin = pin
    self.context = context
    self.arithmetic = arithmetic
  }

  package mutating func received(_ message: PairingMessage) -> Step {
    do {
      return try step(message)
    } catch {
      state = .ended
      return .ended(.failed(error))
    }
  }

  private mutating func step(_ message: PairingMessage) throws(PairingError) -> Step {
    switch (state, message) {
    case (.awaitsSalt, .salt(let salt)):
      let share = try arithmetic.proverShare(pin: pin.digits, salt: salt)
      state = .awaitsAnswer(share)
      return .send(.share(share.shareP))
    case (.awaitsAnswer(let secrets), .answer(let shareV, let confirmV)):
      let made = try arithmetic.proverConfirm(secrets, shareV: shareV, context: context)
      // A receiver that keeps another PIN gets nothing from which the right one could be guessed.
      guard made.expectedConfirmV.isEqualInConstantTime(to: confirmV) else {
        return end(.wrongPIN)
      }
      state = .awaitsVerdict
      return .send(.confirm(made.confirmP))
    case (.awaitsVerdict, .paired(let name)): return end(.paired(name: name))
    case (.awaitsVerdict, .household(let name, let key)):
      return end(.household(name: name, key: key))
    case (.awaitsSalt, .refused(let refusal)), (.awaitsAnswer, .refused(let refusal)),
      (.awaitsVerdict, .refused(let refusal)):
      return end(refusal.reason == .wrongPIN ? .wrongPIN : .refused(refusal))
    default: return end(.outOfTurn)
    }
  }

  private mutating func end(_ outcome: PairingOutcome) -> Step {
    state = .ended
    return .ended(outcome)
  }
}

/// The result of an exchange for the sender.
package enum PairingOutcome: Hashable, Sendable {
  /// The name is the room's.
  case paired(name: String)
  /// The name and the key are a household's.
  case household(name: String, key: [UInt8])
  case wrongPIN
  case refused(PairingRefusal)
  case failed(PairingError)
  /// The receiver sent a message that does not belong here.
  case outOfTurn
}
