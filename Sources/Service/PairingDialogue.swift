package import Clock
package import House
package import Pairing
package import Sender
package import WireProtocol

package import enum House.Refusal

/// The dialogue of `tutti pair` and `tutti join-household` with a person, without a terminal: it decides which PIN is tried, and
/// when.
package struct PairingDialogue {
  package enum Step: Hashable {
    /// Show the line, if there is one, ask for the PIN, and call `typed`.
    case ask(line: String?)
    /// Pair with this PIN, and call `ended`.
    case attempt(PIN)
    /// Wait for this time, show the reason meanwhile, and call `waited`.
    case wait(Nanoseconds)
    case paired(Identifier, name: String)
    case failed(Refusal)
  }

  /// Maximum number of questions. Whoever needs more is not a person.
  package static let askLimit = 20

  package let room: String
  package let isInteractive: Bool
  /// The command that shows the PIN.
  private let shownBy: String
  private var asked = 0
  /// The PIN that is being tried.
  private var pin: PIN?

  /// - Parameters:
  ///   - room: its name, or that of a household's machine.
  ///   - isInteractive: true if there is a person to ask.
  package init(room: String, isInteractive: Bool, shownBy: String = "tutti-receiver pin") {
    (self.room, self.isInteractive, self.shownBy) = (room, isInteractive, shownBy)
  }

  /// - Parameter pin: tried before anybody is asked; nil to ask at once.
  package mutating func begin(with pin: String?) -> Step {
    guard let pin else {
      return ask(nil, orFail: "give the PIN with --pin, as nobody can be asked")
    }
    return typed(pin)
  }

  /// - Parameter text: the typed line; nil if the input has ended.
  package mutating func typed(_ text: String?) -> Step {
    guard let text else { return .failed(.invalid("no PIN was typed")) }
    do throws(PIN.Mistake) {
      let pin = try PIN(text)
      self.pin = pin
      return .attempt(pin)
    } catch {
      switch error {
      case .malformed:
        let line = "A PIN has eight digits, such as 1234 5671."
        return ask(line, orFail: "a PIN has eight digits, such as 1234 5671")
      case .typo:
        return ask(
          "One of the digits is wrong: the last one checks the others. Nothing was sent.",
          orFail: "one of the PIN's digits is wrong: the last one checks the others")
      }
    }
  }

  package mutating func ended(_ report: PairingReport) -> Step {
    switch report {
    case .paired(let id, let name), .joined(let id, let name, _): return .paired(id, name: name)
    case .wrongPIN where isInteractive:
      return ask("That is not its PIN. It is shown there by: \(shownBy)", orFail: "")
    case .wrongPIN:
      return .failed(.unavailable("\(room): the PIN is wrong; it is shown there by: \(shownBy)"))
    case .refused(let refusal) where refusal.reason == .wait && isInteractive:
      return .wait(.milliseconds(Int64(refusal.wait)))
    case .refused, .unreachable, .broken, .unpaired, .sayingPIN, .keptSilent:
      return .failed(.unavailable("\(room): \(report.obstacle ?? "it has forgotten this machine")"))
    }
  }

  /// Tries the typed PIN again, after the wait.
  package mutating func waited() -> Step { pin.map { .attempt($0) } ?? ask(nil, orFail: "no PIN") }

  private mutating func ask(_ line: String?, orFail failure: String) -> Step {
    guard isInteractive else { return .failed(.invalid(failure)) }
    asked += 1
    guard asked <= Self.askLimit else { return .failed(.invalid("no PIN was typed")) }
    return .ask(line: line)
  }
}
