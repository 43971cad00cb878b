import Driver
package import Pairing
package import Sender
import WireProtocol

/// A request of a terminal about the rooms that a daemon is paired with. The terminal has found the room itself.
package enum PairingRequest: Codable, Hashable, Sendable {
  case list
  /// A room that takes the PIN is remembered.
  case pair(name: String, place: PairingRoom.Place, pin: String)
  /// Asks a room to forget this machine.
  case unpair(name: String, place: PairingRoom.Place)
  /// Asks a room to say its PIN aloud.
  case sayPIN(name: String, place: PairingRoom.Place)
  /// Forgets receivers here, by their 32 hex digits.
  case forget(receivers: [String])
}

package struct PairingAnswer: Codable, Hashable, Sendable {
  package struct Room: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
  }

  /// The room's answer to a visit.
  package enum Outcome: Codable, Hashable, Sendable {
    case paired(id: String, name: String)
    case unpaired
    case sayingPIN
    case wrongPIN
    case wait(milliseconds: UInt32)
    case failed(reason: String)
  }

  /// All that are paired; only of `list` and `forget`.
  package var rooms: [Room]?
  package var outcome: Outcome?

  package init(_ pairings: Pairings) {
    rooms = pairings.all.map { Room(id: $0.id.hex, name: $0.name) }
  }

  init(_ report: PairingReport) {
    outcome =
      switch report {
      case .paired(let id, let name): .paired(id: id.hex, name: name)
      case .unpaired: .unpaired
      case .sayingPIN: .sayingPIN
      case .wrongPIN: .wrongPIN
      case .refused(let refusal) where refusal.reason == .wait:
        .wait(milliseconds: refusal.wait)
      case .refused, .unreachable, .broken, .keptSilent, .joined:
        .failed(reason: report.obstacle ?? "")
      }
  }

  package var pairings: Pairings {
    Pairings(
      (rooms ?? []).compactMap { room in
        Identifier(hex: room.id).map { Pairings.Pairing(id: $0, name: room.name) }
      })
  }

  /// Nil where the answer was not about a visit.
  package var report: PairingReport? {
    switch outcome {
    case .paired(let id, let name)?: Identifier(hex: id).map { .paired($0, name: name) }
    case .unpaired?: .unpaired
    case .sayingPIN?: .sayingPIN
    case .wrongPIN?: .wrongPIN
    case .wait(let time)?:
      .refused(PairingRefusal(reason: .wait, wait: time, detail: ""))
    case .failed(let reason)?: .unreachable(reason)
    case nil: nil
    }
  }
}
