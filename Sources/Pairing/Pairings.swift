package import WireProtocol

/// The senders that may play on a receiver, by their keys, in the order in which they came.
package struct Pairings: Hashable, Sendable {
  /// More than the machines of a house; few enough to show on a screen.
  package static let limit = 64

  package struct Pairing: Hashable, Sendable {
    package var id: Identifier
    /// For people: the name that the sender gave itself when it paired.
    package var name: String

    package init(id: Identifier, name: String) {
      self.id = id
      self.name = name
    }
  }

  package private(set) var all: [Pairing] = []

  package init() {}

  /// Takes the first pairing of each identifier, up to the limit.
  package init(_ pairings: [Pairing]) {
    for pairing in pairings where !contains(pairing.id) { add(pairing) }
  }

  package func contains(_ id: Identifier) -> Bool { all.contains { $0.id == id } }

  /// Returns false if there are too many. A sender that is there already only gets its new name.
  @discardableResult
  package mutating func add(_ pairing: Pairing) -> Bool {
    if let index = all.firstIndex(where: { $0.id == pairing.id }) {
      all[index] = pairing
      return true
    }
    guard all.count < Self.limit else { return false }
    all.append(pairing)
    return true
  }

  /// Returns false if it was not there.
  @discardableResult
  package mutating func remove(_ id: Identifier) -> Bool {
    let before = all.count
    all.removeAll { $0.id == id }
    return all.count < before
  }
}

/// Everything that a receiver keeps about whom it trusts.
package struct TrustMemory: Hashable, Sendable {
  package var pairings: Pairings
  /// Wrong PINs since the last right one.
  package var wrongGuesses: Int
  /// Nil if there is no PIN: nobody can pair.
  package var verifier: PairingVerifierRecord?

  package init(
    pairings: Pairings = Pairings(), wrongGuesses: Int = 0, verifier: PairingVerifierRecord? = nil
  ) {
    self.pairings = pairings
    self.wrongGuesses = wrongGuesses
    self.verifier = verifier
  }
}
