import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Tests of a machine that joins a household, and of the daemon that it asks, without the network.
@Suite struct HouseholdOfferTests {
  private static let arithmetic = FakeArithmetic()
  private static let pin = PIN(random: 1)
  private static let daemon = Identifier.counting(from: 9)
  private static let machine = Identifier.counting(from: 1)
  private static let key = Array("a key as PEM".utf8)
  private static let home = PairingMessage.household(name: "home", key: key)

  private static func record() throws -> PairingVerifierRecord {
    try arithmetic.verifierRecord(
      pin: pin.digits, salt: Array(repeating: 7, count: PairingMessage.saltByteCount))
  }

  /// One end knows the other, and both know their connection.
  private static func peer(_ id: Identifier) -> SecuredPeer {
    SecuredPeer(
      id: id, clockKey: Array(repeating: 1, count: 16), binding: Array(repeating: 2, count: 32))
  }

  private static func decode(_ bytes: [UInt8]) throws -> PairingMessage {
    var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
    framer.append(bytes)
    return try #require(try framer.next().flatMap { try PairingMessage.decode($0) })
  }

  /// The daemon's side alone.
  private struct Desk {
    var offer: HouseholdOffer
    var now = LocalTime(nanoseconds: 0)
    var said: [PairingMessage] = []
    var guesses = 0
    var joined: [String] = []
    var isClosed = false

    init() throws {
      offer = HouseholdOffer(
        id: daemon, name: "home", key: key, record: try record(), arithmetic: arithmetic, at: now)
    }

    mutating func handle(_ input: HouseholdOffer.Input) throws {
      offer.handle(input, at: now)
      while let output = offer.nextOutput() {
        #expect(!isClosed, "\(output) after the end")
        switch output {
        case .send(let bytes): said.append(try decode(bytes))
        case .keepGuess: guesses += 1
        case .joined(let name): joined.append(name)
        case .close: isClosed = true
        }
      }
    }

    mutating func say(_ message: PairingMessage) throws {
      try handle(.received(message.encoded()))
    }

    /// A machine has connected and asked.
    static func asked() throws -> Desk {
      var desk = try Desk()
      try desk.handle(.connected(peer(machine)))
      try desk.say(.request(name: "attic"))
      return desk
    }

    /// Returns the machine's side as well: it has sent its share.
    static func guessing(_ pin: PIN = pin) throws -> (desk: Desk, machine: PairingProver) {
      var desk = try asked()
      var prover = PairingProver(
        pin: pin,
        context: Transcript.pairing(
          prover: machine, verifier: daemon, binding: peer(machine).binding),
        arithmetic: arithmetic)
      guard case .send(let share) = prover.received(try #require(desk.said.last)) else {
        throw Missing()
      }
      try desk.say(share)
      return (desk, prover)
    }
  }

  private struct Missing: Error {}

  private static func visit(_ pin: PIN = pin, joins: Bool = true) -> PairingVisit {
    PairingVisit(
      .pair(pin), senderID: machine, senderName: "attic", receiverID: nil, joins: joins,
      arithmetic: arithmetic, at: LocalTime(nanoseconds: 0))
  }

  /// Returns the result of a visit of which the daemon's messages are these.
  private static func report(
    _ pin: PIN = pin, joins: Bool = true, to desk: inout Desk
  ) throws -> PairingReport? {
    var (visit, report) = (visit(pin, joins: joins), PairingReport?.none)
    visit.handle(.connected(peer(daemon)), at: desk.now)
    try desk.handle(.connected(peer(machine)))
    var heard = 0
    while report == nil {
      while let output = visit.nextOutput() {
        switch output {
        case .send(let bytes): try desk.handle(.received(bytes))
        case .close: try desk.handle(.closed)
        case .done(let made): report = made
        }
      }
      if desk.guesses > 0 { try desk.handle(.guessKept) }
      guard report == nil, desk.said.count > heard else { return report }
      visit.handle(.received(desk.said[heard].encoded()), at: desk.now)
      heard += 1
    }
    return report
  }

  // MARK: - The right PIN

  @Test func `who knows the PIN of a household gets its key, from the daemon that is named`() throws
  {
    var desk = try Desk()
    let report = try Self.report(to: &desk)
    #expect(report == .joined(Self.daemon, name: "home", key: Self.key))
    #expect(report?.obstacle == nil)
    #expect(desk.joined == ["attic"] && desk.guesses == 1 && desk.isClosed)
    #expect(desk.offer.nextDeadline == nil)
  }

