import Clock
import Receiver
import Testing
import WireProtocol

/// Tests of announcements, and of a room's reports of the item that is heard.
@Suite struct ReceiverSessionNowPlayingTests {
  private static func announcement(
    _ title: String?, at packet: Int, generation: UInt32 = 0, artwork: UInt32 = 0
  ) -> ControlMessage {
    .nowPlaying(
      NowPlaying(
        generation: generation, from: TestReceiver.time(packet),
        item: title.map { ItemDescription(title: $0, artwork: artwork) }))
  }

  /// A room that plays fifty packets, A until packet 20 and then B. It has reported nothing of this
  /// yet.
  private static func playing() -> (
    receiver: TestReceiver, control: ConnectionID, media: ConnectionID
  ) {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.say(announcement("A", at: 0), announcement("B", at: 20), on: control)
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.advance(by: .milliseconds(1))
    return (receiver, control, media)
  }

  @Test func `an item is shown when its first frame is heard, not when it is written`() {
    var (receiver, _, _) = Self.playing()
    #expect(receiver.shownItems.isEmpty)
    receiver.report(.playing, playhead: TestReceiver.time(1), in: .milliseconds(21))
    #expect(receiver.shownItems.isEmpty)
    receiver.report(.playing, playhead: TestReceiver.time(1), in: .milliseconds(20))
    #expect(receiver.shown == ["A"])
    receiver.report(.playing, playhead: TestReceiver.time(25), in: .milliseconds(101))
    #expect(receiver.shown == ["A"])
    receiver.advance(by: .milliseconds(1))
    #expect(receiver.shown == ["A", "B"])
  }

  @Test func `a flush takes back what was announced`() {
    var (receiver, control, _) = Self.playing()
    receiver.report(.playing, playhead: TestReceiver.time(1))
    receiver.say(
      .flush(Flush(from: TestReceiver.time(10), generation: 1, isRamped: true)), on: control)
    receiver.report(.playing, playhead: TestReceiver.time(30))
    #expect(receiver.shown == ["A"])
    receiver.say(Self.announcement("C", at: 10, generation: 1), on: control)
    #expect(receiver.shown == ["A", "C"])
  }

  @Test func `packets that overtake their flush take back what was announced`() {
    var (receiver, control, media) = Self.playing()
    receiver.report(.playing, playhead: TestReceiver.time(1))
    receiver.send(5, from: 60, generation: 1, at: TestReceiver.time(10), on: media)
    receiver.report(.playing, playhead: TestReceiver.time(30))
    #expect(receiver.shown == ["A"])
    receiver.say(
      Self.announcement("C", at: 10, generation: 1),
      .flush(Flush(from: TestReceiver.time(10), generation: 1, isRamped: true)), on: control)
    #expect(receiver.shown == ["A", "C"])
  }

  @Test func `a pause changes nothing, the end of the list does`() {
    var (receiver, control, _) = Self.playing()
    receiver.say(Self.announcement(nil, at: 50), on: control)
    receiver.report(.playing, playhead: TestReceiver.time(1))
    receiver.report(.paused, playhead: TestReceiver.time(19))
    #expect(receiver.shown == ["A"])
    receiver.report(.playing, playhead: TestReceiver.time(20))
    receiver.report(.paused, playhead: TestReceiver.time(50))
    #expect(receiver.shown == ["A", "B", nil])
  }

  @Test func `nothing is shown once nothing is heard`() {
    for ending in 0..<4 {
      var (receiver, control, media) = Self.playing()
      receiver.report(.playing, playhead: TestReceiver.time(1))
      switch ending {
      case 0: receiver.report(.ended, playhead: TestReceiver.time(50))
      case 1: receiver.handle(.deviceLost(reason: "gone"))
      case 2: receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: control)
      default: _ = receiver.hello(session: 6, clock: 78)
      }
      #expect(receiver.shown == ["A", nil], "\(ending), \(media)")
    }
  }

  @Test func `what is written and not heard yet is shown to its end`() {
    var (receiver, _, media) = Self.playing()
    receiver.stream(.packet(TestReceiver.packet(50, endsStream: true)), on: media)
    receiver.report(.ended, playhead: TestReceiver.time(51), in: .milliseconds(150))
    #expect(receiver.shown == ["B"])
    receiver.advance(by: .milliseconds(150))
    #expect(receiver.shown == ["B", nil])
  }

  @Test func `a room whose sender is gone plays on, and shows what it plays`() {
    var (receiver, control, _) = Self.playing()
    receiver.report(.playing, playhead: TestReceiver.time(1))
    receiver.handle(.closed(control))
    receiver.report(.playing, playhead: TestReceiver.time(20))
    #expect(receiver.shown == ["A", "B"])
  }

  @Test func `what was announced in the session before is replaced, and shown once`() {
    var (receiver, _, _) = Self.playing()
    receiver.report(.playing, playhead: TestReceiver.time(1))
    let control = receiver.hello(session: 6)
    receiver.say(Self.announcement("A", at: 0), Self.announcement("C", at: 30), on: control)
    receiver.report(.playing, playhead: TestReceiver.time(29))
    #expect(receiver.shown == ["A"])
    receiver.report(.playing, playhead: TestReceiver.time(30))
    #expect(receiver.shown == ["A", "C"])
  }

  @Test func `the report of a stream that is over shows nothing of the next`() {
    var (receiver, _, _) = Self.playing()
    receiver.report(.playing, playhead: TestReceiver.time(40))
    receiver.answersTime = false
    let control = receiver.hello(session: 6, clock: 78)
    receiver.say(Self.announcement("C", at: 0), on: control)
    receiver.report(.playing, playhead: TestReceiver.time(41))
    #expect(receiver.shown == ["B", nil])
  }

  @Test func `a picture comes over the media connection and takes no room from music`() {
    var (receiver, control, media) = Self.playing()
    receiver.say(Self.announcement("P", at: 0, artwork: 3), on: control)
    receiver.report(.playing, playhead: TestReceiver.time(1))
    #expect(receiver.shownItems.map { $0?.artwork } == [nil])
    let granted = receiver.credits(control).max() ?? 0
    for offset in stride(from: 0, to: 80_000, by: 16_000) {
      let piece = ArtworkPiece(
        number: 3, size: 80_000, offset: offset, mimeType: "image/jpeg",
        bytes: [UInt8](repeating: 5, count: 16_000))
      receiver.stream(.artwork(piece), on: media)
    }
    #expect(receiver.shownItems.last??.artwork?.bytes.count == 80_000)
    #expect(receiver.shown == ["P", "P"])
    #expect(receiver.credits(control).max() ?? 0 >= granted + 65_536)
    #expect(receiver.closed.isEmpty)
  }

  @Test func `a malformed piece ends the session as any malformed message does`() {
    var (receiver, control, media) = Self.playing()
    receiver.handle(.received(media, [0, 0, 0, 4, 3, 4, 0, 0]))
    #expect(receiver.closed == [control])
  }
}
