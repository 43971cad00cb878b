import Audio
import Clock
import Pairing
import Receiver
import Sender
import WireProtocol

/// Feeds arbitrary inputs to the code that decides who is trusted: the files, both machines of a pairing, a household's
/// offer of its key, and the pairing desk of a receiver whose disk is slow and whose program is killed. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTrust(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  var script = Script(bytes: bytes)
  switch script.byte() % 4 {
  case 0: fuzzFiles(String(decoding: bytes.dropFirst(), as: UTF8.self))
  case 1: fuzzMachines(&script)
  case 3: fuzzOffer(&script)
  default:
    var desk = DeskUnderFire()
    while !script.isOver { desk.step(&script) }
  }
  return 0
}

private let pin = PIN(random: 1)
private let salt = [UInt8](repeating: 3, count: PairingMessage.saltByteCount)
private let arithmetic = FakeArithmetic()

private func record() -> PairingVerifierRecord {
  guard let record = try? arithmetic.verifierRecord(pin: pin.digits, salt: salt) else {
    preconditionFailure("the arithmetic of tests does not fail")
  }
  return record
}

/// The receiver, seen from this sender's end of the connection.
private func receiverPeer(of sender: UInt8) -> SecuredPeer {
  var peer = fuzzPeer(sender)
  peer.id = fuzzIdentifier(9)
  return peer
}

// MARK: - Files

/// Checks that a file that is written and read again has the same content.
private func fuzzFiles(_ text: String) {
  let trust = TrustRecord(text: text)
  precondition(TrustRecord(text: trust.text) == trust)
  check(trust.memory.pairings)
  let pairings = Pairings(text: text)
  precondition(Pairings(text: pairings.text) == pairings)
  check(pairings)
  precondition((trust.pin == nil) == (trust.memory.verifier == nil))
  _ = pairings.matches(String(text.prefix(40)))
  if let typed = try? PIN(text) {
    precondition((try? PIN(typed.written)) == typed)
  }
  // A pairing that one side has removed must not come back.
  var changed = trust.memory
  let removed = pairings.all.first.map { changed.pairings.remove($0.id) } ?? false
  let merged = changed.merged(into: trust.memory, since: trust.memory)
  if removed, let first = pairings.all.first { precondition(!merged.pairings.contains(first.id)) }
}

private func check(_ pairings: Pairings) {
  precondition(pairings.all.count <= Pairings.limit)
  for pairing in pairings.all {
    precondition(pairing.name.utf8.count <= ProtocolLimits.name)
    precondition(!pairing.name.utf8.contains { $0 < 0x20 })
  }
}

// MARK: - Machines

/// A prover and a verifier receive messages of the script, and sometimes each other's.
private func fuzzMachines(_ script: inout Script) {
  let context = Transcript.pairing(
    prover: fuzzIdentifier(1), verifier: fuzzIdentifier(9), binding: fuzzPeer(1).binding)
  let isRight = script.byte() % 2 == 0
  var verifier = PairingVerifier(record(), context: context, arithmetic: arithmetic)
  var visit = PairingVisit(
    .pair(isRight ? pin : PIN(random: 2)), senderID: fuzzIdentifier(1), senderName: "s",
    receiverID: nil, arithmetic: arithmetic, at: LocalTime(nanoseconds: 0))
  var (toProver, toVerifier): ([[UInt8]], [[UInt8]]) = ([verifier.salt.encoded()], [])
  var (reports, isPaired) = (0, false)
  visit.handle(.connected(receiverPeer(of: 1)), at: LocalTime(nanoseconds: 0))
  while !script.isOver {
    switch script.byte() % 5 {
    case 0:
      visit.handle(.received(script.take(Int(script.byte()))), at: LocalTime(nanoseconds: 0))
    case 1:
      if !toProver.isEmpty {
        visit.handle(.received(toProver.removeFirst()), at: LocalTime(nanoseconds: 0))
      }
    case 2: _ = verifierHears(message(&script), &verifier, &isPaired)
    case 3:
      if !toVerifier.isEmpty, let said = decoded(toVerifier.removeFirst()) {
        _ = verifierHears(said, &verifier, &isPaired)
      }
    default: if let answer = try? verifier.guessKept() { toProver.append(answer.encoded()) }
    }
    while let output = visit.nextOutput() {
      switch output {
      case .send(let bytes): toVerifier.append(bytes)
      case .close: break
      case .done(let report):
        reports += 1
        if case .paired = report { precondition(isRight, "paired by another PIN") }
      }
    }
    precondition(reports <= 1, "ended twice")
    precondition(!isPaired || isRight, "proved by another PIN")
  }
}

