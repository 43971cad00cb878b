import Clock
import Pairing
import WireProtocol

/// Pairs senders with this receiver and forgets them: holds the trusted senders, the exchange in progress, and the
/// count of wrong PINs. It sends nothing that depends on stored data before that data is on disk.
///
/// A sender that asks gets the salt and waits at the door; the exchange begins with the first share that arrives. A
/// sender that asks and sends no more is therefore in nobody's way.
struct PairingDesk {
  /// Timeout of the exchange. The user has typed the PIN before it begins, so all of it takes moments.
  static let timeout = ProtocolLimits.silence
  /// Largest number of senders that have the salt and have not sent their share.
  static let doorLimit = 16
  /// Largest number of senders that wait to be forgotten.
  static let leaverLimit = 8

  enum Step {
    case send(ConnectionID, PairingMessage)
    case close(ConnectionID)
    case keep(TrustMemory, Int)
    /// Say the PIN aloud in this room.
    case sayPIN
    case event(ReceiverEvent)
  }

  private struct Visit {
    let id: ConnectionID
    let sender: Pairings.Pairing
    /// Its name for people.
    let peer: String
    let network: String
    let leavesAt: LocalTime
    var verifier: PairingVerifier
    var framer: MessageFramer
    /// Stored data that must be on disk before the exchange continues.
    var awaits: Keeping?
  }

  private struct Keeping {
    let number: Int
    /// True if the stored data is the pairing, false if it is a guess.
    let isPairing: Bool
  }

  private struct Leaver {
    let id: ConnectionID
    let number: Int
    let leavesAt: LocalTime
  }

  let receiverID: Identifier
  let name: String
  let arithmetic: (any PairingArithmetic)?
  private(set) var trust: TrustMemory
  private var guesses: GuessLimit
  /// True if this receiver can say its PIN aloud.
  private let canSpeak: Bool
  private var speeches = SpeechLimit()
  /// In order of arrival.
  private var door: [Visit] = []
  private var visit: Visit?
  private var leavers: [Leaver] = []
  private var lastNumber = 0
  private var steps: [Step] = []

  init(
    receiverID: Identifier, name: String, arithmetic: (any PairingArithmetic)?, canSpeak: Bool,
    trust: TrustMemory
  ) {
    self.canSpeak = canSpeak
    self.receiverID = receiverID
    self.name = name
    self.arithmetic = arithmetic
    self.trust = trust
    guesses = GuessLimit(wrong: trust.wrongGuesses)
  }

  /// Returns the steps to carry out now, in order.
  mutating func takeSteps() -> [Step] {
    defer { steps = [] }
    return steps
  }

  var nextDeadline: LocalTime? {
    (leavers.map(\.leavesAt) + door.map(\.leavesAt) + [visit?.leavesAt].compactMap { $0 }).min()
  }

  /// True if this connection belongs to the desk.
  func has(_ id: ConnectionID) -> Bool {
    visit?.id == id || door.contains { $0.id == id } || leavers.contains { $0.id == id }
  }

  // MARK: - Visitors

  /// Takes the first message of a connection. Closes the connection if its handshake is not complete.
  /// - Parameter isQuiet: true if nothing plays in this room, and nothing is about to.
  mutating func opened(
    _ message: PairingMessage, by guest: Lobby.Guest, isQuiet: Bool, at now: LocalTime
  ) {
    guard let secured = guest.secured else { return steps.append(.close(guest.id)) }
    switch message {
    case .request(let name):
      begin(.init(id: secured.id, name: name), secured, guest, at: now)
    case .unpair: forget(secured.id, guest, at: now)
    case .sayPIN: sayPIN(to: guest, isQuiet: isQuiet, at: now)
    case .share, .confirm, .salt, .answer, .paired, .household, .refused, .unpaired, .sayingPIN:
      steps.append(.close(guest.id))
    }
  }

  private mutating func begin(
    _ sender: Pairings.Pairing, _ secured: SecuredPeer, _ guest: Lobby.Guest, at now: LocalTime
  ) {
    guard let arithmetic, let record = trust.verifier else {
      return refuse(guest, .init(reason: .notPossible, detail: "it has no PIN"))
    }
    var enlarged = trust.pairings
    guard enlarged.add(sender) else {
      let detail = "it is paired with \(Pairings.limit) machines; unpair one of them first"
      return refuse(guest, .init(reason: .notPossible, detail: detail))
    }
    let wait = guesses.wait(at: now)
    guard wait == .zero else {
      return refuse(guest, .init(reason: .wait, wait: UInt32(clamping: wait.count / 1_000_000 + 1)))
    }
    let context = Transcript.pairing(
      prover: secured.id, verifier: receiverID, binding: secured.binding)
    let verifier = PairingVerifier(record, context: context, arithmetic: arithmetic)
    door.append(
      Visit(
        id: guest.id, sender: sender, peer: guest.peer, network: guest.network,
        leavesAt: now + Self.timeout, verifier: verifier, framer: guest.framer))
    steps.append(.send(guest.id, verifier.salt))
    if door.count > Self.doorLimit {
      // A host that asks over and over displaces only itself.
      steps.append(.close(door.remove(at: Lobby.firstOfMost(door.map(\.network))).id))
    }
    knock(guest.id, at: now)
  }

