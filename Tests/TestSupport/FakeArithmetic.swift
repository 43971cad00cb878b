import Clock
package import Pairing

/// The structure of SPAKE2+ without its mathematics: confirmations match if PIN, salt, shares and context are the same
/// on both sides. It is fast and deterministic, and keeps nothing secret.
package struct FakeArithmetic: PairingArithmetic {
  package init() {}

  package func verifierRecord(pin: String, salt: [UInt8]) throws(PairingError)
    -> PairingVerifierRecord
  {
    PairingVerifierRecord(
      salt: salt, w0: secret(pin, salt), l: point(secret(pin, salt)))
  }

  package func proverShare(pin: String, salt: [UInt8]) throws(PairingError) -> PairingProverState {
    let w = secret(pin, salt)
    return PairingProverState(
      x: Array(repeating: 1, count: 32), w0: w, w1: w, shareP: point(Array("prover".utf8)))
  }

  package func verifierAnswer(
    _ record: PairingVerifierRecord, shareP: [UInt8], context: [UInt8]
  ) throws(PairingError) -> PairingVerifierAnswer {
    guard shareP.first == 4 else { throw .badShare }
    let shareV = point(Array("verifier".utf8))
    let key = record.w0 + shareP + shareV
    return PairingVerifierAnswer(
      shareV: shareV, confirmV: hmac(key: key + [2], message: context),
      expectedConfirmP: hmac(key: key + [1], message: context))
  }

  package func proverConfirm(
    _ state: PairingProverState, shareV: [UInt8], context: [UInt8]
  ) throws(PairingError) -> PairingConfirmations {
    guard shareV.first == 4 else { throw .badShare }
    let key = state.w0 + state.shareP + shareV
    return PairingConfirmations(
      expectedConfirmV: hmac(key: key + [2], message: context),
      confirmP: hmac(key: key + [1], message: context))
  }

  package func hmac(key: [UInt8], message: [UInt8]) -> [UInt8] {
    mixed(key + [0xff] + message, 32)
  }

  private func secret(_ pin: String, _ salt: [UInt8]) -> [UInt8] {
    mixed(Array(pin.utf8) + salt, 32)
  }

  private func point(_ bytes: [UInt8]) -> [UInt8] { [4] + mixed(bytes, 64) }

  private func mixed(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    // FNV-1a, as the seed.
    let seed = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    var random = SplitMix64(seed: seed)
    return random.bytes(count)
  }
}
