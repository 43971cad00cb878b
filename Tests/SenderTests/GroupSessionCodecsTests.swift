import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

@Suite struct GroupSessionCodecsTests {
  private static let able = Welcome.test(codecs: [.pcm, .mp3])
  private static let unable = Welcome.test(codecs: [.pcm])

  private static func group(rooms: Int = 2, _ items: [String] = ["8000x1:80000"]) -> TestGroup {
    TestGroup(items, rooms: rooms, openSource: openPassedSource)
  }

  private static func codecs(_ messages: [MediaMessage]) -> [Codec] {
    messages.compactMap { if case .format(_, let format) = $0 { format.codec } else { nil } }
  }

  private static func recodings(_ group: TestGroup) -> [SenderEvent.RoomChange] {
    [TestGroup.room, TestGroup.other].flatMap(group.events.changes(of:)).filter {
      if case .recoded = $0 { true } else { false }
    }
  }

  @Test func `what all rooms decode is passed on`() {
    var group = Self.group()
    group.joinReady(with: Self.able)
    group.joinReady(TestGroup.other, with: Self.able)
    group.advance(by: .milliseconds(500))
    #expect(Self.codecs(group.streamed()) == [.mp3])
    #expect(Self.recodings(group).isEmpty && group.flushes.isEmpty)
  }

  @Test func `a first room that cannot decode it changes the codec before anything sounds`() {
    var group = Self.group(rooms: 1)
    group.joinReady(with: Self.unable)
    group.advance(by: .milliseconds(500))
    #expect(Self.codecs(group.streamed()) == [.pcm])
    #expect(group.packets().first?.mediaTime == .zero)
    #expect(Self.recodings(group) == [.recoded(from: .mp3)])
    let started = group.events.filter { if case .itemStarted = $0 { true } else { false } }
    #expect(started.count == 1)
  }

