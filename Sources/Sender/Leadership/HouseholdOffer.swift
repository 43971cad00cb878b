package import Clock
package import Pairing
package import WireProtocol

/// Hands the key of a household to a machine that joins it: the first daemon's side of one connection. The machine proves that
/// its user knows the household's PIN, as a sender does to a room; `PairingVisit` is the other side. Does no I/O.
package struct HouseholdOffer {
  package enum Input {
    /// The connection's handshake is complete.
    case connected(SecuredPeer)
    case received([UInt8])
    /// The guess is counted on the disk.
    case guessKept
    /// The guess is not taken now, or cannot be counted.
    case guessRefused(PairingRefusal)
    case closed
    /// `nextDeadline` has passed.
    case timeout
  }

  package enum Output: Hashable {
    case send([UInt8])
    /// Count a guess, and return with `guessKept` or `guessRefused`. Nothing is said about the PIN before.
    case keepGuess
    /// The machine of this name knows the PIN: the guesses count no more.
    case joined(name: String)
    /// Close the connection after what was sent has left; no `closed` follows.
    case close
  }

  /// Timeout of the exchange. The user has typed the PIN before it begins, so all of it takes moments.
  static let timeout = ProtocolLimits.silence

  private let id: Identifier
  private let name: String
  private let key: [UInt8]
  private let record: PairingVerifierRecord
  private let arithmetic: any PairingArithmetic
  private let giveUpAt: LocalTime
  private var verifier: PairingVerifier?
  /// The name of the machine; nil before its request.
  private var joiner: String?
  private var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
  private var isOver = false
  private var outputs = OutputQueue<Output>()

  /// - Parameters:
  ///   - id: the identifier of `key`.
  ///   - name: the household's, for people.
  ///   - key: the household's private key as PEM, of `PairingMessage.keyLimit` bytes at most.
  ///   - record: of the household's PIN.
  package init(
    id: Identifier, name: String, key: [UInt8], record: PairingVerifierRecord,
    arithmetic: any PairingArithmetic, at now: LocalTime
  ) {
    (self.id, self.name, self.key, self.record) = (id, name, key, record)
    self.arithmetic = arithmetic
    giveUpAt = now + Self.timeout
  }

  /// The answer to a machine that comes while another one joins, after which its connection is closed.
  package static var busy: [UInt8] {
    PairingMessage.refused(PairingRefusal(reason: .busy)).encoded()
  }

  /// Processes one input. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    guard !isOver else { return }
    switch input {
    case .connected(let peer):
      let context = Transcript.pairing(prover: peer.id, verifier: id, binding: peer.binding)
      verifier = PairingVerifier(record, context: context, arithmetic: arithmetic)
    case .received(let bytes): received(bytes)
    case .guessKept: answer()
    case .guessRefused(let refusal): refuse(refusal)
    case .closed: isOver = true
    case .timeout: if giveUpAt <= now { close() }
    }
  }

  /// Returns what the driver must do next; nil if there is nothing left to do.
  package mutating func nextOutput() -> Output? { outputs.next() }

  /// The time at which to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? { isOver ? nil : giveUpAt }

  private mutating func received(_ bytes: [UInt8]) {
    framer.append(bytes)
    do {
      while !isOver, let raw = try framer.next() {
        guard let message = try PairingMessage.decode(raw) else { return close() }
        take(message)
      }
    } catch {
      close()
    }
  }

  private mutating func take(_ message: PairingMessage) {
    guard let joiner else { return begin(message) }
    switch verifier?.received(message) {
    case .keepGuess?: outputs.append(.keepGuess)
    case .proved?:
      outputs.append(.joined(name: joiner))
      send(.household(name: name, key: key))
      close()
    case .wrongPIN?: refuse(PairingRefusal(reason: .wrongPIN))
    case .outOfTurn?, nil: close()
    }
  }

  private mutating func begin(_ message: PairingMessage) {
    guard case .request(let name) = message, let verifier else { return close() }
    joiner = name
    send(verifier.salt)
  }

  private mutating func answer() {
    do throws(PairingError) {
      if let answer = try verifier?.guessKept() { send(answer) }
    } catch {
      close()
    }
  }

  private mutating func refuse(_ refusal: PairingRefusal) {
    send(.refused(refusal))
    close()
  }

  private mutating func send(_ message: PairingMessage) {
    outputs.append(.send(message.encoded()))
  }

  private mutating func close() {
    isOver = true
    outputs.append(.close)
  }
}
