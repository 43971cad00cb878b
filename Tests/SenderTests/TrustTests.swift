import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Tests of which receivers the sender accepts as a room, and of its behaviour if it is not
/// trusted.
@Suite struct TrustTests {
  private static func connects(_ group: TestGroup) -> Int {
    group.outputs.count { $0 == .connect(TestGroup.room, .control) }
  }

  @Test func `a receiver with another key than the wanted one hears nothing`() {
    var group = TestGroup(rooms: 0)
    group.handle(.roomAdded(TestGroup.room, name: "k", receiverID: .counting(from: 1)))
    group.handle(.connected(TestGroup.room, .control, .test(.counting(from: 2))))
    #expect(group.told().isEmpty)
    #expect(
      group.events.changes(of: TestGroup.room) == [
        .unreachable(reason: "another receiver answers at its address")
      ])
    #expect(group.outputs.contains(.close(TestGroup.room, .control)))
  }

  @Test func `a room that is off is told of once, whatever each of its addresses says`() {
    var group = TestGroup()
    for reason in ["[fe80::1]:7770 refused", "10.0.0.2:7770 timed out", "127.0.0.1:7770 refused"] {
      group.handle(.closed(TestGroup.room, .control, reason: reason))
      group.advance(by: .seconds(60))
    }
    let told = group.events.filter { if case .room(_, .unreachable) = $0 { true } else { false } }
    #expect(told.count == 1)
    // Another failure is reported again.
    group.handle(.connected(TestGroup.room, .control, .test()))
    group.say(.welcome(.test()))
    group.handle(.closed(TestGroup.room, .control, reason: "gone"))
    #expect(group.events.changes(of: TestGroup.room).contains(.gone(reason: "gone")))
  }

  @Test func `a receiver that names another identifier than its key's breaks the protocol`() {
    var group = TestGroup()
    group.handle(.connected(TestGroup.room, .control, .test(.counting(from: 2))))
    group.say(.welcome(.test()))
    guard case .goodbye(let goodbye)? = group.told().last else {
      Issue.record("no goodbye")
      return
    }
    #expect(goodbye.reason == .protocolViolation)
    #expect(!group.outputs.contains(.connect(TestGroup.room, .media)))
  }

  @Test func `music goes only to the receiver that control is connected to`() {
    var group = TestGroup()
    group.greet()
    group.handle(.connected(TestGroup.room, .media, .test(.counting(from: 2))))
    #expect(group.streamed().isEmpty)
    #expect(group.outputs.contains(.close(TestGroup.room, .media)))
  }

  @Test func `a proof goes out before the hello, where there is one`() {
    var group = TestGroup()
    let proof = Array(repeating: UInt8(3), count: 32)
    group.handle(.connected(TestGroup.room, .control, .test(), proof: proof))
    #expect(group.told().first == .prove(proof))
    guard case .hello? = group.told().dropFirst().first else {
      Issue.record("no hello")
      return
    }
  }

  @Test func `a room that is not paired says once what to do, and is asked again after a minute`() {
    var group = TestGroup()
    group.handle(.connected(TestGroup.room, .control))
    group.say(.refuse(Refusal(reason: .notPaired, detail: "")))
    let advice = "it is not paired with this machine: tutti pair 'room 1'"
    #expect(group.events.changes(of: TestGroup.room) == [.notPaired(advice: advice)])
    group.take()
    group.advance(by: .seconds(59))
    #expect(Self.connects(group) == 0)
    group.advance(by: .seconds(2))
    #expect(Self.connects(group) == 1)
    group.handle(.connected(TestGroup.room, .control))
    group.say(.refuse(Refusal(reason: .notPaired, detail: "")))
    #expect(group.events.isEmpty)
  }

  @Test func `a room that forgets this sender while it plays says so too`() {
    var group = TestGroup.playing()
    group.say(.goodbye(Goodbye(reason: .notPaired, detail: "")))
    #expect(
      group.events.changes(of: TestGroup.room) == [
        .notPaired(advice: "it is not paired with this machine: tutti pair Kitchen")
      ])
    #expect(group.outputs.contains(.close(TestGroup.room, .media)))
    group.take()
    group.advance(by: .seconds(59))
    #expect(Self.connects(group) == 0)
  }

  @Test func `a room that is lent is asked for every five seconds, and never taken over`() {
    var group = TestGroup.playing(["8000x1:800000"])
    group.say(.goodbye(Goodbye(reason: .lent, detail: "loft")))
    #expect(
      group.events.changes(of: TestGroup.room) == [.gone(reason: "loft plays there for a while")])
    for _ in 1...3 {
      group.take()
      group.advance(by: .milliseconds(4900))
      #expect(Self.connects(group) == 0)
      group.advance(by: .milliseconds(200))
      #expect(Self.connects(group) == 1)
      group.handle(.connected(TestGroup.room, .control))
      guard case .hello(let hello)? = group.told().last else {
        Issue.record("no hello")
        return
      }
      #expect(!hello.takesOver)
      group.say(.refuse(Refusal(reason: .busy, detail: "loft")))
    }
  }

  @Test func `time requests are answered with the key of the session that they name`() throws {
    var group = TestGroup(rooms: 2)
    group.greet(TestGroup.room)
    group.greet(TestGroup.other)
    for room in [TestGroup.room, TestGroup.other] {
      guard case .hello(let hello)? = group.told(room).first else {
        Issue.record("no hello")
        return
      }
      let id = TimeRequest.keyID(ofSession: hello.session)
      #expect(
        group.session.clockKey(id) == ClockKey(SecuredPeer.test(room).clockKey))
    }
    #expect(group.session.clockKey(12_345) == nil)
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    guard case .hello(let hello)? = group.told().first else { return }
    #expect(group.session.clockKey(TimeRequest.keyID(ofSession: hello.session)) == nil)
  }

  @Test func `names from the network are one word of a command`() {
    #expect("Kitchen".asShellWord == "Kitchen")
    #expect("Living Room".asShellWord == "'Living Room'")
    #expect("it's; reboot".asShellWord == "'it'\\''s; reboot'")
    #expect("Küche".asShellWord == "'Küche'")
    #expect("".asShellWord == "''")
  }
}