/// A household's daemon and a machine that joins receive messages of the script, and sometimes each other's.
private func fuzzOffer(_ script: inout Script) {
  let begin = LocalTime(nanoseconds: 0)
  let isRight = script.byte() % 2 == 0
  var offer = HouseholdOffer(
    id: fuzzIdentifier(9), name: "home", key: [1, 2, 3], record: record(), arithmetic: arithmetic,
    at: begin)
  var visit = PairingVisit(
    .pair(isRight ? pin : PIN(random: 2)), senderID: fuzzIdentifier(1), senderName: "s",
    receiverID: nil, joins: true, arithmetic: arithmetic, at: begin)
  var (toVisit, toOffer): ([[UInt8]], [[UInt8]]) = ([], [])
  var (asked, kept, answers, joined) = (0, 0, 0, 0)
  offer.handle(.connected(fuzzPeer(1)), at: begin)
  visit.handle(.connected(receiverPeer(of: 1)), at: begin)
  while !script.isOver {
    switch script.byte() % 6 {
    case 0: offer.handle(.received(script.take(Int(script.byte()))), at: begin)
    case 1: offer.handle(.received(message(&script).encoded()), at: begin)
    case 2: if !toOffer.isEmpty { offer.handle(.received(toOffer.removeFirst()), at: begin) }
    case 3: if !toVisit.isEmpty { visit.handle(.received(toVisit.removeFirst()), at: begin) }
    case 4: visit.handle(.received(message(&script).encoded()), at: begin)
    default:
      guard kept < asked else { continue }
      kept += 1
      offer.handle(.guessKept, at: begin)
    }
    while let output = offer.nextOutput() {
      switch output {
      case .send(let bytes):
        if case .answer? = decoded(bytes) { answers += 1 }
        if case .household? = decoded(bytes) { precondition(joined == 1, "a key for nobody") }
        toVisit.append(bytes)
      case .keepGuess: asked += 1
      case .joined: joined += 1
      case .close: break
      }
    }
    while let output = visit.nextOutput() {
      switch output {
      case .send(let bytes): toOffer.append(bytes)
      case .close: break
      case .done(let report):
        guard case .joined = report else { continue }
        precondition(isRight, "joined by another PIN")
      }
    }
    precondition(answers <= kept, "an answer whose guess is not on disk")
    precondition(asked <= 1 && (joined == 0 || isRight), "a key by another PIN")
  }
}

private func verifierHears(
  _ message: PairingMessage, _ verifier: inout PairingVerifier, _ isPaired: inout Bool
) -> PairingVerifier.Step {
  let step = verifier.received(message)
  if step == .proved { isPaired = true }
  return step
}

private func decoded(_ bytes: [UInt8]) -> PairingMessage? {
  var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
  framer.append(bytes)
  guard let raw = try? framer.next() else { return nil }
  return try? PairingMessage.decode(raw)
}

