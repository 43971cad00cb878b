import Audio
import Clock
import Pairing
import Testing
import WireProtocol

@testable import Receiver

/// Tests of room ownership: who gets the room, who keeps it, and who is told.
@Suite struct OccupancyTests {
  /// Sender 1 has a room that holds this many packets of 20 ms, and plays them.
  private static func playing(_ packets: Int) -> (TestReceiver, control: ConnectionID) {
    var receiver = TestReceiver(capacity: Capacity(bytes: 32 << 20, duration: .seconds(600)))
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(packets, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.advance(by: .seconds(1))
    receiver.take()
    return (receiver, control)
  }

  private static let busy = ControlMessage.refuse(Refusal(reason: .busy, detail: "sender 1"))

  @Test func `a waiting sender does not get a room with music in it`() {
    var (receiver, control) = Self.playing(3000)
    receiver.handle(.closed(control))
    for second in 1...6 {
      let waiting = receiver.hello(sender: 2, session: UInt64(second), clock: 78)
      #expect(receiver.farewell(waiting) == Self.busy, "\(second)")
      receiver.advance(by: .seconds(9))
    }
    #expect(receiver.advertised.isEmpty)
    let back = receiver.hello(session: 6)
    #expect(receiver.welcome(back)?.held?.nextSequence == 3000)
  }

  @Test func `the room is free once the music that was left has sounded`() {
    var (receiver, control) = Self.playing(2000)
    receiver.handle(.closed(control))
    receiver.advance(by: .seconds(38))
    #expect(receiver.advertised.isEmpty)
    receiver.advance(by: .seconds(3))
    #expect(receiver.advertised == [false])
    let next = receiver.hello(sender: 2, clock: 78)
    #expect(receiver.welcome(next) != nil)
  }

  @Test func `a room that stands still is kept for half a minute`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(100, on: media)
    receiver.handle(.closed(control))
    receiver.take()
    receiver.advance(by: .seconds(29))
    let early = receiver.hello(sender: 2, clock: 78)
    #expect(receiver.farewell(early) == Self.busy)
    receiver.advance(by: .seconds(2))
    #expect(receiver.advertised == [false])
    let late = receiver.hello(sender: 2, clock: 78)
    #expect(receiver.welcome(late) != nil)
  }

