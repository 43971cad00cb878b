import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Tests of pairing with the receiver, over its session's inputs and outputs.
@Suite struct PairingDeskTests {
  private static let arithmetic = FakeArithmetic()
  private static let pin = PIN(random: 1)
  private static let salt = Array(repeating: UInt8(7), count: 16)

  private static func trust(_ pin: PIN = pin, wrongGuesses: Int = 0) throws -> TrustMemory {
    TrustMemory(
      wrongGuesses: wrongGuesses,
      verifier: try arithmetic.verifierRecord(pin: pin.digits, salt: salt))
  }

  /// One sender that pairs, as far as the receiver lets it.
  private struct Visit {
    let id: ConnectionID
    var prover: PairingProver
    var outcome: PairingOutcome?

    init(
      _ receiver: inout TestReceiver, _ pin: PIN = PairingDeskTests.pin, sender: UInt8 = 1,
      peer: String = "study"
    ) {
      id = receiver.accept(sender: sender, peer: peer)
      let peer = SecuredPeer.test(sender)
      prover = PairingProver(
        pin: pin,
        context: Transcript.pairing(
          prover: peer.id, verifier: .counting(from: 9), binding: peer.binding),
        arithmetic: PairingDeskTests.arithmetic)
      say(.request(name: "study"), to: &receiver)
    }

    mutating func say(_ message: PairingMessage, to receiver: inout TestReceiver) {
      receiver.handle(.received(id, message.encoded()))
      hear(&receiver)
    }

    /// Answers the receiver's messages until it waits for something.
    mutating func hear(_ receiver: inout TestReceiver) {
      for message in receiver.takePairing(id) {
        switch prover.received(message) {
        case .send(let answer): say(answer, to: &receiver)
        case .ended(let outcome): self.outcome = outcome
        }
      }
    }

    /// Simulates the receiver's disk storing the newest change.
    mutating func keep(_ receiver: inout TestReceiver) {
      guard let number = receiver.kept.last?.number else { return }
      receiver.handle(.trustKept(number))
      hear(&receiver)
    }
  }

