import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of start, pause and stop, as the rooms are told.
@Suite struct GroupSessionPlaybackTests {
  private static let twoItems = ["8000x1:16000", "8000x1:16000"]

  // MARK: - Start

  @Test func `playing starts when all rooms are ready`() throws {
    var group = TestGroup(rooms: 2)
    group.joinReady(TestGroup.room)
    #expect(group.anchors.isEmpty)
    group.joinReady(TestGroup.other)
    let anchor = try #require(group.anchors.first)
    #expect(anchor.mediaTime == .zero)
    #expect(anchor.rate == .playing)
    #expect(anchor.groupTime >= GroupTime(ofSender: group.now) + .milliseconds(40))
    #expect(group.events.contains(.started))
  }

  @Test func `the first ready room waits two seconds for the others`() {
    var group = TestGroup(rooms: 2)
    group.joinReady(TestGroup.room)
    group.advance(by: .milliseconds(1999))
    #expect(group.anchors.isEmpty)
    group.advance(by: .milliseconds(2))
    #expect(group.anchors.count == 1)
  }

  @Test func `a ready room that goes away restarts the grace period of the start`() {
    var group = TestGroup(rooms: 2)
    group.joinReady(TestGroup.room)
    group.advance(by: .seconds(1))
    group.say(.status(.test(.priming)))
    group.advance(by: .seconds(5))
    #expect(group.anchors.isEmpty)
    group.say(.status(.test(.ready)))
    group.advance(by: .seconds(1))
    #expect(group.anchors.isEmpty)
    group.advance(by: .milliseconds(1001))
    #expect(group.anchors.count == 1)
  }

  @Test func `the slowest room and the longest way decide when things happen`() throws {
    var group = TestGroup(rooms: 2)
    group.join(TestGroup.other)
    group.say(
      .status(.test(.ready, roundTrip: .milliseconds(10), horizon: .milliseconds(200))),
      in: TestGroup.other)
    group.joinReady(TestGroup.room)
    let ahead = try #require(group.anchors.first).groupTime - GroupTime(ofSender: group.now)
    #expect(ahead == Nanoseconds.milliseconds(200 + 5 + 80))
  }

  @Test func `a room that sounds before the group is told as much earlier`() throws {
    var group = TestGroup()
    var welcome = Welcome.test()
    welcome.settings.delay = .milliseconds(-1500)
    group.joinReady(with: welcome)
    let ahead = try #require(group.anchors.first).groupTime - GroupTime(ofSender: group.now)
    #expect(ahead == Nanoseconds.milliseconds(40 + 5 + 1500))
    group.advance(by: .seconds(3))
    group.take()
    group.command(.delay(.all, .milliseconds(700)))
    group.command(.pause)
    let pause = try #require(group.anchors.first).groupTime - GroupTime(ofSender: group.now)
    #expect(pause == .milliseconds(40 + 5))
  }

  @Test func `a room that comes back is told what holds and what is to come, not what is over`() {
    var group = TestGroup.playing()
    for _ in 0..<2 {
      group.command(.pause)
      group.advance(by: .seconds(1))
      group.command(.resume)
      group.advance(by: .seconds(1))
    }
    group.handle(.closed(TestGroup.room, .control, reason: "test"))
    group.take()
    group.advance(by: .seconds(1))
    group.greet()
    #expect(group.anchors.map(\.rate) == [.playing])
    #expect(group.anchors.first == group.session.timeline.anchors.last)
  }

  @Test(arguments: [RoomStatus.State.priming, .starved])
  func `a room that lets itself be sent nothing is said to`(state: RoomStatus.State) {
    var group = TestGroup(rooms: 2)
    group.joinReady(TestGroup.other)
    group.greet()
    group.handle(.connected(TestGroup.room, .media))
    group.say(.credit(.test(limit: 100)))
    for _ in 0..<15 {
      group.advance(by: .seconds(1))
      group.say(.status(.test(.playing)), in: TestGroup.other)
      group.say(.status(.test(state)))
    }
    let details = group.events.changes(of: TestGroup.room).compactMap {
      if case .state(state, let detail) = $0 { detail } else { nil }
    }
    #expect(details.count == 2 && details.first == "" && details.last?.contains("10 s") == true)
  }

  @Test func `a room that joins while music plays is told when what sounds`() throws {
    var group = TestGroup.playing()
    group.handle(.roomAdded(TestGroup.other, name: "late", receiverID: nil))
    group.join(TestGroup.other)
    let told = group.told(TestGroup.other)
    #expect(told.contains { if case .anchor = $0 { true } else { false } })
    #expect(group.packets(TestGroup.other).first?.sequence ?? 0 > 10)
  }

