import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of who has a room from the sender's point of view, and of which messages of rooms it
/// believes.
@Suite struct RoomOccupancyTests {
  private static func connects(_ group: TestGroup, _ room: RoomID = TestGroup.room) -> Int {
    group.outputs.count { $0 == .connect(room, .control) }
  }

  // MARK: - Replaced

  @Test func `a sender that is told that it is replaced does not come back by itself`() {
    var group = TestGroup.playing()
    group.say(.goodbye(Goodbye(reason: .replaced, detail: "loft")))
    #expect(
      group.events.changes(of: TestGroup.room).contains(.replaced(reason: "loft has taken it over"))
    )
    #expect(group.outputs.contains(.close(TestGroup.room, .media)))
    group.advance(by: .seconds(60))
    group.handle(.roomSeen(TestGroup.room))
    group.advance(by: .seconds(60))
    #expect(Self.connects(group) == 0)
    #expect(
      group.session.status(at: group.now).rooms.map(\.connection) == [
        .away(reason: "loft has taken it over")
      ])
  }

  @Test func `the late words of the process before take a room away for a moment only`() {
    let group = TestGroup.playing()
    func connects(after span: Nanoseconds, by holder: String, times: Int) -> Int {
      var group = group
      for _ in 0..<times {
        group.advance(by: span)
        group.say(.goodbye(Goodbye(reason: .replaced, detail: holder)))
        group.take()
        group.advance(by: .seconds(1))
        group.handle(.connected(TestGroup.room, .control))
        group.say(.welcome(.test()))
      }
      return Self.connects(group)
    }
    #expect(connects(after: .milliseconds(10), by: "study", times: 1) == 1)
    #expect(connects(after: .milliseconds(10), by: "loft", times: 1) == 0)
    // A program that lives has it.
    #expect(connects(after: .milliseconds(10), by: "study", times: 2) == 0)
    #expect(connects(after: .seconds(3), by: "study", times: 1) == 0)
  }

  @Test func `why a room does not play is known without reading its words`() {
    var group = TestGroup.playing()
    func trouble() -> RoomTrouble? { group.session.status(at: group.now).rooms[0].trouble }
    #expect(trouble() == nil)
    group.say(.goodbye(Goodbye(reason: .lent, detail: "loft")))
    #expect(trouble() == .lent(holder: "loft"))
    group.take()
    group.advance(by: .seconds(30))
    group.handle(.connected(TestGroup.room, .control))
    group.say(.refuse(Refusal(reason: .busy, detail: "loft")))
    #expect(trouble() == .lent(holder: "loft"))

    group = TestGroup.playing()
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    #expect(trouble() == .gone)

    group = TestGroup()
    group.handle(.connected(TestGroup.room, .control))
    group.say(.refuse(Refusal(reason: .busy, detail: "loft")))
    #expect(trouble() == .busy(holder: "loft"))
  }

  @Test func `a room that was taken away comes back when the user asks for it`() {
    var group = TestGroup.playing()
    group.say(.goodbye(Goodbye(reason: .replaced, detail: "")))
    group.take()
    group.handle(.roomTaken(TestGroup.room))
    #expect(Self.connects(group) == 1)
    group.handle(.connected(TestGroup.room, .control))
    guard case .hello(let hello)? = group.told().last else {
      Issue.record("no hello")
      return
    }
    #expect(hello.takesOver)
    group.say(.welcome(.test()))
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .seconds(1))
    group.take()
    group.handle(.connected(TestGroup.room, .control))
    guard case .hello(let next)? = group.told().last else { return }
    #expect(!next.takesOver)
  }

  @Test func `surfaces hear who has a room, and whether it comes back`() {
    func trouble(_ reason: Goodbye.Reason) -> RoomTrouble? {
      var group = TestGroup.playing()
      group.say(.goodbye(Goodbye(reason: reason, detail: "loft")))
      return group.session.status(at: group.now).rooms.first?.trouble
    }
    #expect(trouble(.lent) == .lent(holder: "loft"))
    #expect(trouble(.replaced) == .taken(holder: "loft"))
    #expect(trouble(.notPaired) == .notPaired)
    #expect(trouble(.shutdown) == .gone)
    var group = TestGroup.playing()
    #expect(group.session.status(at: group.now).rooms.first?.trouble == nil)
    group.say(.keepAlive)
    #expect(group.session.status(at: group.now).rooms.first?.trouble == .misbehaving)
  }

  @Test func `a room that was taken comes back when it is said to be free`() {
    var group = TestGroup.playing()
    group.say(.goodbye(Goodbye(reason: .replaced, detail: "loft")))
    group.take()
    group.handle(.roomFreed(TestGroup.room))
    #expect(Self.connects(group) == 1)
    group.handle(.connected(TestGroup.room, .control))
    guard case .hello(let hello)? = group.told().last else {
      Issue.record("no hello")
      return
    }
    #expect(!hello.takesOver)
  }

  // MARK: - Violations

  private static func farewell(_ group: TestGroup) -> Goodbye? {
    group.told().lazy.compactMap { if case .goodbye(let goodbye) = $0 { goodbye } else { nil } }
      .first
  }

  @Test func `a second welcome breaks the protocol`() {
    var group = TestGroup.playing()
    group.say(.welcome(.test()))
    #expect(Self.farewell(group) == Goodbye(reason: .protocolViolation, detail: "a second welcome"))
  }

  @Test func `a room that speaks on media hears why it is left`() {
    var group = TestGroup.playing()
    group.handle(.received(TestGroup.room, .media, [0, 0, 0, 2, 0, 5]))
    #expect(
      Self.farewell(group)
        == Goodbye(reason: .protocolViolation, detail: "it spoke on the media connection"))
  }

  @Test(arguments: [true, false])
  func `a room that breaks the protocol again and again is dialled less and less often`(
    byRoom: Bool
  ) {
    // Music that does not end meanwhile: then nothing would be dialled either.
    var group = TestGroup.playing(["8000x1:8000000"])
    for _ in 0..<8 {
      // Plays long enough to count as stable.
      for _ in 0..<6 {
        group.advance(by: .seconds(1))
        group.say(.status(.test(.playing)))
      }
      group.take()
      if byRoom {
        group.say(.goodbye(Goodbye(reason: .protocolViolation, detail: "no")))
      } else {
        group.say(.keepAlive)
      }
      group.advance(by: .seconds(4))
      if Self.connects(group) == 0 { return #expect(!group.session.isFinished) }
      group.joinReady()
    }
    Issue.record("dialled at once, each time")
  }

  // MARK: - Status

  @Test func `a status that does not come any more is shown as old`() {
    var group = TestGroup.playing(["8000x1:800000"])
    group.say(.status(.test(.playing)))
    group.take()
    for _ in 0..<20 {
      group.advance(by: .milliseconds(500))
      group.say(.credit(.test(limit: 1 << 20)))
    }
    let old = SenderEvent.RoomChange.state(
      .playing, detail: "its status has not come for a while")
    #expect(group.events.changes(of: TestGroup.room).count { $0 == old } == 1)
    #expect(Self.farewell(group) == nil)
    group.say(.status(.test(.playing)))
    #expect(group.events.changes(of: TestGroup.room).last == .state(.playing, detail: ""))
  }

  // MARK: - Twins

  @Test func `a receiver that is named twice is one room`() {
    var group = TestGroup(rooms: 2)
    var welcome = Welcome.test()
    welcome.receiverID = .counting(from: 77)
    group.joinReady(TestGroup.room, with: welcome)
    group.joinReady(TestGroup.other, with: welcome)
    #expect(group.events.changes(of: TestGroup.other).contains(.namedTwice(as: TestGroup.room)))
    #expect(group.session.status(at: group.now).rooms.map(\.id) == [TestGroup.other])
    group.handle(.closed(TestGroup.room, .control, reason: "the receiver closed it"))
    group.take()
    group.advance(by: .seconds(60))
    #expect(Self.connects(group, TestGroup.room) == 0)
  }

  @Test func `a twin that has lost its session already is found as well`() {
    var group = TestGroup(rooms: 2)
    var welcome = Welcome.test()
    welcome.receiverID = .counting(from: 77)
    group.joinReady(TestGroup.room, with: welcome)
    group.handle(.closed(TestGroup.room, .control, reason: "the receiver closed it"))
    group.joinReady(TestGroup.other, with: welcome)
    #expect(group.session.status(at: group.now).rooms.map(\.id) == [TestGroup.other])
  }

  // MARK: - What rooms say that they hold

  @Test func `nothing can be held in the first session of a clock`() {
    var group = TestGroup.playing(
      with: .test(held: HeldStream(generation: 0, nextSequence: 100_000, from: .zero)))
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .milliseconds(300))
    group.take()
    group.join(with: .test(held: HeldStream(generation: 0, nextSequence: 100_000, from: .zero)))
    let sent = group.packets().count
    #expect(sent == 0)

    var fresh = TestGroup()
    fresh.join(with: .test(held: HeldStream(generation: 0, nextSequence: 100_000, from: .zero)))
    #expect(fresh.packets().first?.sequence == 0)
  }

  @Test func `a generation that was never made is not held`() {
    var group = TestGroup.playing()
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .milliseconds(300))
    group.take()
    group.join(with: .test(held: HeldStream(generation: 7, nextSequence: 400, from: .zero)))
    #expect((group.packets().first?.sequence ?? 400) < 100)
  }

  @Test func `a room that has dropped what is to sound is sent it again`() throws {
    var group = TestGroup.playing()
    group.command(.pause)
    group.advance(by: .seconds(4))
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .milliseconds(300))
    group.take()
    let playhead = MediaTime.zero + group.session.status(at: group.now).position
    group.join(
      with: .test(
        held: HeldStream(generation: 0, nextSequence: 500, from: playhead + .seconds(3))))
    let first = try #require(group.packets().first)
    #expect(first.mediaTime <= playhead)
  }

  // MARK: - Anchors

  @Test func `a room that comes back hears of no anchor that is over`() {
    var group = TestGroup.playing()
    for _ in 0..<2 {
      group.command(.pause)
      group.advance(by: .seconds(1))
      group.command(.resume)
      group.advance(by: .seconds(1))
    }
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .milliseconds(300))
    group.take()
    group.join()
    #expect(group.anchors.count == 1)
    #expect(group.anchors.first?.rate == .playing)
  }

  // MARK: - Violations

  @Test func `a room that breaks the rules is told how`() {
    let wrongs: [[UInt8]] = [
      ControlMessage.keepAlive.encoded(), [0, 0, 0, 0],
      ControlMessage.refuse(Refusal(reason: .busy, detail: "")).encoded(),
    ]
    for wrong in wrongs {
      var group = TestGroup.playing()
      group.handle(.received(TestGroup.room, .control, wrong))
      guard case .goodbye(let goodbye)? = group.told().last else {
        Issue.record("\(wrong)")
        continue
      }
      #expect(goodbye.reason == .protocolViolation)
      #expect(!goodbye.detail.isEmpty)
      #expect(group.outputs.contains(.close(TestGroup.room, .control)))
    }
  }

  @Test func `reasons of a later version are reasons`() {
    var group = TestGroup()
    group.handle(.connected(TestGroup.room, .control))
    group.say(.refuse(Refusal(reason: .other, detail: "not paired")))
    #expect(group.events.changes(of: TestGroup.room).contains(.refused(reason: "not paired")))
    var playing = TestGroup.playing()
    playing.say(.goodbye(Goodbye(reason: .other, detail: "moving house")))
    #expect(playing.events.changes(of: TestGroup.room).contains(.gone(reason: "moving house")))
  }

  // MARK: - Codecs

  @Test func `a room that lists other codecs by turns disturbs the others once a minute`() {
    var group = TestGroup(["8000x1:8000000"], rooms: 1)
    group.joinReady(with: .test(codecs: [.pcm, .flac]))
    group.advance(by: .seconds(1))
    var recoded: [LocalTime] = []
    var before = group.session.codecs
    for turn in 0..<120 {
      group.say(.codecs(turn % 2 == 0 ? [.pcm] : [.pcm, .flac]))
      if group.session.codecs != before, turn % 2 == 0 { recoded.append(group.now) }
      before = group.session.codecs
      group.advance(by: .seconds(1))
      group.say(.status(.test(.playing)))
    }
    #expect(recoded.count == 2)
    #expect(recoded.last.map { $0 - group.now } ?? .zero > .seconds(-62))
  }

  // MARK: - Many rooms

  @Test func `few rooms are connected at a time, and each has its turn`() {
    var group = TestGroup(rooms: 100)
    let connects = { (group: TestGroup) in
      group.outputs.compactMap { output -> RoomID? in
        if case .connect(let room, .control) = output { room } else { nil }
      }
    }
    #expect(connects(group).count == RoomLink.mostAtOnce)
    group.advance(by: .seconds(5))
    #expect(connects(group).count == RoomLink.mostAtOnce)
    group.advance(by: .seconds(70))
    #expect(Set(connects(group)).count == 100)
  }

  @Test func `attempts come quickly again after a session of a few seconds`() {
    var group = TestGroup()
    for _ in 0..<6 {
      group.handle(.closed(TestGroup.room, .control, reason: "cut"))
      group.advance(by: .seconds(6))
    }
    group.join()
    group.advance(by: .seconds(4))
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.take()
    group.advance(by: RoomDialling.firstRetry)
    #expect(Self.connects(group) == 1)
  }

  // MARK: - Sleep

  @Test func `while the machine sleeps, the group's time goes on`() {
    var group = TestGroup.playing()
    let before = group.session.status(at: group.now).position
    group.handle(.resumedFromSuspend(after: .seconds(3)))
    let after = group.session.status(at: group.now).position
    #expect(after - before == .seconds(3))
    #expect(group.session.nextDeadline.map { $0 >= group.now } ?? false)
    let status = group.session.status(at: group.now)
    #expect(status.presentationTime == group.now)
    #expect(
      group.session.presentationTime(of: status.position, at: group.now).map {
        abs(($0 - group.now).count) < 10
      } == true)
  }

  @Test func `a room that was not heard of for the length of a sleep is connected anew`() {
    var group = TestGroup.playing(["8000x1:800000"])
    group.handle(.resumedFromSuspend(after: .seconds(25)))
    #expect(
      group.events.changes(of: TestGroup.room).contains(.gone(reason: "nothing heard for 10 s")))
    group.advance(by: .seconds(1))
    #expect(Self.connects(group) == 1)
  }
}
