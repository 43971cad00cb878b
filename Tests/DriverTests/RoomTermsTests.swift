import Clock
import LinuxIO
import OpenSSLSecurity
import Sender
import Testing
import WireProtocol

@testable import Driver

/// Questions about terms to rooms on real sockets.
@Suite struct RoomTermsTests {
  /// A receiver that knows nothing but terms.
  private final class Room {
    /// The first bytes that it sends to whoever asks; none to stay silent.
    var answer: [UInt8]
    private(set) var asked: [TermRequest] = []
    private(set) var askers: [SecuredPeer] = []
    private(set) var closedCount = 0
    private(set) var record: RoomRecord
    private let listener: ListenerID
    private let peers: PeerConnections<Int>
    private var framers: [Int: MessageFramer] = [:]
    private var count = 0

    init(on reactor: Reactor, answer: [UInt8]) throws {
      self.answer = answer
      listener = try reactor.listen(on: .loopback(port: 0))
      let security = try TLSContext(IdentityKey.generate())
      peers = PeerConnections(reactor: reactor, limit: 16, secure: security.channel)
      record = RoomRecord(
        id: security.identifier.hex, name: "room", model: "test", state: .free,
        addresses: ["127.0.0.1"], port: reactor.localAddress(of: listener)?.port ?? 0,
        codecs: ["pcm"])
    }

    func handle(_ event: ReactorEvent) {
      if case .accepted(let id, by: listener, let address) = event {
        count += 1
        framers[count] = MessageFramer(limit: ProtocolLimits.openingMessage)
        _ = peers.accept(id, from: address, as: count)
      }
      peers.take(event) { event in
        switch event {
        case .connected(_, let peer): askers.append(peer)
        case .received(let id, let bytes): received(bytes, on: id)
        case .failed, .closed: closedCount += 1
        }
      }
    }

    private func received(_ bytes: [UInt8], on id: Int) {
      framers[id]?.append(bytes)
      while let raw = try? framers[id]?.next() {
        guard case .term(let request)? = try? OpeningMessage.decode(raw) else { continue }
        asked.append(request)
        guard !answer.isEmpty else { continue }
        peers.send(answer, to: id)
        peers.close(id)
      }
    }
  }

  private final class Bed {
    let reactor: Reactor
    let terms: RoomTerms
    let sender: Identifier
    private(set) var rooms: [Room] = []
    private(set) var replies: [Int: [TermReply]] = [:]
    /// Rounds of which all were told to have answered.
    private(set) var over: [Int] = []

    init() throws {
      reactor = try Reactor()
      let security = try TLSContext(IdentityKey.generate())
      sender = security.identifier
      terms = RoomTerms(reactor: reactor, security: security)
    }

    func room(_ answer: [UInt8]) throws -> Room {
      let room = try Room(on: reactor, answer: answer)
      rooms.append(room)
      return room
    }

    func ask(_ request: TermRequest, round: Int, _ records: [RoomRecord]) {
      terms.ask(request, round: round, of: records, note)
    }

    private func note(_ event: RoomTerms.Event) {
      switch event {
      case .answered(let round, let reply): replies[round, default: []].append(reply)
      case .allAnswered(let round): over.append(round)
      }
    }

    func run(until what: String, _ isDone: () -> Bool) throws {
      let deadline = HostClock.now + .seconds(20)
      while !isDone() {
        try #require(HostClock.now < deadline, "never: \(what)")
        for event in try reactor.wait(until: deadline) {
          terms.take(event, note)
          for room in rooms { room.handle(event) }
        }
      }
    }
  }

  private static let question = TermRequest(term: 3, isClaim: false)
  private static let heard = TermReply(term: 3, isHeard: true)
  private static let deaf = TermReply(term: 1, isHeard: false)

  /// A port at which nobody listens.
  private static func closedPort(_ reactor: Reactor) throws -> UInt16 {
    let listener = try reactor.listen(on: .loopback(port: 0))
    defer { reactor.close(listener) }
    return try #require(reactor.localAddress(of: listener)?.port)
  }

  // MARK: - Answers