  @Test func `a household's key is no room's answer, and a room's no household's`() throws {
    var desk = try Desk()
    #expect(
      try Self.report(joins: false, to: &desk)
        == .broken("it sent a message that does not belong here"))
    // A room that is asked for a household.
    var visit = Self.visit()
    let now = LocalTime(nanoseconds: 0)
    visit.handle(.connected(Self.peer(Self.daemon)), at: now)
    #expect(visit.nextOutput() == .send(PairingMessage.request(name: "attic").encoded()))
    var verifier = PairingVerifier(
      try Self.record(),
      context: Transcript.pairing(
        prover: Self.machine, verifier: Self.daemon, binding: Self.peer(Self.daemon).binding),
      arithmetic: Self.arithmetic)
    visit.handle(.received(verifier.salt.encoded()), at: now)
    var report: PairingReport?
    while let output = visit.nextOutput() {
      switch output {
      case .send(let bytes):
        guard verifier.received(try Self.decode(bytes)) == .keepGuess else { continue }
        let answer = try #require(try verifier.guessKept())
        visit.handle(.received(answer.encoded()), at: now)
        visit.handle(.received(PairingMessage.paired(name: "Kitchen").encoded()), at: now)
      case .close: break
      case .done(let made): report = made
      }
    }
    #expect(report == .broken("it sent a message that does not belong here"))
  }

  // MARK: - Guesses

  @Test func `who has another PIN gets no key, and has used a guess`() throws {
    var desk = try Desk()
    #expect(try Self.report(PIN(random: 2), to: &desk) == .wrongPIN)
    #expect(desk.guesses == 1 && desk.joined.isEmpty)
    // One that goes on all the same.
    var (other, _) = try Desk.guessing(PIN(random: 2))
    try other.handle(.guessKept)
    try other.say(.confirm(Array(repeating: 0, count: PairingMessage.confirmByteCount)))
    #expect(other.said.last == .refused(PairingRefusal(reason: .wrongPIN)))
    #expect(other.isClosed && other.joined.isEmpty)
  }

  @Test func `a household answers no share before the guess is on the disk`() throws {
    var (desk, machine) = try Desk.guessing()
    #expect(desk.guesses == 1 && desk.said.count == 1 && !desk.isClosed)
    try desk.handle(.guessKept)
    guard case .send(let confirm) = machine.received(try #require(desk.said.last)) else {
      Issue.record("no confirmation")
      return
    }
    // The disk answers once.
    try desk.handle(.guessKept)
    #expect(desk.said.count == 2)
    try desk.say(confirm)
    #expect(desk.said.last == Self.home)
  }

  @Test func `a guess too many is refused with its wait`() throws {
    let refusal = PairingRefusal(reason: .wait, wait: 30_000)
    var (desk, _) = try Desk.guessing()
    try desk.handle(.guessRefused(refusal))
    #expect(desk.said.last == .refused(refusal) && desk.isClosed)
    try desk.handle(.guessKept)
    #expect(desk.said.count == 2)
  }

  @Test func `a share that is no point costs a guess, and ends the offer`() throws {
    var desk = try Desk.asked()
    try desk.say(.share(Array(repeating: 0, count: PairingMessage.shareByteCount)))
    #expect(desk.guesses == 1)
    try desk.handle(.guessKept)
    #expect(desk.isClosed && desk.said.count == 1)
  }

  // MARK: - Strangers

  @Test func `a message out of turn, or none, ends the offer without an answer`() throws {
    let share = PairingMessage.share(Array(repeating: 4, count: PairingMessage.shareByteCount))
    for messages: [PairingMessage] in [
      [share], [.unpair], [.sayPIN], [Self.home], [.request(name: "a"), .request(name: "b")],
      [.request(name: "a"), .confirm(Array(repeating: 0, count: 32))],
      [.request(name: "a"), share, share], [.request(name: "a"), Self.home],
    ] {
      var desk = try Desk()
      try desk.handle(.connected(Self.peer(Self.machine)))
      try desk.handle(.received(messages.flatMap { $0.encoded() }))
      #expect(desk.isClosed && desk.joined.isEmpty, "\(messages)")
      #expect(desk.said.count == messages.count - 1 || desk.guesses == 1, "\(messages)")
    }
    for garbage in [
      [0, 0, 0, 2, 9, 9], [0xff, 0xff, 0xff, 0xff], ControlMessage.keepAlive.encoded(),
    ] as [[UInt8]] {
      var desk = try Desk()
      try desk.handle(.connected(Self.peer(Self.machine)))
      try desk.handle(.received(garbage))
      #expect(desk.isClosed && desk.said.isEmpty)
    }
  }

  @Test func `an offer ends after ten seconds, and when the machine leaves`() throws {
    var (silent, _) = try Desk.guessing()
    silent.now = try #require(silent.offer.nextDeadline) - Nanoseconds(1)
    try silent.handle(.timeout)
    #expect(!silent.isClosed)
    silent.now = silent.now + Nanoseconds(1)
    try silent.handle(.timeout)
    #expect(silent.isClosed && silent.now == LocalTime(nanoseconds: 10_000_000_000))
    var (gone, _) = try Desk.guessing()
    try gone.handle(.closed)
    try gone.handle(.guessKept)
    #expect(gone.said.count == 1 && gone.offer.nextDeadline == nil)
  }

  @Test func `another machine is told that one joins already`() throws {
    #expect(try Self.decode(HouseholdOffer.busy) == .refused(PairingRefusal(reason: .busy)))
  }

  @Test(arguments: 1...200) func `nothing that strangers send gets a key`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var desk = try Desk.asked()
    while !desk.isClosed {
      switch UInt8.random(in: 0...6, using: &random) {
      case 0: try desk.handle(.received(random.bytes(Int.random(in: 0...90, using: &random))))
      case 1: try desk.say(.share([4] + random.bytes(PairingMessage.shareByteCount - 1)))
      case 2: try desk.say(.confirm(random.bytes(PairingMessage.confirmByteCount)))
      case 3: try desk.say(.request(name: "x"))
      case 4: try desk.handle(.guessRefused(PairingRefusal(reason: .wait, wait: 1)))
      default: try desk.handle(.guessKept)
      }
    }
    #expect(desk.joined.isEmpty && !desk.said.contains(Self.home))
    #expect(desk.guesses <= 1)
  }
}