  @Test func `after a finished goodbye, or a session without music, anybody gets it at once`() {
    var (receiver, control) = Self.playing(1000)
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: control)
    #expect(receiver.advertised == [false])
    let next = receiver.hello(sender: 2, session: 7, clock: 78)
    #expect(receiver.welcome(next)?.dropped == nil)
    receiver.handle(.closed(next))
    let third = receiver.hello(sender: 3, session: 8, clock: 79)
    #expect(receiver.welcome(third) != nil)
  }

  @Test func `who takes the room over is told what that has put an end to`() throws {
    var (receiver, control) = Self.playing(1000)
    receiver.handle(.closed(control))
    let taking = receiver.hello(sender: 2, session: 7, clock: 78, takesOver: true)
    let dropped = try #require(receiver.welcome(taking)?.dropped)
    #expect(dropped.senderName == "sender 1")
    #expect(dropped.unheard > .milliseconds(18_500) && dropped.unheard < .milliseconds(19_500))
    #expect(receiver.cuts.last?.from == .zero)
  }

  @Test func `a sender whose room is taken over is told by whom`() {
    var (receiver, control) = Self.playing(1000)
    _ = receiver.hello(sender: 2, session: 7, clock: 78, takesOver: true)
    #expect(
      receiver.farewell(control)
        == .goodbye(Goodbye(reason: .replaced, detail: "sender 2")))
    #expect(receiver.closed.contains(control))
  }

  /// The ways in which a sender loses a room that it plays in.
  enum Loss: CaseIterable { case replaced, lent, notPaired, violation, silence }

  @Test(arguments: Loss.allCases)
  func `with a goodbye, media is the sender's to close, or ends a second later`(loss: Loss) {
    let paired = Pairings([1, 2].map { .init(id: .counting(from: $0), name: "s") })
    var receiver = TestReceiver(access: .paired, trust: TrustMemory(pairings: paired))
    for closesMedia in [false, true] {
      let session: UInt64 = closesMedia ? 6 : 5
      receiver.handle(.trustChanged(TrustMemory(pairings: paired)))
      let control = receiver.hello(session: session, takesOver: true)
      let media = receiver.attach(session: session)
      receiver.take()
      switch loss {
      case .replaced: _ = receiver.hello(sender: 2, session: 7, clock: 78, takesOver: true)
      case .lent:
        _ = receiver.hello(sender: 2, session: 7, clock: 78, takesOver: true, givesBack: true)
      case .notPaired: receiver.handle(.trustChanged(TrustMemory()))
      case .violation: receiver.say(.codecs([.pcm]), on: control)
      case .silence: while receiver.closed.isEmpty { receiver.advance(by: .milliseconds(100)) }
      }
      guard case .goodbye? = receiver.farewell(control) else {
        Issue.record("no goodbye")
        return
      }
      #expect(receiver.closed == [control])
      // Data that still arrives is ignored.
      receiver.stream(.format(id: 0, TestReceiver.format), on: media)
      if closesMedia { receiver.handle(.closed(media)) }
      receiver.advance(by: .milliseconds(900))
      #expect(!receiver.closed.contains(media))
      receiver.advance(by: .milliseconds(200))
      #expect(receiver.closed.contains(media) == !closesMedia)
    }
  }

  @Test func `senders that hurry each other out leave few connections behind`() {
    var receiver = TestReceiver()
    var media: [ConnectionID] = []
    for session: UInt64 in 1...UInt64(PartingMedia.limit + 2) {
      let sender = UInt8(session % 2 + 1)
      _ = receiver.hello(
        sender: sender, session: session, clock: 70 + session, takesOver: true)
      media.append(receiver.attach(session: session, sender: sender))
    }
    #expect(media.filter(receiver.closed.contains) == [media[0]])
  }

  @Test func `a program whose sender begins another one in the room is told so`() throws {
    var (receiver, control) = Self.playing(1000)
    _ = receiver.hello(sender: 1, session: 7, clock: 78)
    guard case .goodbye(let goodbye)? = receiver.farewell(control) else {
      Issue.record("no goodbye")
      return
    }
    #expect(goodbye.reason == .replaced)
    #expect(goodbye.detail == "sender 1")
  }

  @Test func `a program that has lost its connection is told nothing`() {
    var (receiver, control) = Self.playing(1000)
    let again = receiver.hello(sender: 1, session: 7)
    #expect(receiver.farewell(control) == nil)
    #expect(receiver.closed.contains(control))
    #expect(receiver.welcome(again)?.held?.nextSequence == 1000)
    #expect(receiver.welcome(again)?.dropped == nil)
  }

  @Test func `a room that has missed a pause forgets what it was to play for what comes again`() {
    var (receiver, control) = Self.playing(1000)
    receiver.say(
      .flush(Flush(from: TestReceiver.time(900), generation: 1, isRamped: true)), on: control)
    receiver.handle(.closed(control))
    _ = receiver.hello(session: 6)
    let media = receiver.attach(session: 6)
    receiver.take()
    receiver.send(10, from: 10, on: media)
    // Decoded audio is obsolete, and the flush still applies to later audio.
    let cuts = receiver.cuts
    #expect(cuts.map(\.from) == [.zero, TestReceiver.time(900)])
    #expect(cuts.map(\.generation) == cuts.map(\.generation).sorted())
  }

  @Test func `another sender with the same clock identity inherits nothing`() {
    var (receiver, control) = Self.playing(1000)
    receiver.handle(.closed(control))
    let other = receiver.hello(sender: 2, session: 7, clock: 77, takesOver: true)
    #expect(receiver.welcome(other)?.held == nil)
  }
}
