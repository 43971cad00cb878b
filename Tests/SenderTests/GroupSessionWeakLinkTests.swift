import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Tests of a group that has small packets made for rooms with weak links. Were it wrong, such a
/// room would be silent again and again, or a start would wait behind music on its way.
@Suite struct GroupSessionWeakLinkTests {
  /// A room of which nothing has arrived in the 600 ms since it was sent its first packets.
  private static func congested(_ steps: [ProducedBatch.Step]) -> FedSession {
    var fed = FedSession(smallCodec: .opus)
    fed.join(with: .test(codecs: [.pcm, .opus]))
    fed.give(steps, music: 0..<1_000)
    fed.now = fed.now + .milliseconds(600)
    fed.handle(.measured(FedSession.room, waiting: fed.sentBytes))
    return fed
  }

  @Test func `a room whose link is found to be too slow is sent small packets`() {
    let fed = Self.congested([.opening()])
    #expect(fed.session.rooms[FedSession.room]?.weakness.isWeak == true)
    #expect(fed.outputs.contains { if case .makeSmall = $0 { true } else { false } })
    #expect(fed.session.makesSmall)
  }

  /// No small packets are made of it, and its measurements would count for what follows.
  @Test func `what is live says nothing of a link`() {
    let live = LiveTiming(firstHeard: FedSession.start, latency: .milliseconds(30))
    let fed = Self.congested([.opening(supply: .input, live: live)])
    #expect(fed.session.rooms[FedSession.room]?.weakness.isWeak == false)
    #expect(!fed.session.makesSmall)
  }

  @Test(arguments: [(true, Int64(2_000)), (false, 400)])
  func `a room is filled while nobody has started, and spared while a start is awaited`(
    isHeld: Bool, expected: Int64
  ) {
    var fed = FedSession(smallCodec: .opus, startsHeld: isHeld)
    fed.join()
    fed.give([.opening()], music: 0..<2_000)
    #expect(fed.session.lead(of: FedSession.room, at: fed.now) == .milliseconds(expected))
  }
}

/// Tests of the way that packets of a live source take. Were it wrong, a room would hear the same
/// packets twice, or later than they were to sound.
@Suite struct GroupSessionDatagramTests {
  private static let secret = LiveSecret(
    cipher: FakeCipher(), key: [UInt8](repeating: 3, count: 32), port: 46_001)
  private static let live = LiveTiming(firstHeard: FedSession.start, latency: .milliseconds(30))

  /// Gives a packet to a room that has asked for datagrams. Returns how many it was sent.
  private static func datagrams(_ secret: LiveSecret?, _ live: LiveTiming?) -> Int {
    var fed = FedSession(live: secret)
    fed.join()
    fed.give([.opening(supply: .input, live: live)])
    let ask = LiveAsk(clockID: 77, keyID: 101, sequence: 1)
    fed.handle(.asked(FedSession.room, ask))
    fed.give(music: 0..<50)
    let isLive = secret != nil && live != nil
    #expect(fed.session.store.entries.map(\.isLive) == [isLive])
    return fed.outputs.count { if case .sendDatagram = $0 { true } else { false } }
  }

  @Test func `a packet of a live source goes to a room as a datagram`() {
    #expect(Self.datagrams(Self.secret, Self.live) == 1)
  }

  @Test func `other packets go over the media connection, as all do without a key`() {
    #expect(Self.datagrams(Self.secret, nil) == 0)
    #expect(Self.datagrams(nil, Self.live) == 0)
    #expect(Self.datagrams(nil, nil) == 0)
  }
}

/// A session with a configuration that `TestGroup` does not have. The producer is the test.
struct FedSession: SessionOutputs {
  static let room = TestGroup.room
  static let start = LocalTime(nanoseconds: 1_000_000_000)

  private(set) var session: GroupSession
  private(set) var outputs: [GroupSession.Output] = []
  var now = Self.start

  init(
    _ items: [String] = ["song 0"], repetition: Playlist.Repetition = .off,
    live: LiveSecret? = nil, smallCodec: Codec? = nil, startsHeld: Bool = false
  ) {
    let configuration = GroupSession.Configuration(
      senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
      firstSession: 100, startsHeld: startsHeld, live: live, smallCodec: smallCodec)
    session = GroupSession(
      configuration, playing: Playlist(items.map { PlaylistEntry($0) }, repetition: repetition))
    handle(.roomAdded(Self.room, name: "room", receiverID: nil))
  }

  mutating func handle(_ input: GroupSession.Input) {
    session.handle(input, at: now)
    while let output = session.nextOutput() { outputs.append(output) }
  }

  mutating func give(
    _ first: [ProducedBatch.Step] = [], music span: Range<Int64>? = nil,
    then last: [ProducedBatch.Step] = []
  ) {
    let generation = session.timeline.generation
    handle(.produced(.given(first, music: span, then: last, in: generation)))
  }

  /// Connects the room, which is not ready yet and has much space.
  mutating func join(with welcome: Welcome = .test()) {
    handle(.connected(Self.room, .control))
    handle(.received(Self.room, .control, ControlMessage.welcome(welcome).encoded()))
    handle(.connected(Self.room, .media))
    let credit = ControlMessage.credit(.test(limit: welcome.capacity.bytes))
    handle(.received(Self.room, .control, credit.encoded()))
  }

  /// Bytes that were sent to the room over its media connection.
  var sentBytes: Int { bytes(to: Self.room, .media).count }

  /// Identities of the items that were ordered.
  var begun: [Int] { beginnings.map(\.item.id) }
}
