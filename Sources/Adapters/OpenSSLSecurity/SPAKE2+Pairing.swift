package import Pairing

extension SPAKE2: PairingArithmetic {
  package func verifierRecord(
    pin: String, salt: [UInt8]
  ) throws(PairingError) -> PairingVerifierRecord {
    try Self.computed { () throws(SecurityError) in
      let (w0, w1) = try Self.secrets(pin: pin, salt: salt)
      return PairingVerifierRecord(salt: salt, w0: w0, l: try Self.verifier(w1))
    }
  }

  package func proverShare(
    pin: String, salt: [UInt8]
  ) throws(PairingError) -> PairingProverState {
    try Self.computed { () throws(SecurityError) in
      let (w0, w1) = try Self.secrets(pin: pin, salt: salt)
      let x = try Self.randomScalar()
      let share = try Self.share(x, w0: w0, blindedBy: Self.m)
      return PairingProverState(x: x, w0: w0, w1: w1, shareP: share)
    }
  }

  package func verifierAnswer(
    _ record: PairingVerifierRecord, shareP: [UInt8], context: [UInt8]
  ) throws(PairingError) -> PairingVerifierAnswer {
    let answer = try Self.computed { () throws(SecurityError) -> PairingVerifierAnswer? in
      let y = try Self.randomScalar()
      let shareV = try Self.share(y, w0: record.w0, blindedBy: Self.n)
      guard
        let (z, v) = try Self.verifierPoints(y: y, w0: record.w0, l: record.l, shareP: shareP)
      else { return nil }
      let keys = try Self.keys(
        Names(context: context), shareP: shareP, shareV: shareV, z: z, v: v, w0: record.w0)
      return PairingVerifierAnswer(
        shareV: shareV, confirmV: Self.hmac(key: keys.confirmV, shareP),
        expectedConfirmP: Self.hmac(key: keys.confirmP, shareV))
    }
    guard let answer else { throw .badShare }
    return answer
  }

  package func proverConfirm(
    _ state: PairingProverState, shareV: [UInt8], context: [UInt8]
  ) throws(PairingError) -> PairingConfirmations {
    let confirmations = try Self.computed { () throws(SecurityError) -> PairingConfirmations? in
      guard
        let (z, v) = try Self.proverPoints(
          x: state.x, w0: state.w0, w1: state.w1, shareV: shareV)
      else { return nil }
      let keys = try Self.keys(
        Names(context: context), shareP: state.shareP, shareV: shareV, z: z, v: v, w0: state.w0)
      return PairingConfirmations(
        expectedConfirmV: Self.hmac(key: keys.confirmV, state.shareP),
        confirmP: Self.hmac(key: keys.confirmP, shareV))
    }
    guard let confirmations else { throw .badShare }
    return confirmations
  }

  package func hmac(key: [UInt8], message: [UInt8]) -> [UInt8] { Self.hmac(key: key, message) }

  private static func computed<Result>(
    _ body: () throws(SecurityError) -> Result
  ) throws(PairingError) -> Result {
    do throws(SecurityError) {
      return try body()
    } catch {
      throw .failed(reason: error.description)
    }
  }
}
