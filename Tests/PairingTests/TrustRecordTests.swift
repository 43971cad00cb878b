import Pairing
import TestSupport
import Testing
import WireProtocol

@Suite struct TrustRecordTests {
  private let salt = Array(repeating: UInt8(5), count: PairingMessage.saltByteCount)

  private func pairing(_ number: UInt8, _ name: String = "study") throws -> Pairings.Pairing {
    .init(id: try #require(Identifier(Array(repeating: number, count: 16))), name: name)
  }

  private func record() throws -> TrustRecord {
    var record = TrustRecord()
    try record.change(to: PIN(random: 1_234_567), salt: salt, with: FakeArithmetic())
    record.memory.pairings = Pairings([try pairing(1, "Ann's laptop"), try pairing(2, "")])
    record.memory.wrongGuesses = 2
    return record
  }

  @Test func `a receiver's record is read as it was written`() throws {
    let record = try record()
    #expect(TrustRecord(text: record.text) == record)
    let paired = Pairings([try pairing(7, "Kitchen"), try pairing(8, "Bad zimmer")])
    #expect(Pairings(text: paired.text) == paired)
  }

  @Test func `a damaged record trusts nobody and forgets no guess`() throws {
    let text = try record().text
    #expect(TrustRecord(text: "") == TrustRecord())
    let damaged = TrustRecord(
      text: text.replacing("wrong_guesses 2", with: "wrong_guesses ?")
        .replacing("pairing 0101", with: "pairing xx01"))
    #expect(damaged.memory.wrongGuesses == .max)
    #expect(damaged.memory.pairings.all == [try pairing(2, "")])
    let torn = TrustRecord(text: text.replacing("verifier", with: "verify"))
    #expect(torn.pin == nil)
    #expect(torn.memory.verifier == nil)
  }

  @Test func `a name cannot add a line`() throws {
    var record = TrustRecord()
    let evil = "x\npairing \(String(repeating: "09", count: 16)) y"
    record.memory.pairings.add(try pairing(1, evil))
    let read = TrustRecord(text: record.text)
    #expect(read.memory.pairings.all.map(\.id) == [try pairing(1).id])
  }

  @Test func `another PIN leaves the pairings, and guesses of the old one count no more`() throws {
    var record = try record()
    let before = record
    try record.change(to: PIN(random: 89), salt: salt, with: FakeArithmetic())
    #expect(record.pin?.digits == PIN(random: 89).digits)
    #expect(record.memory.pairings == before.memory.pairings)
    #expect(record.memory.wrongGuesses == 0)
    #expect(record.memory.verifier != before.memory.verifier)
  }

  @Test func `what a session and a person change meanwhile are both kept`() throws {
    let base = try record().memory
    var session = base
    session.pairings.add(try pairing(3, "new"))
    session.wrongGuesses = 0
    var kept = base
    kept.pairings.remove(try pairing(1).id)
    kept.verifier = nil
    let merged = session.merged(into: kept, since: base)
    #expect(merged.pairings.all == [try pairing(2, ""), try pairing(3, "new")])
    #expect(merged.wrongGuesses == 0)
    #expect(merged.verifier == nil)
    var leaving = base
    leaving.pairings.remove(try pairing(2).id)
    kept = base
    kept.wrongGuesses = 5
    let other = leaving.merged(into: kept, since: base)
    #expect(other.pairings.all == [try pairing(1, "Ann's laptop")])
    #expect(other.wrongGuesses == 5)
  }

  @Test func `a pairing is found by its name, or by how its identifier begins`() throws {
    let pairings = Pairings([try pairing(1, "Study"), try pairing(2, "study"), try pairing(3, "x")])
    #expect(pairings.matches("study").count == 2)
    #expect(pairings.matches("0303") == [try pairing(3, "x")])
    #expect(pairings.matches("03").isEmpty)
    #expect(pairings.matches("attic").isEmpty)
  }
}