  /// Begins the exchange once the first message of a sender at the door is complete.
  private mutating func knock(_ id: ConnectionID, at now: LocalTime) {
    guard let index = door.firstIndex(where: { $0.id == id }) else { return }
    do {
      guard let raw = try door[index].framer.next() else { return }
      let guest = door.remove(at: index)
      if visit != nil { return refuse(guest.id, guest.peer, PairingRefusal(reason: .busy)) }
      // Senders that arrived together get no more guesses for that.
      let wait = guesses.wait(at: now)
      guard wait == .zero else {
        let refusal = PairingRefusal(
          reason: .wait, wait: UInt32(clamping: wait.count / 1_000_000 + 1))
        return refuse(guest.id, guest.peer, refusal)
      }
      visit = guest
      try take(raw, at: now)
      read(at: now)
    } catch {
      guard let index = door.firstIndex(where: { $0.id == id }) else { return end("\(error)") }
      let guest = door.remove(at: index)
      steps.append(.close(id))
      steps.append(.event(.pairingFailed(peer: guest.peer, reason: "\(error)")))
    }
  }

  private mutating func refuse(_ guest: Lobby.Guest, _ refusal: PairingRefusal) {
    refuse(guest.id, guest.peer, refusal)
  }

  private mutating func refuse(_ id: ConnectionID, _ peer: String, _ refusal: PairingRefusal) {
    steps.append(.send(id, .refused(refusal)))
    steps.append(.close(id))
    steps.append(.event(.pairingFailed(peer: peer, reason: refusal.sentence)))
  }

  private mutating func forget(_ id: Identifier, _ guest: Lobby.Guest, at now: LocalTime) {
    guard leavers.count < Self.leaverLimit else { return steps.append(.close(guest.id)) }
    let name = trust.pairings.all.first { $0.id == id }?.name
    guard trust.pairings.remove(id) else {
      steps.append(.send(guest.id, .unpaired))
      return steps.append(.close(guest.id))
    }
    leavers.append(
      Leaver(id: guest.id, number: keep(), leavesAt: now + Self.timeout))
    steps.append(.event(.unpaired(name: name ?? "")))
  }

  /// Lets the receiver say its PIN, for the person who sets it up. Once somebody is paired, no stranger can make it talk.
  private mutating func sayPIN(to guest: Lobby.Guest, isQuiet: Bool, at now: LocalTime) {
    guard canSpeak, trust.verifier != nil else {
      return keepSilent(to: guest, "it cannot say its PIN")
    }
    guard trust.pairings.all.isEmpty else {
      let detail = "it says its PIN only while nobody is paired; there, run: tutti-receiver pin"
      return keepSilent(to: guest, detail)
    }
    guard isQuiet else { return keepSilent(to: guest, "it says its PIN only while nothing plays") }
    let wait = speeches.wait(at: now)
    guard wait == .zero else {
      let milliseconds = UInt32(clamping: wait.count / 1_000_000 + 1)
      return keepSilent(to: guest, "it has said its PIN often enough", wait: milliseconds)
    }
    speeches.count(at: now)
    steps.append(.sayPIN)
    steps.append(.send(guest.id, .sayingPIN))
    steps.append(.close(guest.id))
    steps.append(.event(.saysPIN(peer: guest.peer)))
  }

  private mutating func keepSilent(to guest: Lobby.Guest, _ detail: String, wait: UInt32 = 0) {
    let reason: PairingRefusal.Reason = wait > 0 ? .wait : .notPossible
    steps.append(.send(guest.id, .refused(.init(reason: reason, wait: wait, detail: detail))))
    steps.append(.close(guest.id))
    steps.append(.event(.keptSilent(peer: guest.peer, reason: detail)))
  }

  // MARK: - The exchange

  mutating func received(_ bytes: [UInt8], on id: ConnectionID, at now: LocalTime) {
    if let index = door.firstIndex(where: { $0.id == id }) {
      door[index].framer.append(bytes)
      return knock(id, at: now)
    }
    guard visit?.id == id else { return }
    visit?.framer.append(bytes)
    read(at: now)
  }

  private mutating func read(at now: LocalTime) {
    do {
      while let raw = try visit?.framer.next() { try take(raw, at: now) }
    } catch {
      end("\(error)")
    }
  }

