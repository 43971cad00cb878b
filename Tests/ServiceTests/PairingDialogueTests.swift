import Clock
import House
import Pairing
import Sender
import Service
import Testing
import WireProtocol

/// Tests of the questions and answers of `tutti pair`.
@Suite struct PairingDialogueTests {
  private let right = "1234 5671"

  private func pin() throws -> PIN { try PIN(right) }

  @Test func `a PIN that is typed is tried, and the room is paired`() throws {
    var dialogue = PairingDialogue(room: "Kitchen", isInteractive: true)
    #expect(dialogue.begin(with: nil) == .ask(line: nil))
    #expect(dialogue.typed(right) == .attempt(try pin()))
    let id = try #require(Identifier(Array(repeating: 1, count: 16)))
    #expect(dialogue.ended(.paired(id, name: "Kitchen")) == .paired(id, name: "Kitchen"))
  }

  @Test(arguments: [
    ("1234 5673", "checks the others"), ("1243-5671", "checks the others"),
    ("123", "eight digits"), ("", "eight digits"), ("1234 567x", "eight digits"),
  ]) func `a slip of the finger is told before anything is sent`(
    typed: String, hint: String
  ) {
    var dialogue = PairingDialogue(room: "Kitchen", isInteractive: true)
    _ = dialogue.begin(with: nil)
    guard case .ask(let line?) = dialogue.typed(typed) else {
      Issue.record("not asked again")
      return
    }
    #expect(line.contains(hint))
    var script = PairingDialogue(room: "Kitchen", isInteractive: false)
    guard case .failed(.invalid(let line)) = script.begin(with: typed) else {
      Issue.record("not refused")
      return
    }
    #expect(line.contains(hint))
  }

  @Test func `a wrong PIN is asked for again, and a script is told`() throws {
    var dialogue = PairingDialogue(room: "Kitchen", isInteractive: true)
    _ = dialogue.begin(with: right)
    guard case .ask(_?) = dialogue.ended(.wrongPIN) else {
      Issue.record("not asked again")
      return
    }
    var script = PairingDialogue(room: "Kitchen", isInteractive: false)
    _ = script.begin(with: right)
    #expect(
      script.ended(.wrongPIN)
        == .failed(
          .unavailable(
            "Kitchen: the PIN is wrong; it is shown there by: tutti-receiver pin")))
  }

  @Test func `what was typed during a delay is tried after it`() throws {
    var dialogue = PairingDialogue(room: "Kitchen", isInteractive: true)
    _ = dialogue.begin(with: right)
    let wait = PairingReport.refused(.init(reason: .wait, wait: 29_500))
    #expect(dialogue.ended(wait) == .wait(.milliseconds(29_500)))
    #expect(dialogue.waited() == .attempt(try pin()))
    var script = PairingDialogue(room: "Kitchen", isInteractive: false)
    _ = script.begin(with: right)
    #expect(
      script.ended(wait)
        == .failed(.unavailable("Kitchen: too many wrong PINs; try again in 30 s")))
  }

  @Test func `nobody is asked without end, nor where there is nobody`() {
    var dialogue = PairingDialogue(room: "Kitchen", isInteractive: true)
    var step = dialogue.begin(with: nil)
    var count = 0
    while case .ask = step {
      count += 1
      step = dialogue.typed("no")
    }
    #expect(count == PairingDialogue.askLimit)
    #expect(dialogue.typed(nil) == .failed(.invalid("no PIN was typed")))
    var script = PairingDialogue(room: "Kitchen", isInteractive: false)
    guard case .failed(.invalid) = script.begin(with: nil) else {
      Issue.record("asked a script")
      return
    }
  }
}