  /// Time packets wait behind all that it is sent. One that is never ready is filled all the same.
  @Test(arguments: [true, false])
  func `a new room gets two seconds of music until it knows its clock`(isReady: Bool) throws {
    var group = TestGroup.playing(["8000x1:480000"])
    group.handle(.roomAdded(TestGroup.other, name: "late", receiverID: nil))
    group.greet(TestGroup.other)
    group.say(.status(.test(.priming)), in: TestGroup.other)
    let peer = try #require(group.session.rooms[TestGroup.other]?.line?.peer)
    group.handle(.connected(TestGroup.other, .media, peer))
    group.say(.credit(.test(limit: 1 << 20)), in: TestGroup.other)
    func lead() throws -> MediaDuration {
      try #require(group.session.lead(of: TestGroup.other, at: group.now))
    }
    #expect(try lead() > .seconds(1) && lead() < .seconds(3))
    group.advance(by: .seconds(4))
    group.say(.status(.test(isReady ? .ready : .priming)), in: TestGroup.other)
    #expect(try isReady == (lead() > .seconds(6)))
    group.advance(by: .seconds(6))
    group.say(.status(.test(.priming)), in: TestGroup.other)
    #expect(try lead() > .seconds(6))
  }

  @Test func `a lead is what was sent beyond what sounds, and a seek takes it away`()
    throws
  {
    var group = TestGroup()
    #expect(group.session.lead(of: TestGroup.room, at: group.now) == nil)
    group.joinReady()
    group.advance(by: .seconds(2))
    let lead = try #require(group.session.lead(of: TestGroup.room, at: group.now))
    #expect(lead > .seconds(7) && lead < .seconds(9))
    group.jump(by: .seconds(1))
    #expect(group.session.lead(of: TestGroup.room, at: group.now) == lead - .seconds(1))
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(3)))
    let after = try #require(group.session.lead(of: TestGroup.room, at: group.now))
    #expect(after < .seconds(1))
  }

  // MARK: - Pause and resume

  @Test func `a pause and a resume go on with the same media time`() throws {
    var group = TestGroup.playing()
    group.command(.pause)
    group.advance(by: .seconds(2))
    group.command(.resume)
    let anchors = group.anchors
    #expect(anchors.map(\.rate) == [.paused, .playing])
    #expect(anchors.first?.mediaTime == anchors.last?.mediaTime)
    #expect(group.events == [.paused, .resumed])
    #expect(group.flushes.isEmpty)
  }

  @Test func `what waits for its first resume was not paused, and does not say that it goes on`() {
    var group = TestGroup(startsHeld: true)
    group.joinReady()
    group.command(.resume)
    #expect(group.events.contains(.started))
    #expect(!group.events.contains(.resumed))
  }

  @Test func `a pause before the start is told, and so is its end`() {
    var group = TestGroup()
    group.command(.pause)
    group.joinReady()
    group.command(.resume)
    let told = group.events.filter { [.paused, .resumed, .started].contains($0) }
    #expect(told == [.paused, .resumed, .started])
  }

  @Test func `pausing twice is pausing once, and so is resuming`() {
    var group = TestGroup.playing()
    group.command(.resume)
    #expect(group.anchors.isEmpty)
    group.command(.pause)
    group.command(.pause)
    #expect(group.anchors.count == 1)
  }

  // MARK: - The end

  @Test func `stop ends everything at one sample`() throws {
    var group = TestGroup.playing()
    group.command(.stop)
    let pause = try #require(group.anchors.first)
    #expect(pause.rate == .paused)
    #expect(!group.session.isFinished)
    group.advance(by: .milliseconds(200))
    #expect(group.told().last == .goodbye(Goodbye(reason: .finished, detail: "")))
    #expect(group.session.isFinished)
    #expect(group.session.nextDeadline == nil)
    group.command(.resume)
    #expect(group.events.last == .finished)
  }

  @Test func `halted, the group keeps its list and its rooms, and plays what is chosen`() throws {
    var group = TestGroup(Self.twoItems, endsWithPlaylist: false)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.command(.halt)
    group.advance(by: .seconds(4))
    #expect(group.session.status(at: group.now).state == .stopped)
    #expect(group.session.status(at: group.now).itemCount == 2)
    group.take()
    // Edits do not start the music.
    group.command(.edit(.insert(["8000x1:16000"], .end)))
    group.command(.edit(.remove([0])))
    group.command(.resume)
    group.advance(by: .seconds(4))
    #expect(group.session.status(at: group.now).state == .stopped)
    #expect(group.anchors.isEmpty)
    group.command(.jump(to: 1, at: .milliseconds(500)))
    group.say(.status(.test(.ready)))
    group.advance(by: .milliseconds(300))
    let status = group.session.status(at: group.now)
    #expect(status.state == .playing)
    #expect(status.item?.item.id == 1)
    #expect(status.position >= .milliseconds(500))
  }

  @Test func `what is added at once after a halt of the last one does not play`() {
    var group = TestGroup(["8000x1:80000"], endsWithPlaylist: false)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.producesAtOnce = false
    group.command(.halt)
    group.command(.edit(.insert(["8000x1:16000"], .end)))
    group.take()
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .seconds(4))
    #expect(group.session.status(at: group.now).state == .stopped)
    #expect(group.packets().isEmpty)
  }

  @Test func `halted before the start, nothing is opened`() {
    var group = TestGroup(Self.twoItems, rooms: 0, endsWithPlaylist: false)
    group.command(.halt)
    group.handle(.roomAdded(TestGroup.room, name: "a", receiverID: nil))
    group.joinReady()
    group.advance(by: .seconds(5))
    #expect(group.anchors.isEmpty)
    #expect(group.packets().isEmpty)
    #expect(group.session.status(at: group.now).state == .stopped)
  }

  @Test func `halted while paused, what is chosen waits for a resume`() {
    var group = TestGroup.playing(Self.twoItems)
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.command(.halt)
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).state == .stopped)
    group.command(.jump(to: 1))
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).state == .paused)
    group.command(.resume)
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).item?.item.id == 1)
    #expect(group.session.status(at: group.now).state == .playing)
  }

  @Test func `after the last frame has sounded the rooms are let go`() {
    var group = TestGroup(["8000x1:8000"])
    group.joinReady()
    group.advance(by: .milliseconds(900))
    #expect(!group.session.isFinished)
    group.advance(by: .milliseconds(300))
    #expect(group.session.isFinished)
    #expect(group.packets().last?.endsStream == true)
    #expect(group.packets().filter(\.endsStream).count == 1)
  }

  @Test func `items begin when their first frame sounds`() {
    var group = TestGroup(Self.twoItems)
    group.joinReady()
    group.take()
    group.advance(by: .milliseconds(1900))
    #expect(group.session.status(at: group.now).itemNumber == 1)
    group.advance(by: .milliseconds(300))
    #expect(group.session.status(at: group.now).itemNumber == 2)
    let begun = group.events.compactMap {
      if case .itemStarted(let item) = $0 { item.item.id } else { nil }
    }
    #expect(begun == [0, 1])
    #expect(group.events.contains(.itemEnded(PlayItem(id: 0, location: Self.twoItems[0]))))
  }

  @Test func `next after the last item is the end, even of one that repeats`() {
    var group = TestGroup(["8000x1:80000"], endsWithPlaylist: false)
    group.command(.edit(.setRepetition(.one)))
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.take()
    group.command(.next)
    group.advance(by: .milliseconds(500))
    #expect(group.events.last == .stopped)
    #expect(group.packets().isEmpty)
  }

  @Test func `what is to end already is not cut again by an edit`() {
    var group = TestGroup(["8000x1:80000", "8000x1:80000"], endsWithPlaylist: false)
    group.joinReady()
    group.command(.jump(to: 1))
    group.advance(by: .milliseconds(500))
    group.take()
    group.command(.edit(.remove([1])))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.count == 1)
    group.command(.edit(.insert(["8000x1:80000"], .index(0))))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.count == 1)
  }

  @Test func `rooms need never keep more than four anchors that wait`() {
    var group = TestGroup(["8000x1:800000"])
    group.join()
    group.say(.status(.test(.ready, roundTrip: .milliseconds(10))))
    group.advance(by: .milliseconds(500))
    // This makes the rooms stop for a moment at each cut, which takes two anchors.
    group.producesAtOnce = false
    for place in Int64(0)..<60 {
      group.command(.seek(to: .milliseconds(place * 100)))
      for _ in 0..<5 {
        group.advance(by: .milliseconds(2))
        group.produce()
        let now = GroupTime(ofSender: group.now)
        #expect(group.session.timeline.anchors.count { $0.groupTime > now } <= 4)
        // The current anchor is not dropped for those that wait.
        #expect(group.session.timeline.anchors.first.map { $0.groupTime <= now } ?? false)
      }
    }
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(group.session.position(at: group.now) > .milliseconds(5_900))
  }

  /// A cut may lie anywhere; an item begins with the next whole frame.
  @Test func `what was cut off is over, even a part of a frame before the next item begins`() {
    var group = TestGroup(["8000x1:80000"], endsWithPlaylist: false)
    group.joinReady()
    group.advance(by: Nanoseconds(501_333_333))
    group.command(.next)
    group.advance(by: .milliseconds(300))
    group.command(.edit(.insert(["8000x1:16000", "8000x1:16000"], .end)))
    group.advance(by: .milliseconds(10))
    #expect(group.session.status(at: group.now).item?.item.id == 1)
    group.take()
    group.command(.edit(.remove([0])))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.isEmpty)
  }

  /// Uses item lengths whose ends lie between nanoseconds.
  @Test func `the session wakes up once for each boundary`() {
    for frames in [11_026, 11_028, 11_031, 11_033] {
      var group = TestGroup(["11025x1:\(frames)", "11025x1:\(frames)"])
      group.joinReady()
      group.advance(by: .seconds(3))
      #expect(group.session.isFinished)
    }
  }
}
