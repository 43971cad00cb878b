import Clock
package import House
import Pairing
import Synchronization

extension HouseAccess {
  /// Returns true if a program sends the token of the configuration. From an address that has sent it before it may always do
  /// so, whatever others guess; a wrong one counts once, as a program may repeat an old one all day.
  ///
  /// - Throws: where it takes no guess now.
  package func isToken(
    _ offered: String, from address: String
  ) async throws(Refusal) -> Bool {
    guard let token, !offered.isEmpty else { return false }
    let digest = means.sha256(Array(offered.utf8.prefix(Self.tokenLimit)))
    let isRight = means.sha256(Array(token.utf8)).isEqualInConstantTime(to: digest)
    let known = state.withLock { state -> Bool? in
      if isRight { return state.tokenAddresses.contains(address) ? true : nil }
      state.tokenAddresses.removeAll { $0 == address }
      return state.wrongTokens.contains(digest) ? false : nil
    }
    if let known { return known }
    return try await onWriter { () throws(Refusal) in
      try self.wait(\.tokenGuesses, "tokens")
      try self.note(isRight, \.tokenGuesses, \.wrongTokens)
      self.state.withLock { state in
        if isRight {
          Self.remember(address, in: &state.tokenAddresses)
        } else {
          Self.remember(digest, in: &state.wrongTokens)
        }
      }
      return isRight
    }
  }

  private static let tokenLimit = 1_000

  private static func remember<Value: Equatable>(_ value: Value, in list: inout [Value]) {
    list.removeAll { $0 == value }
    list.append(value)
    if list.count > tokenMemory { list.removeFirst() }
  }
}

/// How a phone is added: by its camera, or by typing.
package struct Invitation: Codable, Hashable, Sendable {
  /// The address of the page, with a secret that counts once. The secret is behind a `#`, which browsers send to nobody.
  package var address: String
  package var pin: String
  /// How long the secret lasts; nil is until it is used.
  package var lastsS: Int?

  /// The page's own address, without the secret.
  package var page: String { String(address.prefix { $0 != "#" }) }
}

extension HouseAccess {
  /// - Parameters:
  ///   - page: under which address the page is reached; nil is this machine's.
  ///   - lasts: whether the secret lasts until it is used.
  package func invite(to page: String? = nil, lasts: Bool = false) throws(Refusal)
    -> Invitation
  {
    let secret = try randomText(16)
    let digest = means.sha256(Array(secret.utf8))
    let end = lasts ? nil : means.now() + Self.secretTime
    let pin = state.withLock { state in
      state.secrets.append((digest, end))
      if state.secrets.count > Self.secretLimit { state.secrets.removeFirst() }
      return state.record.pin
    }
    return Invitation(
      address: "\(page ?? means.address())/#pair=\(secret)", pin: pin?.written ?? "",
      lastsS: lasts ? nil : Int(Self.secretTime.seconds))
  }
}