/// Tests of `tutti pair` and `tutti unpair`, without the network.
@Suite struct PairingVisitTests {
  private static let arithmetic = FakeArithmetic()
  private static let pin = PIN(random: 1)
  private static let sender = Identifier.counting(from: 1)

  private struct Bed {
    var visit: PairingVisit
    var now = LocalTime(nanoseconds: 0)
    var said: [PairingMessage] = []
    var isClosed = false
    var report: PairingReport?

    init(_ purpose: PairingVisit.Purpose = .pair(pin), wanted: Identifier? = nil) {
      visit = PairingVisit(
        purpose, senderID: sender, senderName: "study", receiverID: wanted, arithmetic: arithmetic,
        at: now)
    }

    mutating func handle(_ input: PairingVisit.Input) {
      visit.handle(input, at: now)
      while let output = visit.nextOutput() {
        switch output {
        case .send(let bytes):
          var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
          framer.append(bytes)
          if let message = try? framer.next().flatMap({ try PairingMessage.decode($0) }) {
            said.append(message)
          }
        case .close: isClosed = true
        case .done(let report): self.report = report
        }
      }
    }

    mutating func say(_ message: PairingMessage) { handle(.received(message.encoded())) }
  }

  private static func verifier(_ pin: PIN = pin) throws -> PairingVerifier {
    let peer = SecuredPeer.test()
    return PairingVerifier(
      try arithmetic.verifierRecord(pin: pin.digits, salt: Array(repeating: 7, count: 16)),
      context: Transcript.pairing(prover: sender, verifier: peer.id, binding: peer.binding),
      arithmetic: arithmetic)
  }

