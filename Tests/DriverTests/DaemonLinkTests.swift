import Clock
import LinuxIO
import OpenSSLSecurity
import Sender
import Testing
import WireProtocol

@testable import Driver

/// The connection between a household's two daemons, over real sockets with TLS.
@Suite struct DaemonLinkTests {
  /// Both daemons in one event loop, and others that connect to the first one.
  private final class Bed {
    /// Events of one daemon.
    struct Told {
      var ups = 0
      var downs: [String] = []
      var messages: [DaemonMessage] = []
      var strangers: [Int] = []
      var said: [UInt8] = []
      var left: [Int] = []

      var words: [DaemonWord] {
        messages.compactMap { if case .word(let word) = $0 { word } else { nil } }
      }

      mutating func note(_ event: DaemonLink.Event) {
        switch event {
        case .up: ups += 1
        case .down(let reason): downs.append(reason)
        case .message(let message): messages.append(message)
        case .stranger(let name, _): strangers.append(name)
        case .strangerSaid(_, let bytes): said += bytes
        case .strangerLeft(let name): left.append(name)
        }
      }
    }

    let reactor: Reactor
    let first: DaemonLink
    private(set) var second: DaemonLink?
    /// Those with the household's key, and with another one.
    let family: PeerConnections<Int>
    let strangers: PeerConnections<Int>
    private(set) var mine = Told()
    private(set) var theirs = Told()
    private(set) var connected: [Int] = []
    private(set) var gone: [Int] = []
    private(set) var heard: [UInt8] = []
    /// Connections without TLS.
    private(set) var opened: [ConnectionID] = []
    private(set) var closed: [ConnectionID] = []
    /// True while the second daemon's machine hangs.
    var isHung = false
    private let key: IdentityKey

    init() throws {
      reactor = try Reactor()
      key = try IdentityKey.generate()
      first = try DaemonLink(
        reactor: reactor, security: TLSContext(key),
        place: .listens(addresses: ["127.0.0.1"], port: 0))
      let relative = try TLSContext(key)
      let other = try TLSContext(IdentityKey.generate())
      family = PeerConnections(reactor: reactor, limit: 16, secure: relative.channel)
      strangers = PeerConnections(reactor: reactor, limit: 16, secure: other.channel)
    }

    var address: SocketAddress { .loopback(port: first.port ?? 0) }

