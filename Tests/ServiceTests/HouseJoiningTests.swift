import Clock
import House
import Pairing
import Service
import Synchronization
import TestSupport
import Testing
import WebTestSupport
import WireProtocol

import enum House.Refusal

/// Tests of how machines that join are checked by the household's PIN, in simulated time.
@Suite struct HouseJoiningTests {
  private static func wrongPIN(_ access: HouseAccess) async -> Refusal? {
    let other = PIN(random: access.pin == PIN(random: 1) ? 2 : 1)
    do throws(Refusal) {
      _ = try await access.pair(pin: other.digits, name: "x")
      return nil
    } catch {
      return error
    }
  }

  @Test func `guesses of machines and of browsers are counted together, also after a restart`()
    async throws
  {
    let fake = FakeAccess()
    let access = try fake.open()
    #expect(await access.countGuess() == nil)
    #expect(await access.countGuess() == nil)
    guard case .wrong? = await Self.wrongPIN(access) else {
      Issue.record("not taken")
      return
    }
    let wait = PairingRefusal(reason: .wait, wait: 30_000)
    #expect(await access.countGuess() == wait)
    guard case .tooMany(_, 30)? = await Self.wrongPIN(access) else {
      Issue.record("a fourth guess")
      return
    }
    let again = try fake.open()
    #expect(await again.countGuess() == wait)
    fake.pass(.seconds(30))
    #expect(await access.countGuess() == nil)
    #expect(await access.countGuess() == PairingRefusal(reason: .wait, wait: 60_000))
  }

  @Test func `a machine that knew the PIN gives all guesses back`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    for _ in 1...3 { _ = await access.countGuess() }
    #expect(fake.kept?.contains("wrong_pins 3\n") == true)
    await access.guessWasRight()
    #expect(fake.kept?.contains("wrong_pins 0\n") == true)
    for _ in 1...3 { #expect(await access.countGuess() == nil) }
  }

  @Test func `a machine's guess that no disk keeps is refused`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    fake.fillDisk()
    #expect(await access.countGuess()?.reason == .notPossible)
    fake.fillDisk(false)
    #expect(await access.countGuess() == nil)
    #expect(fake.kept?.contains("wrong_pins 2\n") == true)
  }

  /// Counts how often a record is made.
  private final class Counting: PairingArithmetic {
    let made = Mutex(0)
    private let own = FakeArithmetic()

    func verifierRecord(pin: String, salt: [UInt8]) throws(PairingError) -> PairingVerifierRecord {
      made.withLock { $0 += 1 }
      return try own.verifierRecord(pin: pin, salt: salt)
    }

    func proverShare(pin: String, salt: [UInt8]) throws(PairingError) -> PairingProverState {
      try own.proverShare(pin: pin, salt: salt)
    }

    func verifierAnswer(
      _ record: PairingVerifierRecord, shareP: [UInt8], context: [UInt8]
    ) throws(PairingError) -> PairingVerifierAnswer {
      try own.verifierAnswer(record, shareP: shareP, context: context)
    }

    func proverConfirm(
      _ state: PairingProverState, shareV: [UInt8], context: [UInt8]
    ) throws(PairingError) -> PairingConfirmations {
      try own.proverConfirm(state, shareV: shareV, context: context)
    }

    func hmac(key: [UInt8], message: [UInt8]) -> [UInt8] { own.hmac(key: key, message: message) }
  }

  @Test func `the record of a PIN is made once, and belongs to the PIN that holds`() async throws {
    let access = try FakeAccess.make()
    let arithmetic = Counting()
    let record = try await access.verifier(by: arithmetic)
    #expect(try await access.verifier(by: arithmetic) == record)
    #expect(arithmetic.made.withLock { $0 } == 1)
    let digits = try #require(access.pin).digits
    #expect(try FakeArithmetic().verifierRecord(pin: digits, salt: record.salt) == record)
    let pin = try await access.renewPIN()
    let other = try await access.verifier(by: arithmetic)
    #expect(try FakeArithmetic().verifierRecord(pin: pin.digits, salt: other.salt) == other)
    #expect(arithmetic.made.withLock { $0 } == 2)
  }
}