  @Test func `the right PIN pairs with the receiver, whose identifier is told`() throws {
    var bed = Bed()
    var verifier = try Self.verifier()
    bed.handle(.connected(.test()))
    #expect(bed.said == [.request(name: "study")])
    bed.say(verifier.salt)
    #expect(verifier.received(bed.said[1]) == .keepGuess)
    bed.say(try #require(try verifier.guessKept()))
    #expect(verifier.received(bed.said[2]) == .proved)
    bed.say(.paired(name: "Kitchen"))
    #expect(bed.report == .paired(SecuredPeer.test().id, name: "Kitchen"))
    #expect(bed.isClosed)
    #expect(bed.visit.nextDeadline == nil)
  }

  @Test func `a wrong PIN is told as such, without the receiver's word`() throws {
    var bed = Bed()
    var verifier = try Self.verifier(PIN(random: 2))
    bed.handle(.connected(.test()))
    bed.say(verifier.salt)
    _ = verifier.received(bed.said[1])
    bed.say(try #require(try verifier.guessKept()))
    #expect(bed.report == .wrongPIN)
    #expect(bed.said.count == 2)
    #expect(bed.isClosed)
  }

  @Test func `another receiver than the wanted one is not asked`() {
    var bed = Bed(wanted: .counting(from: 50))
    bed.handle(.connected(.test()))
    #expect(bed.said.isEmpty)
    #expect(bed.report == .unreachable("another receiver answers at its address"))
  }

  @Test func `a refusal says what to do`() {
    let refusals: [(PairingRefusal, String)] = [
      (.init(reason: .wait, wait: 29_500), "too many wrong PINs; try again in 30 s"),
      (.init(reason: .busy), "somebody else is pairing with it; try again in a moment"),
      (.init(reason: .notPossible, detail: "it has no PIN"), "it has no PIN"),
    ]
    for (refusal, advice) in refusals {
      var bed = Bed()
      bed.handle(.connected(.test()))
      bed.say(.refused(refusal))
      #expect(bed.report?.obstacle == advice)
    }
  }

  @Test func `a receiver that says nothing, or nonsense, or hangs up, is told of`() {
    var silent = Bed()
    silent.handle(.connected(.test()))
    silent.now = silent.now + PairingVisit.timeout
    silent.handle(.timeout)
    #expect(silent.report == .unreachable("no answer"))
    var gone = Bed()
    gone.handle(.closed(reason: "connection refused"))
    #expect(gone.report == .unreachable("connection refused"))
    for nonsense in [
      PairingMessage.unpaired.encoded(), ControlMessage.keepAlive.encoded(), [0, 0, 9, 9, 1, 1],
    ] {
      var bed = Bed()
      bed.handle(.connected(.test()))
      bed.handle(.received(nonsense))
      guard case .broken? = bed.report else {
        Issue.record("\(String(describing: bed.report))")
        return
      }
    }
  }

  @Test func `a receiver is asked to say its PIN, and one of an older program cannot`() {
    var bed = Bed(.sayPIN)
    bed.handle(.connected(.test()))
    #expect(bed.said == [.sayPIN])
    bed.say(.sayingPIN)
    #expect(bed.report == .sayingPIN)
    #expect(bed.report?.obstacle == nil)
    var old = Bed(.sayPIN)
    old.handle(.connected(.test()))
    let refusal = Refusal(reason: .protocolViolation, detail: "not this protocol")
    old.handle(.received(ControlMessage.refuse(refusal).encoded()))
    #expect(old.report?.obstacle == "its program is too old to say its PIN")
  }

  @Test(arguments: [
    (
      PairingRefusal(reason: .wait, wait: 24_001, detail: "it has said its PIN often enough"),
      "it has said its PIN often enough; it says it again in 25 s"
    ),
    (
      PairingRefusal(reason: .wait, wait: 3_000_001, detail: "enough"),
      "enough; it says it again in 51 min"
    ),
    (PairingRefusal(reason: .notPossible), "it does not say its PIN"),
  ])
  func `why a receiver says no PIN is told`(_ refusal: PairingRefusal, _ obstacle: String) {
    var bed = Bed(.sayPIN)
    bed.handle(.connected(.test()))
    bed.say(.refused(refusal))
    #expect(bed.report?.obstacle == obstacle)
  }

  @Test func `unpairing asks to be forgotten and waits until it is`() {
    var bed = Bed(.unpair)
    bed.handle(.connected(.test()))
    #expect(bed.said == [.unpair])
    #expect(bed.report == nil)
    bed.say(.unpaired)
    #expect(bed.report == .unpaired)
  }
}