private func message(_ script: inout Script) -> PairingMessage {
  switch script.byte() % 10 {
  case 0: .request(name: "x")
  case 1: .salt(script.take(PairingMessage.saltByteCount))
  case 2: .share([4] + script.take(PairingMessage.shareByteCount - 1))
  case 3:
    .answer(share: [4] + script.take(PairingMessage.shareByteCount - 1), confirm: script.take(32))
  case 4: .confirm(script.take(32))
  case 5: .paired(name: "y")
  case 6: .refused(PairingRefusal(reason: .wait, wait: UInt32(script.byte())))
  case 7: .sayPIN
  case 8: .household(name: "z", key: script.take(3))
  default: .unpair
  }
}

// MARK: - Desk

/// A receiver, its disk, and visitors that come to pair, to leave and to play.
struct DeskUnderFire {
  private struct Visitor {
    let id: ConnectionID
    let sender: UInt8
    var visit: PairingVisit?
    let knowsPIN: Bool
  }

  private var session: ReceiverSession
  private var disk: TrustMemory
  /// Identifiers that were on the disk at any time.
  private var everKept: [Identifier] = []
  /// Changes that the disk has not taken yet, oldest first.
  private var writing: [(trust: TrustMemory, number: Int)] = []
  private var now = LocalTime(nanoseconds: 1_000_000_000)
  private let begin = LocalTime(nanoseconds: 1_000_000_000)
  private var visitors: [Visitor] = []
  private var connections = 0
  private var keptCount = 0
  /// True if somebody with the right PIN has come.
  private var hasKnower = false
  /// Number of answers since the last right PIN that told a sender whether its PIN is right.
  private var answers = 0
  private var allAnswers = 0

  init() {
    disk = TrustMemory(verifier: record())
    disk.pairings.add(.init(id: fuzzIdentifier(1), name: "one"))
    session = Self.receiver(disk)
  }

  private static func receiver(_ trust: TrustMemory) -> ReceiverSession {
    ReceiverSession(
      ReceiverSession.Configuration(
        receiverID: fuzzIdentifier(9), name: "room", model: "fuzz",
        capacity: Capacity(bytes: 60_000, duration: .seconds(60)), codecs: [.pcm],
        makeDecoder: { (format) throws(CodecError) in try PCMDecoder(format: format) },
        idleTime: .seconds(5), seed: 1, access: .paired,
        token: [UInt8](repeating: 5, count: 32), arithmetic: arithmetic),
      memory: ReceiverMemory(), trust: trust)
  }

  mutating func step(_ script: inout Script) {
    switch script.byte() % 12 {
    case 0, 1: arrive(script.byte() % 4, knowsPIN: script.byte() % 4 == 0)
    case 2: hearNext(&script)
    case 3:
      if let visitor = pick(&script) { say(script.take(Int(script.byte())), to: visitor.id) }
    case 4: if let visitor = pick(&script) { say(message(&script).encoded(), to: visitor.id) }
    case 5: if let visitor = pick(&script) { leave(visitor) }
    case 6: writeOne()
    case 7: now = now + .milliseconds(Int64(script.byte()) * 400)
    case 8: restart()
    case 9: ask(script.byte() % 4)
    case 10: unpairByHand(script.byte() % 4)
    default: step(.timeout)
    }
  }

  private func pick(_ script: inout Script) -> Visitor? {
    visitors.isEmpty ? nil : visitors[Int(script.byte()) % visitors.count]
  }

  private mutating func connect(_ sender: UInt8) -> ConnectionID {
    connections += 1
    step(.accepted(ConnectionID(connections), peer: "\(sender)"))
    step(.secured(ConnectionID(connections), fuzzPeer(sender)))
    return ConnectionID(connections)
  }

  private mutating func arrive(_ sender: UInt8, knowsPIN: Bool) {
    guard visitors.count < 8 else { return }
    hasKnower = hasKnower || knowsPIN
    let id = connect(sender)
    var visit = PairingVisit(
      .pair(knowsPIN ? pin : PIN(random: 2)), senderID: fuzzIdentifier(sender), senderName: "s",
      receiverID: nil, arithmetic: arithmetic, at: now)
    visit.handle(.connected(receiverPeer(of: sender)), at: now)
    visitors.append(Visitor(id: id, sender: sender, visit: visit, knowsPIN: knowsPIN))
    deliver(visitors.count - 1)
  }

