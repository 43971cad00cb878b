import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Tests of audio that arrives, is credited, cut and played.
@Suite struct ReceiverSessionMediaTests {
  /// A session with its media connection, ready to play.
  private static func attached(
    capacity: Capacity = Capacity(bytes: 1 << 20, duration: .seconds(600))
  ) -> (receiver: TestReceiver, control: ConnectionID, media: ConnectionID) {
    var receiver = TestReceiver(capacity: capacity)
    let control = receiver.hello()
    let media = receiver.attach()
    return (receiver, control, media)
  }

  // MARK: - Credit

  @Test func `attach is answered with credit, and nothing before it`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.advance(by: .seconds(1))
    #expect(receiver.credits(control).isEmpty)
    _ = receiver.attach()
    #expect(receiver.credits(control).count == 1)
  }

  @Test func `what is received and held never exceeds the capacity`() {
    let capacity: UInt64 = 200_000
    var (receiver, control, media) = Self.attached(
      capacity: Capacity(bytes: capacity, duration: .seconds(600)))
    let size = UInt64(MediaMessage.packet(TestReceiver.packet(0)).encoded().count)
    var sent = UInt64(
      MediaMessage.attach(session: 5).encoded().count
        + MediaMessage.format(id: 0, TestReceiver.format).encoded().count)
    var number = 0
    while sent + size <= receiver.credits(control).max() ?? 0, number < 1000 {
      receiver.send(1, from: number, on: media)
      sent += size
      number += 1
    }
    #expect((50...110).contains(number))
    #expect(receiver.closed.isEmpty)
    #expect(sent <= capacity + 100_000)
  }

  @Test func `a flush frees credit`() {
    var (receiver, control, media) = Self.attached(
      capacity: Capacity(bytes: 200_000, duration: .seconds(600)))
    receiver.send(90, on: media)
    let before = receiver.credits(control).max() ?? 0
    receiver.say(.flush(Flush(from: .zero, generation: 1, isRamped: true)), on: control)
    #expect(receiver.credits(control).max() ?? 0 > before)
  }

  @Test func `credit is counted anew for each media connection, and never falls on one`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(200, on: media)
    #expect(receiver.credits(control) == receiver.credits(control).sorted())
    let limit = receiver.credits(control).last ?? 0
    receiver.take()
    let next = receiver.attach()
    #expect(receiver.closed == [media])
    #expect(receiver.credits(control).first ?? .max < limit)
    receiver.take()
    receiver.send(1, from: 200, on: media)
    receiver.handle(.closed(media))
    receiver.send(1, from: 200, on: next)
    #expect(receiver.closed == [next] || receiver.closed.isEmpty)
  }

  @Test
  func `a sender that ignores the credit is told where to go back to, once, and then sent away`() {
    var (receiver, control, media) = Self.attached(
      capacity: Capacity(bytes: 50_000, duration: .seconds(600)))
    receiver.opensDevice = false
    for number in 0..<52 { receiver.send(1, from: number, on: media) }
    #expect(receiver.closed.isEmpty)
    for number in 52..<70 { receiver.send(1, from: number, on: media) }
    #expect(receiver.closed == [control])
    #expect(
      receiver.told(control).contains {
        if case .goodbye(let goodbye) = $0 { goodbye.reason == .protocolViolation } else { false }
      })
    let lost = receiver.told(control).compactMap {
      if case .flushedAutomatically(let flushed) = $0 { flushed } else { nil }
    }
    #expect(lost.count == 1)
    #expect(lost.first?.from ?? .zero > TestReceiver.time(20))
  }

  // MARK: - Packets that are wrong

  @Test func `packets of another stream are skipped and counted`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(2, on: media)
    var bytes = MediaMessage.packet(TestReceiver.packet(2, at: TestReceiver.time(900))).encoded()
    bytes[9] = 1
    receiver.handle(.received(media, bytes))
    #expect(receiver.session.diary.ignored.skipped == 1)
    #expect(receiver.session.playout.bufferedUntil == TestReceiver.time(2))
    receiver.send(1, from: 2, on: media)
    #expect(receiver.farewell(control) == nil)
    #expect(receiver.session.playout.bufferedUntil == TestReceiver.time(3))
  }

  @Test func `corrupt packets are counted and skipped`() {
    var (receiver, control, media) = Self.attached()
    receiver.take()
    var unknown = TestReceiver.packet(0)
    unknown.formatID = 9
    var between = TestReceiver.packet(0)
    between.mediaTime = MediaTime(flicks: 1)
    var sealed = MediaMessage.packet(TestReceiver.packet(0)).encoded()
    sealed[33] = 4
    receiver.stream(.packet(unknown), .packet(between), on: media)
    receiver.handle(.received(media, sealed))
    receiver.send(1, on: media)
    let totals = receiver.events.compactMap {
      if case .packetCorrupt(_, let total) = $0 { total } else { nil }
    }
    #expect(totals == [1, 2, 3])
    #expect(receiver.closed.isEmpty)
    receiver.advance(by: .seconds(1))
    let counted = receiver.told(control).compactMap {
      if case .status(let status) = $0 { status.corruptPackets } else { nil }
    }
    #expect(counted.last == 3)
  }

  @Test func `formats are those of the present connection`() {
    var (receiver, _, _) = Self.attached()
    let next = receiver.accept()
    receiver.stream(.attach(session: 5), on: next)
    receiver.take()
    receiver.send(1, on: next)
    #expect(receiver.events.contains { if case .packetCorrupt = $0 { true } else { false } })
  }

  @Test func `a second attach on one connection, and unreadable framing, end the session`() {
    for bytes in [
      MediaMessage.attach(session: 5).encoded(), [0xff, 0xff, 0xff, 0xff],
      [0, 0, 0, 4, 3, 2, 0, 0],
    ] {
      var (receiver, control, media) = Self.attached()
      receiver.handle(.received(media, bytes))
      #expect(receiver.closed == [control], "\(bytes)")
    }
  }

  @Test func `unknown media messages are passed over`() {
    var (receiver, _, media) = Self.attached()
    receiver.handle(.received(media, [0, 0, 0, 3, 3, 99, 1]))
    receiver.send(1, on: media)
    #expect(receiver.closed.isEmpty)
  }

  @Test func `a media connection that breaks alone may come again`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(10, on: media)
    receiver.handle(.closed(media))
    #expect(!receiver.closed.contains(control))
    let next = receiver.attach()
    receiver.send(10, from: 10, on: next)
    #expect(receiver.closed.isEmpty)
    receiver.handle(.closed(control))
    receiver.advance(by: .milliseconds(10))
    #expect(receiver.closed.contains(next))
  }

  // MARK: - Flush

  @Test func `a flush is answered and reaches the render thread before what follows it`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.take()
    receiver.say(
      .flush(Flush(from: TestReceiver.time(20), generation: 1, isRamped: true)), on: control)
    #expect(receiver.flushes(control) == [Flushed(generation: 1, from: TestReceiver.time(20))])
    #expect(receiver.cuts.map(\.generation) == [1])
    #expect(receiver.cuts.map(\.from) == [TestReceiver.time(20)])
  }

  @Test func `a repetition is answered with the cut that was made, an older one not at all`() {
    var (receiver, control, _) = Self.attached()
    let made = Flush(from: TestReceiver.time(20), generation: 5, isRamped: true)
    receiver.say(.flush(made), on: control)
    receiver.say(
      .flush(Flush(from: TestReceiver.time(9), generation: 5, isRamped: false)), on: control)
    receiver.say(.flush(Flush(from: .zero, generation: 4, isRamped: true)), on: control)
    #expect(
      receiver.flushes(control)
        == Array(
          repeating: Flushed(generation: 5, from: TestReceiver.time(20)), count: 2))
    #expect(receiver.cuts.count == 1)
  }

  @Test func `packets that overtake their flush cut where they begin`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.take()
    receiver.send(5, from: 60, generation: 1, at: TestReceiver.time(30), on: media)
    #expect(receiver.cuts.map(\.from) == [TestReceiver.time(30)])
    receiver.say(
      .flush(Flush(from: TestReceiver.time(30), generation: 1, isRamped: true)), on: control)
    #expect(receiver.flushes(control) == [Flushed(generation: 1, from: TestReceiver.time(30))])
    #expect(receiver.cuts.count == 1)
  }

  /// As docs/protocol/flush.md says: a sender may begin with a later generation, which no flush has announced.
  @Test func `the first packets of a fresh room may be of any generation, and nothing is cut`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, generation: 3, on: media)
    receiver.advance(by: .seconds(1))
    #expect(receiver.flushes(control).isEmpty)
    let flushed = receiver.events.contains { if case .flushed = $0 { true } else { false } }
    #expect(!flushed)
    #expect(receiver.cuts.allSatisfy { $0.from == .zero })
    receiver.send(5, from: 50, generation: 3, on: media)
    receiver.send(5, from: 0, generation: 2, on: media)
    #expect(receiver.closed.isEmpty)
  }

  @Test func `a flush of the past is answered with where it really cut`() throws {
    var (receiver, control, media) = Self.attached()
    receiver.send(100, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.advance(by: .milliseconds(500))
    receiver.report(.playing)
    receiver.say(.flush(Flush(from: .zero, generation: 1, isRamped: true)), on: control)
    #expect(receiver.flushes(control).isEmpty)
    var report = RenderReport()
    report.activity = .playing
    report.cutGeneration = 1
    report.cutFrom = TestReceiver.time(26)
    receiver.handle(.rendered(report))
    #expect(receiver.flushes(control) == [Flushed(generation: 1, from: TestReceiver.time(26))])
  }

  @Test func `a flush is answered even if the sound device is gone`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(100, on: media)
    receiver.advance(by: .seconds(1))
    receiver.report(.playing)
    receiver.say(
      .flush(Flush(from: TestReceiver.time(30), generation: 1, isRamped: true)), on: control)
    receiver.advance(by: .milliseconds(600))
    #expect(receiver.flushes(control) == [Flushed(generation: 1, from: TestReceiver.time(30))])
  }

  // MARK: - Another stream

  @Test func `a sender with another clock begins anew, and the ring forgets the old`() throws {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.say(.flush(Flush(from: .zero, generation: 7, isRamped: true)), on: control)
    receiver.handle(.closed(control))
    receiver.take()
    let next = receiver.hello(sender: 2, session: 6, clock: 78)
    guard case .welcome(let welcome)? = receiver.told(next).first else { return }
    #expect(welcome.held == nil)
    let cut = try #require(receiver.cuts.last)
    #expect(cut.generation > 7)
    #expect(cut.from == .zero)
    receiver.take()
    receiver.say(.flush(Flush(from: .zero, generation: 1, isRamped: true)), on: next)
    #expect(receiver.cuts.map(\.generation) == [cut.generation + 1])
    #expect(receiver.flushes(next).map(\.generation) == [1])
  }

  @Test(arguments: [UInt64(77), 78])
  func `the render thread forgets times of another clock before it hears of new ones`(
    clock: UInt64
  ) {
    var (receiver, control, media) = Self.attached()
    receiver.send(200, on: media)
    let anchor = Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)
    receiver.say(.anchor(anchor), on: control)
    receiver.advance(by: .seconds(1))
    receiver.handle(.closed(control))
    receiver.take()
    receiver.answersTime = false
    let next = receiver.hello(session: 6, clock: clock)
    receiver.say(.anchor(anchor), on: next)
    let kinds = receiver.commands.compactMap { command in
      switch command {
      case .forgetSchedule: "forget"
      case .anchor: "anchor"
      default: nil
      }
    }
    #expect(kinds == (clock == 77 ? ["anchor"] : ["forget", "anchor"]))
  }

  @Test func `generations from the end of their range do not run out`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(10, on: media)
    for clock in UInt64(100)..<110 {
      receiver.say(
        .flush(Flush(from: .zero, generation: 1 << 31 - 1, isRamped: true)), on: control)
      receiver.handle(.closed(control))
      let next = receiver.hello(session: clock, clock: clock)
      let again = receiver.attach(session: clock)
      receiver.send(10, on: again)
      receiver.handle(.closed(next))
    }
    #expect(receiver.outputs.contains { if case .closeDevice = $0 { true } else { false } })
  }

  // MARK: - Time

  @Test func `the clock locks, and the device is told of it once playing is near`() {
    var (receiver, _, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(1))
    #expect(receiver.events.contains { if case .clockLocked = $0 { true } else { false } })
    #expect(receiver.commands.contains { if case .clock = $0 { true } else { false } })
  }

  @Test func `foreign clocks, odd stamps and garbage move nothing`() {
    var receiver = TestReceiver()
    receiver.answersTime = false
    _ = receiver.hello()
    let media = receiver.attach()
    receiver.send(50, on: media)
    var random = SplitMix64(seed: 4)
    for step in 0..<500 {
      let far = GroupTime(nanoseconds: Int64(truncatingIfNeeded: random.next()) >> 3)
      let answer = TimeAnswer(
        clockID: step % 2 == 0 ? 77 : 78, sequence: UInt32(step % 70),
        requestSentAt: LocalTime(nanoseconds: Int64(truncatingIfNeeded: random.next()) >> 3),
        receivedAt: far, sentAt: far, previous: nil)
      receiver.handle(
        .datagram(
          TimePacket.answer(answer).encoded(key: ClockKey(SecuredPeer.test(1).clockKey)),
          receivedAt: receiver.now))
      receiver.handle(
        .datagram((0..<64).map { _ in UInt8(random.next() % 256) }, receivedAt: receiver.now))
    }
    #expect(!receiver.events.contains { if case .clockLocked = $0 { true } else { false } })
    #expect(receiver.closed.isEmpty)
  }

  private static func statuses(
    _ receiver: TestReceiver, _ control: ConnectionID
  ) -> [RoomStatus] {
    receiver.told(control).compactMap { if case .status(let status) = $0 { status } else { nil } }
  }

  @Test func `a clock that is not locked has no error bound`() {
    var receiver = TestReceiver()
    receiver.answersTime = false
    let control = receiver.hello()
    receiver.advance(by: .seconds(2))
    #expect(Self.statuses(receiver, control).allSatisfy { $0.clockErrorBound.count == 1 << 60 })
  }

  private static func playhead(delayedBy milliseconds: Int64) throws -> MediaTime {
    var (receiver, control, media) = Self.attached(
      capacity: Capacity(bytes: 4 << 20, duration: .seconds(600)))
    receiver.say(
      .settings(
        RoomSettings(
          volume: 1000, isMuted: false, delay: .milliseconds(milliseconds), channelMap: .stereo)),
      on: control)
    receiver.send(500, on: media)
    receiver.advance(by: .seconds(1))
    let anchor = Anchor(
      mediaTime: .zero, groupTime: receiver.groupTime(in: .seconds(-4)), rate: .playing)
    receiver.say(.anchor(anchor), on: control)
    receiver.report(.playing)
    receiver.take()
    receiver.advance(by: .seconds(1))
    return try #require(Self.statuses(receiver, control).last).playhead
  }

  @Test func `what a room says that it plays is moved by its delay`() throws {
    let group = try Self.playhead(delayedBy: 0)
    let early = try Self.playhead(delayedBy: -1500) - group
    let late = group - (try Self.playhead(delayedBy: 1500))
    #expect(abs(early.seconds - 1.5) < 0.001 && abs(late.seconds - 1.5) < 0.001)
  }

  @Test func `a pause is said when it is heard, not when it is rendered`() throws {
    var (receiver, control, media) = Self.attached()
    receiver.send(200, on: media)
    receiver.advance(by: .seconds(1))
    let begin = Anchor(
      mediaTime: .zero, groupTime: receiver.groupTime(in: .milliseconds(-500)), rate: .playing)
    let pause = Anchor(
      mediaTime: .zero + .seconds(1), groupTime: receiver.groupTime(in: .milliseconds(500)),
      rate: .paused)
    receiver.say(.anchor(begin), .anchor(pause), on: control)
    receiver.report(.playing)
    receiver.take()
    receiver.report(.paused, in: .milliseconds(500))
    receiver.advance(by: .milliseconds(400))
    #expect(Self.statuses(receiver, control).allSatisfy { $0.state == .playing })
    receiver.advance(by: .milliseconds(300))
    #expect(Self.statuses(receiver, control).last?.state == .paused)
  }

  @Test func `a packet that comes too late is late, and not lost besides`() throws {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(
        Anchor(
          mediaTime: .zero, groupTime: receiver.groupTime(in: .seconds(-3)), rate: .playing)),
      on: control)
    receiver.report(.playing)
    receiver.advance(by: .milliseconds(200))
    let before = try #require(Self.statuses(receiver, control).last).lostPackets
    receiver.send(20, from: 60, at: TestReceiver.time(60), on: media)
    receiver.advance(by: .seconds(1))
    let status = try #require(Self.statuses(receiver, control).last)
    #expect(status.latePackets == 20)
    #expect(status.lostPackets == before)
  }

  @Test(arguments: [-600, 40])
  func `a start that comes after its time is told`(milliseconds: Int64) {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(1))
    receiver.report(.waiting)
    receiver.take()
    let start = receiver.groupTime(in: .milliseconds(milliseconds))
    receiver.say(.anchor(Anchor(mediaTime: .zero, groupTime: start, rate: .playing)), on: control)
    receiver.advance(by: .milliseconds(1))
    let late = receiver.take().compactMap {
      if case .event(.packetLate(let by, _)) = $0 { by } else { nil }
    }
    #expect(late.count == (milliseconds < 0 ? 1 : 0))
    for time in late { #expect(abs((time - .milliseconds(600)).count) < 5_000_000) }
  }

  @Test func `a room says ready, playing and paused as its device does`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(1))
    receiver.take()
    for activity in [RenderReport.Activity.waiting, .playing, .paused] {
      receiver.report(activity)
    }
    receiver.report(.starved, starvations: 1)
    receiver.handle(.deviceLost(reason: "unplugged"))
    let statuses = receiver.told(control).compactMap {
      if case .status(let status) = $0 { status } else { nil }
    }
    #expect(statuses.map(\.state) == [.ready, .playing, .paused, .starved, .noDevice])
    #expect(statuses.map(\.detail) == ["", "", "", "", "unplugged"])
  }

  @Test func `what is written ahead of its packets is no lack until it is heard`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(3))
    receiver.report(.playing)
    receiver.take()
    receiver.report(.starved)
    receiver.report(.playing)
    receiver.report(.starved)
    #expect(!receiver.events.contains(.starved))
    receiver.report(.starved, starvations: 1)
    #expect(receiver.events.contains(.starved))
    let states = receiver.told(control).compactMap {
      if case .status(let status) = $0 { status.state } else { nil }
    }
    #expect(states == [.starved])
  }

  @Test func `a gap after a flush is worth a warning only if it lasts`() {
    var (receiver, control, media) = Self.attached()
    receiver.send(50, on: media)
    receiver.report(.playing)
    receiver.say(
      .flush(Flush(from: .zero + .milliseconds(100), generation: 1, isRamped: true)), on: control)
    receiver.take()
    receiver.report(.starved, starvations: 1)
    receiver.advance(by: .milliseconds(900))
    #expect(!receiver.events.contains(.starved))
    receiver.advance(by: .milliseconds(300))
    #expect(receiver.events.filter { $0 == .starved }.count == 1)
  }
}