    /// - Parameter isStranger: true for a household of its own.
    func start(isStranger: Bool = false) throws {
      let key = try isStranger ? IdentityKey.generate() : self.key
      second = try DaemonLink(
        reactor: reactor, security: TLSContext(key),
        place: .dials(host: "127.0.0.1", port: try #require(first.port)))
    }

    /// - Parameter before: times that the first one's link was up already.
    func startBoth(after before: Int = 0) throws {
      try start()
      try run(until: "both are up") { mine.ups == before + 1 && theirs.ups == 1 }
    }

    func run(until what: String, _ isDone: () -> Bool) throws {
      let deadline = HostClock.now + .seconds(20)
      while !isDone() {
        try #require(HostClock.now < deadline, "never: \(what)")
        let active = isHung ? nil : second
        let next = [deadline, first.nextDeadline, active?.nextDeadline].compactMap { $0 }.min()
        for event in try reactor.wait(until: next) { take(event) }
        first.turn { mine.note($0) }
        active?.turn { theirs.note($0) }
      }
    }

    private func take(_ event: ReactorEvent) {
      first.take(event) { mine.note($0) }
      if !isHung { second?.take(event) { theirs.note($0) } }
      family.take(event, note)
      strangers.take(event, note)
      switch event {
      case .connected(let id): opened.append(id)
      case .closed(let id, _): closed.append(id)
      default: break
      }
    }

    private func note(_ event: PeerConnections<Int>.Event) {
      switch event {
      case .connected(let name, _): connected.append(name)
      case .received(_, let bytes): heard += bytes
      case .failed(let name, _), .closed(let name, _): gone.append(name)
      }
    }

    /// Connects, and says nothing.
    func connectSilently() throws -> ConnectionID {
      let id = reactor.connect(to: address)
      try run(until: "it is connected") { opened.contains(id) }
      return id
    }

    /// Connects with the household's key, or another one, and completes the handshake.
    func connect(_ peers: PeerConnections<Int>, as name: Int) throws {
      #expect(peers.connect(to: address, as: name))
      try run(until: "\(name) is connected") { connected.contains(name) }
    }
  }

  private static func word(_ term: Term) -> DaemonWord {
    DaemonWord(
      word: .init(term: term, leads: true), port: 1, name: "home",
      sentAt: LocalTime(nanoseconds: 1), heard: nil)
  }

  // MARK: - The link

  @Test func `both ends are told of each other, and hear each other's words`() throws {
    let bed = try Bed()
    #expect(!bed.first.isUp)
    // Nobody is there.
    bed.first.send(Self.word(9))
    try bed.startBoth()
    #expect(bed.first.isUp && bed.second?.isUp == true)
    bed.first.send(Self.word(1))
    bed.second?.send(Self.word(2))
    bed.second?.send(Self.word(3))
    try bed.run(until: "all are heard") {
      bed.mine.words.count == 2 && bed.theirs.words.count == 1
    }
    #expect(bed.mine.words == [Self.word(2), Self.word(3)])
    #expect(bed.theirs.words == [Self.word(1)])
    #expect(bed.mine.downs.isEmpty && bed.theirs.downs.isEmpty)
  }

  @Test func `the link is dialled anew after it was cut, by either end`() throws {
    let bed = try Bed()
    try bed.startBoth()
    bed.first.hangUp()
    #expect(!bed.first.isUp)
    try bed.run(until: "both are up again") { bed.mine.ups == 2 && bed.theirs.ups == 2 }
    #expect(bed.theirs.downs.count == 1)
    bed.second?.hangUp()
    try bed.run(until: "both are up once more") { bed.mine.ups == 3 && bed.theirs.ups == 3 }
    bed.first.send(Self.word(1))
    try bed.run(until: "it is heard") { bed.theirs.words == [Self.word(1)] }
  }

  @Test func `what waited for a link that was cut is not sent on the next one`() throws {
    let bed = try Bed()
    try bed.startBoth()
    bed.first.send(Self.file(1 << 20))
    #expect(!bed.first.isIdle)
    bed.first.hangUp()
    #expect(bed.first.isIdle)
    try bed.run(until: "both are up again") { bed.mine.ups == 2 && bed.theirs.ups == 2 }
    bed.first.send([.end(file: 9, size: 0)])
    try bed.run(until: "the new link is used") {
      bed.theirs.messages.last == .end(file: 9, size: 0)
    }
    #expect(!bed.theirs.messages.contains(.end(file: 1, size: 1 << 20)))
  }

  @Test func `a newer connection with the household's key takes the link's place`() throws {
    let bed = try Bed()
    try bed.startBoth()
    try bed.connect(bed.family, as: 1)
    try bed.run(until: "the newer one is the link") { bed.mine.ups >= 2 }
    try bed.run(until: "the older one has ended") { bed.theirs.downs.count >= 1 }
    #expect(bed.first.isUp)
  }

  @Test func `a daemon that dials another household is told so`() throws {
    let bed = try Bed()
    try bed.start(isStranger: true)
    try bed.run(until: "it is told") {
      bed.theirs.downs.contains("at its address another household answers")
    }
    #expect(bed.theirs.ups == 0 && bed.mine.ups == 0)
  }

  // MARK: - What is sent

  /// The messages of a file whose blocks differ.
  private static func file(_ size: Int) -> [DaemonMessage] {
    var mirror = MirroredFile()
    return mirror.messages(
      to: (0..<size).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }, file: 1)
  }

  @Test func `words pass in front of a long file, which arrives whole`() throws {
    let bed = try Bed()
    try bed.startBoth()
    let messages = Self.file(4 << 20)
    bed.first.send(messages)
    #expect(!bed.first.isIdle)
    bed.first.send(Self.word(1))
    try bed.run(until: "the word is heard") { bed.theirs.words.count == 1 }
    // The bytes that the kernel has taken are in front, and those of the queue.
    let inFront = bed.theirs.messages.prefix { $0 != .word(Self.word(1)) }.count
    #expect(inFront < messages.count / 4, "\(inFront) of \(messages.count)")
    try bed.run(until: "the file is there") { bed.theirs.messages.last == messages.last }
    #expect(bed.theirs.messages.filter { $0 != .word(Self.word(1)) } == messages)
    #expect(bed.first.isIdle)
  }

  @Test func `messages that follow while others wait keep their order`() throws {
    let bed = try Bed()
    try bed.startBoth()
    let messages = Self.file(1 << 20)
    let end = DaemonMessage.end(file: 2, size: 0)
    bed.first.send(messages)
    bed.first.send([end])
    try bed.run(until: "all are there") { bed.theirs.messages.last == end }
    #expect(bed.theirs.messages == messages + [end])
  }

  // MARK: - Broken bytes

  private static func message(_ type: UInt16, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    ByteWriter.message(type, appendingTo: &bytes) { $0.zeros(count) }
    return bytes
  }

  private static let broken: [[UInt8]] = [
    [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 1], message(0x0601, 0), message(0x0601, 60),
    message(0x0602, 4), message(0x0001, 60), message(0x06ff, 3),
    message(0x0602, DaemonMessage.limit + 64),
  ]

