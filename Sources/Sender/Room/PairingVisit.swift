package import Clock
package import Pairing
package import WireProtocol

/// Pairs this sender with one receiver, or asks it to forget this sender, or to say its PIN aloud. Or gets the key of a
/// household from its first daemon. Does no I/O, like `GroupSession`, and dials once.
package struct PairingVisit {
  package enum Purpose: Hashable, Sendable {
    case pair(PIN)
    case unpair
    case sayPIN
  }

  package enum Input {
    /// The connection's handshake is complete.
    case connected(SecuredPeer)
    case received([UInt8])
    /// The connection failed, or was closed.
    case closed(reason: String)
    /// `nextDeadline` has passed.
    case timeout
  }

  package enum Output: Hashable {
    case send([UInt8])
    /// Close the connection after what was sent has left; no `closed` follows.
    case close
    case done(PairingReport)
  }

  /// Longest time for an answer. The PIN has been typed already, and the receiver waits at most for its disk.
  static let timeout = Nanoseconds.seconds(15)

  private let purpose: Purpose
  private let senderID: Identifier
  private let senderName: String
  private let receiverID: Identifier?
  /// True if the peer is a daemon, whose household this machine joins.
  private let joins: Bool
  private let arithmetic: any PairingArithmetic
  private let giveUpAt: LocalTime
  private var peer: SecuredPeer?
  private var prover: PairingProver?
  private var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
  private var isOver = false
  private var outputs = OutputQueue<Output>()

  /// If `receiverID` is known, no other receiver is accepted. With `joins`, a PIN is that of a household.
  package init(
    _ purpose: Purpose, senderID: Identifier, senderName: String, receiverID: Identifier?,
    joins: Bool = false, arithmetic: any PairingArithmetic, at now: LocalTime
  ) {
    self.purpose = purpose
    self.senderID = senderID
    self.senderName = senderName
    self.receiverID = receiverID
    self.joins = joins
    self.arithmetic = arithmetic
    giveUpAt = now + Self.timeout
  }

  /// Processes one input. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    guard !isOver else { return }
    switch input {
    case .connected(let peer): connected(peer)
    case .received(let bytes): received(bytes)
    case .closed(let reason): end(.unreachable(reason))
    case .timeout: if giveUpAt <= now { end(.unreachable("no answer")) }
    }
  }

  /// Returns what the driver must do next; nil if there is nothing left to do.
  package mutating func nextOutput() -> Output? { outputs.next() }

  /// The time at which to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? { isOver ? nil : giveUpAt }

  private mutating func connected(_ peer: SecuredPeer) {
    guard receiverID == nil || receiverID == peer.id else {
      return end(.unreachable("another receiver answers at its address"))
    }
    self.peer = peer
    switch purpose {
    case .pair(let pin):
      let context = Transcript.pairing(
        prover: senderID, verifier: peer.id, binding: peer.binding)
      prover = PairingProver(pin: pin, context: context, arithmetic: arithmetic)
      send(.request(name: senderName))
    case .unpair: send(.unpair)
    case .sayPIN: send(.sayPIN)
    }
  }

  private mutating func received(_ bytes: [UInt8]) {
    framer.append(bytes)
    do {
      while !isOver, let raw = try framer.next() {
        guard let message = try PairingMessage.decode(raw) else { return end(unknownAnswer) }
        take(message)
      }
    } catch {
      end(.broken("\(error)"))
    }
  }

  private mutating func take(_ message: PairingMessage) {
    guard let step = prover?.received(message), let peer else { return end(answer(message)) }
    switch step {
    case .send(let message): send(message)
    case .ended(.paired(let name)) where !joins: end(.paired(peer.id, name: name))
    case .ended(.household(let name, let key)) where joins:
      end(.joined(peer.id, name: name, key: key))
    case .ended(.wrongPIN): end(.wrongPIN)
    case .ended(.refused(let refusal)): end(.refused(refusal))
    case .ended(.failed(.badShare)): end(.broken("its share is no point of the curve"))
    case .ended(.failed(.failed(let reason))): end(.broken(reason))
    case .ended(.paired), .ended(.household), .ended(.outOfTurn):
      end(.broken(Self.strangeMessage))
    }
  }

  private static let strangeMessage = "it sent a message that does not belong here"

  /// The result where a message belongs to no pairing. A receiver of an older program does not know `sayPIN`, and refuses
  /// it as it refuses a control connection.
  private var unknownAnswer: PairingReport {
    guard case .sayPIN = purpose else { return .broken(Self.strangeMessage) }
    return .keptSilent(.init(reason: .notPossible, detail: "its program is too old to say its PIN"))
  }

  /// Returns the result of a visit that consists of one question.
  private func answer(_ message: PairingMessage) -> PairingReport {
    switch (purpose, message) {
    case (.unpair, .unpaired): .unpaired
    case (.sayPIN, .sayingPIN): .sayingPIN
    case (.sayPIN, .refused(let refusal)): .keptSilent(refusal)
    default: .broken(Self.strangeMessage)
    }
  }

  private mutating func send(_ message: PairingMessage) {
    outputs.append(.send(message.encoded()))
  }

  private mutating func end(_ report: PairingReport) {
    isOver = true
    outputs.append(.close)
    outputs.append(.done(report))
  }
}

/// The result of a visit.
package enum PairingReport: Hashable, Sendable {
  /// Paired with the receiver of this identifier and name.
  case paired(Identifier, name: String)
  /// Got the key of the household of this name, as PEM, from the daemon with this identifier.
  case joined(Identifier, name: String, key: [UInt8])
  case unpaired
  /// The receiver says its PIN aloud.
  case sayingPIN
  case keptSilent(PairingRefusal)
  case wrongPIN
  case refused(PairingRefusal)
  case unreachable(String)
  case broken(String)

  /// Why the visit failed, in one line for people; nil if it did not.
  package var obstacle: String? {
    switch self {
    case .paired, .joined, .unpaired, .sayingPIN: nil
    case .keptSilent(let refusal): refusal.reasonOfSilence
    case .wrongPIN: "the PIN is wrong; the receiver shows it with: tutti-receiver pin"
    case .refused(let refusal): refusal.advice
    case .unreachable(let reason): reason
    case .broken(let reason): "pairing failed: \(reason)"
    }
  }
}

extension PairingRefusal {
  fileprivate var reasonOfSilence: String {
    let detail = detail.isEmpty ? "it does not say its PIN" : detail
    return reason == .wait ? "\(detail); it says it again in \(waitInWords)" : detail
  }

  private var waitInWords: String {
    let seconds = (UInt64(wait) + 999) / 1000
    return seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
  }

  fileprivate var advice: String {
    switch reason {
    case .wrongPIN: "the PIN is wrong; the receiver shows it with: tutti-receiver pin"
    case .wait: "too many wrong PINs; try again in \((UInt64(wait) + 999) / 1000) s"
    case .busy: "somebody else is pairing with it; try again in a moment"
    case .notPossible, .other: detail.isEmpty ? "it cannot pair, and did not say why" : detail
    }
  }
}