  @Test func `a room that joins and cannot decode it cuts soon, without a seam`() throws {
    var group = Self.group()
    group.joinReady(with: Self.able)
    group.advance(by: .seconds(3))
    group.take()
    let playhead = group.session.timeline.playhead(at: GroupTime(ofSender: group.now))
    group.joinReady(TestGroup.other, with: Self.unable)
    group.advance(by: .milliseconds(100))
    let flush = try #require(group.flushes.first)
    #expect(group.flushes.count == 1 && !flush.isRamped)
    #expect(flush.from - playhead > .milliseconds(400))
    #expect(flush.from - playhead < .milliseconds(600))
    #expect(Self.recodings(group) == [.recoded(from: .mp3)])
    // The others continue in the new codec with the very next frame, and no room stops.
    #expect(Self.codecs(group.streamed()) == [.pcm])
    let next = try #require(
      group.packets().first {
        $0.generation == flush.generation && $0.encoded.frameCount > 0
      })
    #expect(next.mediaTime == flush.from)
    let frame = flush.from.flicks / 88_200
    let value = next.encoded.payload.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    #expect(Float(bitPattern: value) == TestSource.sample(frame))
    #expect(group.anchors.isEmpty)
    // The new room was sent nothing that it cannot decode.
    #expect(Self.codecs(group.streamed(TestGroup.other)) == [.pcm])
    #expect(group.packets(TestGroup.other).allSatisfy { $0.mediaTime >= flush.from })
    #expect(!group.events.contains { if case .itemEnded = $0 { true } else { false } })
  }

  @Test func `of several items, only those are made anew that the room cannot decode`() throws {
    var group = TestGroup(
      ["8000x1:32000", "8000x1:40000"], rooms: 2,
      openSource: { (item) throws(MediaError) in
        item.id == 1 ? try openPassedSource(item) : try openTestSource(item)
      })
    group.joinReady(with: Self.able)
    group.advance(by: .seconds(1))
    let ids = group.session.playlist.items.map(\.id)
    group.take()
    group.joinReady(TestGroup.other, with: Self.unable)
    group.advance(by: .milliseconds(100))
    let flush = try #require(group.flushes.first)
    let isFirstPassed = ids.first == 1
    #expect(
      isFirstPassed
        ? flush.from < MediaTime(flicks: 2 * 705_600_000)
        : flush.from == MediaTime(flicks: 4 * 705_600_000))
  }

  @Test func `while paused the cut lies where it stands`() throws {
    var group = Self.group()
    group.joinReady(with: Self.able)
    group.advance(by: .seconds(2))
    group.command(.pause)
    group.advance(by: .seconds(1))
    let paused = try #require(group.anchors.last)
    group.take()
    group.joinReady(TestGroup.other, with: Self.unable)
    group.advance(by: .milliseconds(100))
    let from = try #require(group.flushes.first?.from)
    #expect(from >= paused.mediaTime && from - paused.mediaTime < .milliseconds(40))
  }

  @Test func `a room that takes a codec back is sent another, without a seam for the others`()
    throws
  {
    var group = Self.group()
    group.joinReady(with: Self.able)
    group.joinReady(TestGroup.other, with: Self.able)
    group.advance(by: .seconds(3))
    group.take()
    let playhead = group.session.timeline.playhead(at: GroupTime(ofSender: group.now))
    group.say(.codecs([.pcm]), in: TestGroup.other)
    group.advance(by: .milliseconds(100))
    let flush = try #require(group.flushes.first)
    #expect(group.flushes.count == 1 && !flush.isRamped)
    #expect(flush.from - playhead < .milliseconds(600))
    #expect(Self.recodings(group) == [.recoded(from: .mp3)])
    #expect(Self.codecs(group.streamed()) == [.pcm])
    #expect(Self.codecs(group.streamed(TestGroup.other)) == [.pcm])
    #expect(group.anchors.isEmpty)
    // Repeating the message changes nothing.
    group.say(.codecs([.pcm]), in: TestGroup.other)
    group.advance(by: .milliseconds(100))
    #expect(group.flushes.count == 1)
  }

  @Test func `a codec that is taken back before the start is never heard of`() {
    var group = Self.group(rooms: 1)
    group.join(with: Self.able)
    group.advance(by: .milliseconds(100))
    group.say(.codecs([.pcm]))
    group.say(.status(.test(.ready)))
    group.advance(by: .milliseconds(500))
    #expect(Self.codecs(group.streamed()).last == .pcm)
    #expect(group.anchors.count == 1)
    #expect(
      group.packets().last { $0.mediaTime == .zero }?.generation == group.flushes.last?.generation)
  }

  private static func listen(_ group: inout TestGroup, tenths: Int) {
    for _ in 0..<tenths {
      group.advance(by: .milliseconds(100))
      if group.isAwaitingProduction { group.produceOne() }
    }
  }

  @Test func `what is live is not opened anew for a room that joins, and nobody hears a cut`()
    throws
  {
    var group = TestGroup(
      rooms: 2, producesAtOnce: false,
      openSource: { (_) throws(MediaError) in
        TestLive(length: 800_000, passing: [(.mp3, 800_000)])
      })
    // Like a station, the source is two seconds ahead.
    for _ in 0..<20 { group.produceOne() }
    group.joinReady(with: Self.able)
    Self.listen(&group, tenths: 30)
    group.take()
    group.joinReady(TestGroup.other, with: Self.unable)
    Self.listen(&group, tenths: 50)
    #expect(group.flushes.isEmpty && group.anchors.isEmpty)
    #expect(Self.recodings(group) == [.recoded(from: .mp3)])
    #expect(Self.codecs(group.streamed()) == [.pcm])
    #expect(Self.codecs(group.streamed(TestGroup.other)) == [.pcm])
    let packets = group.packets()
    for (one, next) in zip(packets, packets.dropFirst()) {
      let frames = Int64(one.encoded.frameCount)
      #expect(next.mediaTime == one.mediaTime + MediaDuration(frames: frames, at: 8_000))
    }
    let described = group.events.compactMap { event in
      if case .itemDescribed(let opened) = event { opened.wire } else { nil }
    }
    #expect(described == [WireChoice(codec: .pcm, reason: .roomsLack(.mp3))])
    #expect(group.packets(TestGroup.other).count > 50)
  }

  @Test func `codecs before a welcome break the protocol`() {
    var group = Self.group(rooms: 1)
    group.handle(.connected(TestGroup.room, .control))
    group.say(.codecs([.pcm]))
    #expect(
      group.events.changes(of: TestGroup.room).contains {
        if case .unreachable = $0 { true } else { false }
      })
  }

  @Test func `a room that decodes all of it changes nothing, nor does one that comes back`() {
    var group = Self.group()
    group.joinReady(with: Self.able)
    group.advance(by: .seconds(1))
    group.joinReady(TestGroup.other, with: Self.able)
    group.advance(by: .seconds(1))
    #expect(group.flushes.isEmpty)
    group.handle(.closed(TestGroup.other, .control, reason: "away"))
    group.advance(by: .seconds(1))
    group.joinReady(TestGroup.other, with: Self.able)
    group.advance(by: .seconds(1))
    #expect(group.flushes.isEmpty && Self.recodings(group).isEmpty)
  }

  @Test func `the next item is begun in what all rooms decode, also those that are away`() {
    var group = Self.group(rooms: 2, ["8000x1:16000", "8000x1:16000"])
    group.joinReady(with: Self.able)
    group.joinReady(TestGroup.other, with: Self.unable)
    group.handle(.closed(TestGroup.other, .control, reason: "away"))
    group.take()
    group.command(.next)
    group.advance(by: .seconds(1))
    #expect(!Self.codecs(group.streamed()).contains(.mp3))
  }
}