  @Test func `who types the PIN is paired, once that is on disk`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust(wrongGuesses: 2))
    var visit = Visit(&receiver)
    #expect(receiver.kept.map(\.trust.wrongGuesses) == [3])
    #expect(visit.outcome == nil)
    visit.keep(&receiver)
    #expect(visit.outcome == nil)
    #expect(receiver.kept.last?.trust.pairings.contains(.counting(from: 1)) == true)
    #expect(receiver.kept.last?.trust.wrongGuesses == 0)
    visit.keep(&receiver)
    #expect(visit.outcome == .paired(name: "Kitchen"))
    #expect(receiver.closed == [visit.id])
    #expect(receiver.events == [.paired(name: "study", peer: "study")])
    let stranger = receiver.hello(sender: 2, session: 6)
    let friend = receiver.hello(sender: 1)
    #expect(receiver.welcome(stranger) == nil)
    #expect(receiver.welcome(friend) != nil)
  }

  @Test func `nothing about a PIN is said before the guess is on disk`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    var visit = Visit(&receiver, PIN(random: 2))
    #expect(receiver.kept.last?.trust.wrongGuesses == 1)
    visit.hear(&receiver)
    #expect(visit.outcome == nil)
    visit.keep(&receiver)
    #expect(visit.outcome == .wrongPIN)
  }

  @Test func `a wrong PIN pairs nobody, and after three there is a delay for all`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    for sender: UInt8 in 1...3 {
      var visit = Visit(&receiver, PIN(random: 2), sender: sender)
      visit.keep(&receiver)
      #expect(visit.outcome == .wrongPIN)
      receiver.handle(.closed(visit.id))
    }
    let fourth = Visit(&receiver, sender: 4)
    guard case .refused(let refusal)? = fourth.outcome else {
      Issue.record("\(String(describing: fourth.outcome))")
      return
    }
    #expect(refusal.reason == .wait)
    #expect((29_000...30_001).contains(refusal.wait))
    receiver.advance(by: .seconds(31))
    var right = Visit(&receiver, sender: 4)
    right.keep(&receiver)
    right.keep(&receiver)
    #expect(right.outcome == .paired(name: "Kitchen"))
  }

  @Test func `hanging up gives no guess back, nor does a restart`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    for _ in 1...3 {
      var visit = Visit(&receiver, PIN(random: 2))
      receiver.handle(.closed(visit.id))
      visit.keep(&receiver)
    }
    #expect(receiver.kept.last?.trust.wrongGuesses == 3)
    let kept = try #require(receiver.kept.last?.trust)
    var restarted = TestReceiver(access: .paired, trust: kept)
    let visit = Visit(&restarted)
    guard case .refused(let refusal)? = visit.outcome else {
      Issue.record("\(String(describing: visit.outcome))")
      return
    }
    #expect(refusal.reason == .wait)
  }

  @Test func `one sender pairs at a time, and one that takes too long is sent away`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    // The sender has sent its share, and gets no answer before that is on disk.
    let slow = Visit(&receiver)
    let other = Visit(&receiver, sender: 2)
    #expect(other.outcome == .refused(PairingRefusal(reason: .busy)))
    receiver.advance(by: .seconds(10))
    #expect(receiver.closed.contains(slow.id))
    var next = Visit(&receiver, sender: 2)
    next.keep(&receiver)
    next.keep(&receiver)
    #expect(next.outcome == .paired(name: "Kitchen"))
  }

  /// Sends a request, takes the salt, and sends nothing more.
  private static func squat(
    _ receiver: inout TestReceiver, _ sender: UInt8, peer: String
  ) -> ConnectionID {
    let id = receiver.accept(sender: sender, peer: peer)
    receiver.handle(.received(id, PairingMessage.request(name: "squatter").encoded()))
    return id
  }

  @Test(arguments: [1, 15, 40]) func `strangers who ask and say no more keep nobody from pairing`(
    count: Int
  ) throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    // Requests come from many hosts, again and again, for a minute.
    for second in 0..<60 {
      for number in 0..<count where (second + number) % 5 == 0 {
        _ = Self.squat(&receiver, UInt8(100 + number), peer: "stranger \(number)")
      }
      receiver.advance(by: .seconds(1))
      guard second % 10 == 0 else { continue }
      var honest = Visit(&receiver)
      honest.keep(&receiver)
      honest.keep(&receiver)
      #expect(honest.outcome == .paired(name: "Kitchen"))
    }
    #expect(receiver.kept.last?.trust.wrongGuesses == 0)
  }

  @Test func `of those at the door, the host with the most makes room, and all leave in the end`()
    throws
  {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    let quiet = Self.squat(&receiver, 1, peer: "study")
    let crowd = (0..<20).map { Self.squat(&receiver, UInt8(50 + $0), peer: "crowd") }
    #expect(receiver.closed == Array(crowd.prefix(5)))
    receiver.advance(by: .seconds(10))
    #expect(Set(receiver.closed) == Set(crowd + [quiet]))
  }

  @Test func `those who wait at the door have no more guesses than others`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    let waiting = Self.squat(&receiver, 9, peer: "patient")
    for sender: UInt8 in 1...3 {
      var visit = Visit(&receiver, PIN(random: 2), sender: sender)
      visit.keep(&receiver)
      #expect(visit.outcome == .wrongPIN)
      receiver.handle(.closed(visit.id))
    }
    let share = PairingMessage.share(Array(repeating: 4, count: 65))
    receiver.handle(.received(waiting, share.encoded()))
    guard case .refused(let refusal)? = receiver.takePairing(waiting).last else {
      Issue.record("a fourth guess was taken")
      return
    }
    #expect(refusal.reason == .wait)
  }

  @Test func `a disk that does not answer ends the exchange with a word`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    var visit = Visit(&receiver)
    receiver.advance(by: .seconds(10))
    visit.hear(&receiver)
    guard case .refused(let refusal)? = visit.outcome else {
      Issue.record("\(String(describing: visit.outcome))")
      return
    }
    #expect(refusal.reason == .notPossible)
    #expect(receiver.closed == [visit.id])
  }

  @Test func `where there is no PIN, and where there is no more room, nobody is let guess`() throws
  {
    var without = TestReceiver(access: .paired)
    #expect(
      Visit(&without).outcome
        == .refused(PairingRefusal(reason: .notPossible, detail: "it has no PIN")))
    var trust = try Self.trust()
    for number in 0..<UInt8(Pairings.limit) {
      trust.pairings.add(.init(id: .counting(from: 100 &+ number), name: ""))
    }
    var full = TestReceiver(access: .paired, trust: trust)
    guard case .refused(let refusal)? = Visit(&full, sender: 1).outcome else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.reason == .notPossible)
    #expect(full.kept.isEmpty)
  }

  @Test func `a PIN that is changed meanwhile ends the exchange`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    var visit = Visit(&receiver)
    receiver.handle(.trustChanged(try Self.trust(PIN(random: 3))))
    visit.hear(&receiver)
    guard case .refused(let refusal)? = visit.outcome else {
      Issue.record("\(String(describing: visit.outcome))")
      return
    }
    #expect(refusal.reason == .notPossible)
    #expect(receiver.closed == [visit.id])
  }

  @Test func `noise at the desk ends the visit, and counts only what was a guess`() throws {
    for noise in [
      ControlMessage.keepAlive.encoded(), [0, 0, 0, 1], [0, 0, 0, 3, 4, 2, 9],
      PairingMessage.paired(name: "me").encoded(),
    ] {
      var receiver = TestReceiver(access: .paired, trust: try Self.trust())
      let id = receiver.accept(sender: 1)
      receiver.handle(.received(id, PairingMessage.request(name: "s").encoded() + noise))
      #expect(receiver.closed == [id])
      #expect(receiver.kept.isEmpty)
    }
  }

  // MARK: - Forgetting

  @Test func `a sender that asks to be forgotten is, once that is on disk, and hears of it`() throws
  {
    var trust = try Self.trust()
    trust.pairings.add(.init(id: .counting(from: 1), name: "study"))
    var receiver = TestReceiver(access: .paired, trust: trust)
    let control = receiver.hello(sender: 1)
    let leaver = receiver.accept(sender: 1)
    receiver.handle(.received(leaver, PairingMessage.unpair.encoded()))
    #expect(receiver.takePairing(leaver).isEmpty)
    #expect(
      receiver.farewell(control) == .goodbye(Goodbye(reason: .notPaired, detail: "")))
    let number = try #require(receiver.kept.last?.number)
    #expect(receiver.kept.last?.trust.pairings.all.isEmpty == true)
    receiver.handle(.trustKept(number))
    #expect(receiver.takePairing(leaver) == [.unpaired])
    #expect(receiver.closed.contains(leaver))
  }

  @Test func `no more wait to be forgotten than the limit`() throws {
    var trust = try Self.trust()
    for sender in 1...20 as ClosedRange<UInt8> {
      trust.pairings.add(.init(id: .counting(from: sender), name: ""))
    }
    var receiver = TestReceiver(access: .paired, trust: trust)
    for sender in 1...20 as ClosedRange<UInt8> {
      let id = receiver.accept(sender: sender)
      receiver.handle(.received(id, PairingMessage.unpair.encoded()))
    }
    #expect(receiver.kept.count == PairingDesk.leaverLimit)
    #expect(receiver.closed.count == 20 - PairingDesk.leaverLimit)
  }

  @Test func `a stranger that asks to be forgotten is told that it is`() {
    var receiver = TestReceiver(access: .paired)
    let leaver = receiver.accept(sender: 1)
    receiver.handle(.received(leaver, PairingMessage.unpair.encoded()))
    #expect(receiver.takePairing(leaver) == [.unpaired])
    #expect(receiver.kept.isEmpty)
  }
}

extension TestReceiver {
  /// The changes to store, in order.
  var kept: [(trust: TrustMemory, number: Int)] {
    outputs.compactMap {
      if case .keepTrust(let trust, let number) = $0 { (trust, number) } else { nil }
    }
  }

  /// Returns the desk's messages to `id` that nobody has taken yet.
  mutating func takePairing(_ id: ConnectionID) -> [PairingMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
    for output in takeSent(id) { framer.append(output) }
    var messages: [PairingMessage] = []
    while let raw = try? framer.next() {
      if let message = try? PairingMessage.decode(raw) { messages.append(message) }
    }
    return messages
  }
}