  @Test func `all rooms are asked, and their answers are told`() throws {
    let bed = try Bed()
    let rooms = [try bed.room(Self.heard.encoded()), try bed.room(Self.deaf.encoded())]
    bed.ask(Self.question, round: 1, rooms.map(\.record))
    try bed.run(until: "all have answered") { bed.over == [1] }
    #expect(Set(bed.replies[1] ?? []) == [Self.heard, Self.deaf])
    #expect(rooms.allSatisfy { $0.asked == [Self.question] })
    #expect(rooms.allSatisfy { $0.askers.map(\.id) == [bed.sender] })
    // The next round has connections of its own.
    let claim = TermRequest(term: 4, isClaim: true)
    bed.ask(claim, round: 2, rooms.map(\.record))
    try bed.run(until: "all have answered again") { bed.over == [1, 2] }
    #expect(rooms.allSatisfy { $0.asked == [Self.question, claim] })
    #expect(bed.replies[2]?.count == 2)
  }

  @Test(arguments: [Refusal.Reason.protocolViolation, .notPaired, .busy])
  func `a refusal is no answer`(reason: Refusal.Reason) throws {
    let bed = try Bed()
    let refusal = ControlMessage.refuse(Refusal(reason: reason, detail: ""))
    let old = try bed.room(refusal.encoded())
    let new = try bed.room(Self.deaf.encoded())
    bed.ask(Self.question, round: 1, [old.record, new.record])
    try bed.run(until: "the round is over") { bed.over == [1] }
    #expect(bed.replies[1] == [Self.deaf])
    #expect(old.asked == [Self.question])
  }

  @Test func `one answer of each room counts`() throws {
    let bed = try Bed()
    let room = try bed.room(Self.heard.encoded() + Self.deaf.encoded() + Self.deaf.encoded())
    bed.ask(Self.question, round: 1, [room.record])
    try bed.run(until: "the round is over") { bed.over == [1] }
    #expect(bed.replies[1] == [Self.heard])
  }

  // MARK: - No answers

  @Test func `where no room is known, or none can be reached, the round is over`() throws {
    let bed = try Bed()
    bed.ask(Self.question, round: 1, [])
    #expect(bed.over == [1])
    var gone = try bed.room([]).record
    gone.port = try Self.closedPort(bed.reactor)
    var nowhere = gone
    nowhere.addresses = []
    bed.ask(Self.question, round: 2, [gone, nowhere])
    try bed.run(until: "the round is over") { bed.over == [1, 2] }
    #expect(bed.replies.isEmpty)
  }

  @Test func `a room that goes without an answer is none`() throws {
    let bed = try Bed()
    // An announcement of a message that does not come.
    let room = try bed.room([0, 0, 0, 7, 1])
    bed.ask(Self.question, round: 1, [room.record])
    try bed.run(until: "the round is over") { bed.over == [1] }
    #expect(bed.replies.isEmpty && room.asked.count >= 1)
  }

  @Test func `a room is asked at its next address where the first does not answer`() throws {
    let bed = try Bed()
    let room = try bed.room(Self.heard.encoded())
    var record = room.record
    record.addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.1"]
    bed.ask(Self.question, round: 1, [record])
    try bed.run(until: "it has answered") { bed.over == [1] }
    #expect(bed.replies[1] == [Self.heard])
  }

  @Test func `another room at the address is not asked`() throws {
    let bed = try Bed()
    let room = try bed.room(Self.heard.encoded())
    var record = room.record
    record.id = String(repeating: "0", count: 32)
    bed.ask(Self.question, round: 1, [record])
    try bed.run(until: "the round is over") { bed.over == [1] }
    #expect(bed.replies.isEmpty)
    try bed.run(until: "the room has seen it go") { room.closedCount == 1 }
    #expect(room.asked.isEmpty)
  }

  // MARK: - Rounds

  @Test func `a new round gives up the one before`() throws {
    let bed = try Bed()
    let silent = try bed.room([])
    bed.ask(Self.question, round: 1, [silent.record])
    try bed.run(until: "it is asked") { silent.asked.count == 1 }
    silent.answer = Self.heard.encoded()
    bed.ask(Self.question, round: 2, [silent.record])
    try bed.run(until: "the second round is over") { bed.over == [2] }
    #expect(bed.replies == [2: [Self.heard]])
    try bed.run(until: "the first connection is closed") { silent.closedCount >= 1 }
    #expect(bed.over == [2])
  }
}