  /// Delivers the messages of a visitor's program.
  private mutating func deliver(_ index: Int) {
    guard visitors.indices.contains(index) else { return }
    let id = visitors[index].id
    while let place = visitors.firstIndex(where: { $0.id == id }),
      let output = visitors[place].visit?.nextOutput()
    {
      switch output {
      case .send(let bytes): say(bytes, to: id)
      case .close: break
      case .done(let report):
        guard case .paired = report else { continue }
        precondition(visitors[place].knowsPIN, "paired by another PIN")
        precondition(
          everKept.contains(fuzzIdentifier(visitors[place].sender)), "said before it was kept")
      }
    }
  }

  private mutating func hearNext(_ script: inout Script) {
    guard !visitors.isEmpty else { return }
    deliver(Int(script.byte()) % visitors.count)
  }

  private mutating func say(_ bytes: [UInt8], to id: ConnectionID) { step(.received(id, bytes)) }

  private mutating func leave(_ visitor: Visitor) {
    visitors.removeAll { $0.id == visitor.id }
    step(.closed(visitor.id))
  }

  private mutating func writeOne() {
    guard !writing.isEmpty else { return }
    let (trust, number) = writing.removeFirst()
    keptCount += 1
    // A right PIN resets the count, even if its sender leaves before it is told.
    if trust.wrongGuesses < disk.wrongGuesses {
      precondition(hasKnower, "forgiven without the PIN")
      answers = 0
    }
    disk = trust
    everKept += trust.pairings.all.map(\.id).filter { !everKept.contains($0) }
    step(.trustKept(number))
  }

  /// A power cut: changes that are not on the disk are lost.
  private mutating func restart() {
    writing = []
    visitors = []
    session = Self.receiver(disk)
  }

  private mutating func unpairByHand(_ sender: UInt8) {
    guard writing.isEmpty else { return }
    disk.pairings.remove(fuzzIdentifier(sender))
    step(.trustChanged(disk))
  }

  /// A sender asks to play.
  private mutating func ask(_ sender: UInt8) {
    let id = connect(sender)
    let hello = Hello(
      version: 2, senderID: fuzzIdentifier(sender), senderName: "s", session: UInt64(connections),
      clockID: 1, clockPort: 9, takesOver: true)
    step(.received(id, ControlMessage.hello(hello).encoded()))
  }

  private mutating func step(_ input: ReceiverSession.Input) {
    session.handle(input, at: now)
    var count = 0
    while let output = session.nextOutput() {
      count += 1
      switch output {
      case .send(let id, let bytes): sent(bytes, to: id)
      case .keepTrust(let trust, let number): writing.append((trust, number))
      case .close(let id): visitors.removeAll { $0.id == id && $0.visit == nil }
      default: break
      }
    }
    precondition(count < 1000, "more answers than questions")
    precondition(writing.count < 100, "more to write than was asked for")
  }

  private mutating func sent(_ bytes: [UInt8], to id: ConnectionID) {
    if let message = decoded(bytes) { checkPairing(message) }
    guard let place = visitors.firstIndex(where: { $0.id == id }) else { return }
    visitors[place].visit?.handle(.received(bytes), at: now)
  }

  private mutating func checkPairing(_ message: PairingMessage) {
    guard case .answer = message else { return }
    allAnswers += 1
    answers += 1
    precondition(allAnswers <= keptCount, "an answer whose guess is not on disk")
    // Three guesses at once, and then no more than one in 30 s, whoever asks and however often the receiver restarts.
    let turns = Int((now - begin).count / 30_000_000_000)
    precondition(answers <= 3 + turns, "more guesses than time allows")
  }
}