  @Test(arguments: broken.indices) func `broken bytes end the link`(number: Int) throws {
    let bed = try Bed()
    try bed.connect(bed.family, as: 1)
    try bed.run(until: "it is the link") { bed.first.isUp }
    // The word before them counts.
    bed.family.send(
      DaemonMessage.word(Self.word(2)).encoded() + Self.broken[number], to: 1)
    try bed.run(until: "the link has ended") { !bed.first.isUp }
    #expect(bed.mine.words == [Self.word(2)])
    #expect(bed.mine.downs.count == 1)
    #expect(bed.mine.downs.first?.hasPrefix("it is another version of Tutti, or broken") == true)
    try bed.run(until: "it is closed") { bed.gone == [1] }
    // The household's other daemon is let in nevertheless.
    try bed.startBoth(after: 1)
  }

  @Test func `a message of the greatest length is taken`() throws {
    let bed = try Bed()
    try bed.connect(bed.family, as: 1)
    let piece = DaemonMessage.piece(
      file: 1, offset: 0, [UInt8](repeating: 5, count: DaemonMessage.limit - 11))
    #expect(piece.encoded().count == DaemonMessage.limit)
    bed.family.send(piece.encoded(), to: 1)
    try bed.run(until: "it is there") { bed.mine.messages == [piece] }
  }

  // MARK: - Strangers

  @Test func `a stranger may speak, and does not disturb the link`() throws {
    let bed = try Bed()
    try bed.startBoth()
    try bed.connect(bed.strangers, as: 1)
    try bed.run(until: "it is told") { bed.mine.strangers.count == 1 }
    // It has not the key, so these are no words.
    bed.strangers.send(DaemonMessage.word(Self.word(7)).encoded(), to: 1)
    bed.strangers.send([0xff, 0xff, 0xff, 0xff], to: 1)
    let sent = DaemonMessage.word(Self.word(7)).encoded() + [0xff, 0xff, 0xff, 0xff]
    try bed.run(until: "it is heard") { bed.mine.said.count == sent.count }
    #expect(bed.mine.said == sent && bed.mine.words.isEmpty)
    let name = try #require(bed.mine.strangers.first)
    bed.first.send([4, 2], to: name)
    try bed.run(until: "it is answered") { bed.heard == [4, 2] }
    bed.strangers.close(1)
    try bed.run(until: "it has left") { bed.mine.left == [name] }
    bed.second?.send(Self.word(1))
    try bed.run(until: "the link works") { bed.mine.words == [Self.word(1)] }
    #expect(bed.mine.ups == 1 && bed.mine.downs.isEmpty && bed.theirs.downs.isEmpty)
  }

  @Test func `no more strangers are kept than the limit`() throws {
    let bed = try Bed()
    try bed.startBoth()
    for name in 1...DaemonLink.strangerLimit + 1 { try bed.connect(bed.strangers, as: name) }
    try bed.run(until: "the last one is closed") { bed.gone == [DaemonLink.strangerLimit + 1] }
    #expect(bed.mine.strangers.count == DaemonLink.strangerLimit)
    // One that goes leaves room for another.
    bed.first.close(stranger: bed.mine.strangers[0])
    try bed.connect(bed.strangers, as: 10)
    try bed.run(until: "it is told") {
      bed.mine.strangers.count == DaemonLink.strangerLimit + 1
    }
    #expect(bed.first.isUp && bed.mine.downs.isEmpty && bed.theirs.downs.isEmpty)
  }

  @Test func `of connections that show no key, the oldest makes room`() throws {
    let bed = try Bed()
    for name in 1...DaemonLink.strangerLimit { try bed.connect(bed.strangers, as: name) }
    var silent: [ConnectionID] = []
    for _ in 0..<DaemonLink.unknownLimit + 2 { silent.append(try bed.connectSilently()) }
    try bed.run(until: "the oldest are closed") { bed.closed.count >= 2 }
    #expect(bed.closed == Array(silent.prefix(2)))
    // The other daemon comes in all the same, and again where its old link is not known to be cut.
    try bed.startBoth()
    try bed.connect(bed.family, as: 100)
    try bed.run(until: "the newer one is the link") { bed.mine.ups >= 2 }
    #expect(bed.mine.left.isEmpty)
  }

  // MARK: - Time

  /// Takes as long as those times are: each end is an event that the test waits for.
  @Test func `who is silent is given up`() throws {
    let bed = try Bed()
    try bed.startBoth()
    let begin = HostClock.now
    let silent = try bed.connectSilently()
    bed.isHung = true
    try bed.run(until: "the link is given up") { bed.mine.downs == ["it does not answer"] }
    #expect(HostClock.now - begin > DaemonLink.silence - .milliseconds(500))
    #expect(!bed.first.isUp && !bed.closed.contains(silent))
    try bed.run(until: "the silent one is closed") { bed.closed.contains(silent) }
    #expect(HostClock.now - begin >= DaemonLink.unknownTime)
    bed.isHung = false
    try bed.run(until: "the link is there again") { bed.mine.ups == 2 && bed.theirs.ups == 2 }
  }
}