  private mutating func take(_ raw: RawMessage, at now: LocalTime) throws(DecodeError) {
    guard let message = try PairingMessage.decode(raw) else { return end("it broke the protocol") }
    take(message, at: now)
  }

  private mutating func take(_ message: PairingMessage, at now: LocalTime) {
    guard let step = visit?.verifier.received(message), let sender = visit?.sender else { return }
    switch step {
    case .keepGuess:
      guesses.count(at: now)
      let number = keep()
      visit?.awaits = Keeping(number: number, isPairing: false)
    case .proved:
      trust.pairings.add(sender)
      guesses.reset()
      let number = keep()
      visit?.awaits = Keeping(number: number, isPairing: true)
    case .wrongPIN:
      end("its PIN was wrong", PairingRefusal(reason: .wrongPIN, wait: waitAfterGuess(at: now)))
    case .outOfTurn: end("it broke the protocol")
    }
  }

  private mutating func waitAfterGuess(at now: LocalTime) -> UInt32 {
    UInt32(clamping: guesses.wait(at: now).count / 1_000_000)
  }

  /// Reports that `number`, and everything before it, is on disk.
  mutating func kept(_ number: Int, at now: LocalTime) {
    for leaver in leavers where leaver.number <= number {
      steps.append(.send(leaver.id, .unpaired))
      steps.append(.close(leaver.id))
    }
    leavers.removeAll { $0.number <= number }
    guard let awaited = visit?.awaits, awaited.number <= number else { return }
    visit?.awaits = nil
    if awaited.isPairing { return complete() }
    do {
      if let id = visit?.id, let answer = try visit?.verifier.guessKept() {
        steps.append(.send(id, answer))
      }
    } catch {
      switch error {
      case .badShare: end("its share is no point of the curve")
      case .failed(let reason): end(reason, .init(reason: .notPossible, detail: reason))
      }
    }
  }

  private mutating func complete() {
    guard let visit else { return }
    steps.append(.send(visit.id, .paired(name: name)))
    steps.append(.close(visit.id))
    steps.append(.event(.paired(name: visit.sender.name, peer: visit.peer)))
    self.visit = nil
  }

  private mutating func end(_ reason: String, _ refusal: PairingRefusal? = nil) {
    guard let visit else { return }
    if let refusal { steps.append(.send(visit.id, .refused(refusal))) }
    steps.append(.close(visit.id))
    steps.append(.event(.pairingFailed(peer: visit.peer, reason: reason)))
    self.visit = nil
  }

  private mutating func keep() -> Int {
    lastNumber += 1
    trust.wrongGuesses = guesses.wrong
    steps.append(.keep(trust, lastNumber))
    return lastNumber
  }

  // MARK: - Other events

  /// Forgets a closed connection. Its guess counts all the same.
  mutating func closed(_ id: ConnectionID) {
    leavers.removeAll { $0.id == id }
    door.removeAll { $0.id == id }
    guard let visit, visit.id == id else { return }
    steps.append(.event(.pairingFailed(peer: visit.peer, reason: "it hung up")))
    self.visit = nil
  }

  mutating func advance(to now: LocalTime) {
    for leaver in leavers where leaver.leavesAt <= now { steps.append(.close(leaver.id)) }
    leavers.removeAll { $0.leavesAt <= now }
    for guest in door where guest.leavesAt <= now { steps.append(.close(guest.id)) }
    door.removeAll { $0.leavesAt <= now }
    guard let visit, visit.leavesAt <= now else { return }
    guard visit.awaits != nil else { return end("it took too long") }
    let detail = "it cannot keep the pairing; its log says why"
    end("its disk does not answer", PairingRefusal(reason: .notPossible, detail: detail))
  }

  /// Takes a user's change of the trusted senders or of the PIN.
  mutating func changed(_ trust: TrustMemory) {
    let isOtherPIN = trust.verifier != self.trust.verifier
    self.trust = trust
    if trust.wrongGuesses != guesses.wrong { guesses = GuessLimit(wrong: trust.wrongGuesses) }
    if isOtherPIN {
      let refusal = PairingRefusal(reason: .notPossible, detail: "its PIN was just changed")
      for guest in door { refuse(guest.id, guest.peer, refusal) }
      door = []
      end("the PIN was changed", .init(reason: .notPossible, detail: "its PIN was just changed"))
    }
  }
}

extension PairingRefusal {
  /// Describes the refusal for this receiver's log.
  fileprivate var sentence: String {
    switch reason {
    case .wrongPIN: "its PIN was wrong"
    case .wait: "too many wrong PINs: the next one is looked at in \(wait / 1000) s"
    case .busy: "another sender is pairing"
    case .notPossible, .other: detail
    }
  }
}
