import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of the session's functions for the library: waiting for an order to start, starting at a given time, and
/// taking an item from its source again.
@Suite struct GroupSessionRenewalTests {
  private static func held(
    _ item: String = "8000x1:80000", holdsAtCuts: Bool = false
  ) -> TestGroup {
    var group = TestGroup(
      [item], endsWithPlaylist: false, startsHeld: true, holdsAtCuts: holdsAtCuts,
      appliesRates: true)
    group.joinReady()
    group.advance(by: .seconds(1))
    return group
  }

  @Test func `a held group fills its rooms and starts when it is told to`() {
    var group = Self.held()
    #expect(group.anchors.isEmpty)
    #expect(!group.packets().isEmpty)
    #expect(group.session.isPrimed)
    #expect(!group.session.hasBegun)
    #expect(group.session.status(at: group.now).state == .paused)
    let time = group.now + .seconds(3)
    group.command(.resumeAt(time))
    #expect(
      group.anchors == [
        Anchor(mediaTime: .zero, groupTime: GroupTime(ofSender: time), rate: .playing)
      ])
    #expect(group.session.isRunning)
  }

  @Test func `a start that is too near comes as soon as all can`() {
    var group = Self.held()
    group.command(.resumeAt(LocalTime(nanoseconds: 0)))
    #expect(group.anchors.first?.groupTime == group.session.commitTime(at: group.now))
  }

  @Test func `a cue leaves out what lies before it, and cuts nothing`() {
    var group = Self.held()
    group.command(.cue(to: .milliseconds(250)))
    group.command(.resume)
    #expect(group.anchors.first?.mediaTime == .zero + .milliseconds(250))
    #expect(group.flushes.isEmpty)
    group.advance(by: .milliseconds(100))
    group.command(.cue(to: .seconds(5)))
    #expect(group.session.position(at: group.now) < .seconds(1))
  }

  @Test func `a cue while paused goes ahead in what is enqueued, and cuts nothing`() throws {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.take()
    #expect(group.session.mayCue(to: .seconds(5)))
    group.command(.cue(to: .seconds(5)))
    let waiting = try #require(group.anchors.last)
    #expect(waiting.mediaTime == .zero + .seconds(5))
    #expect(waiting.rate == .paused)
    #expect(group.session.upcomingPosition(at: group.now) == .seconds(5))
    group.command(.resume)
    let playing = try #require(group.anchors.last)
    #expect(playing.mediaTime == .zero + .seconds(5))
    #expect(playing.groupTime >= waiting.groupTime)
    #expect(playing.rate == .playing)
    group.advance(by: .seconds(1))
    #expect(group.session.position(at: group.now) > .seconds(5))
    #expect(group.flushes.isEmpty)
    // Audio that the room has is not sent again.
    #expect(group.packets().isEmpty)
  }

  @Test func `a cue finds its place in an item that changes later`() {
    var group = TestGroup(
      ["x"], endsWithPlaylist: false, startsHeld: true, holdsAtCuts: false,
      openSource: { _ throws(MediaError) in
        let source = TestSource(rate: 8_000, channels: 1, length: 8_000)
        let next = TestSource(rate: 8_000, channels: 1, length: 80_000)
        next.passed = (.mp3, nil)
        source.next = next
        return source
      })
    group.joinReady(with: .test(codecs: [.pcm, .mp3]))
    group.advance(by: .seconds(1))
    #expect(group.session.timeline.segments.count == 2)
    group.command(.cue(to: .milliseconds(250)))
    group.command(.resume)
    #expect(group.anchors.first?.mediaTime == .zero + .milliseconds(250))
  }

  @Test func `a cue finds its place in what comes, not in what was left`() throws {
    var group = Self.held("8000x1:8000000")
    group.command(.resume)
    group.advance(by: .seconds(2))
    group.command(.pause)
    group.advance(by: .seconds(1))
    let stands = try #require(group.anchors.last)
    #expect(group.command(.restart(at: .seconds(60))) == .success(.renewed(from: .seconds(60))))
    #expect(group.session.upcomingPosition(at: group.now) == .seconds(60))
    // Audio produced first contains this place too, 58 seconds later.
    group.command(.cue(to: .seconds(60) - .milliseconds(1)))
    #expect(group.session.upcomingPosition(at: group.now) == .seconds(60))
    group.command(.resume)
    #expect(group.anchors.last?.mediaTime == stands.mediaTime)
  }

  @Test
  func `media time runs on behind the end where others keep it, and what comes then is played`() {
    var group = Self.held("8000x1:8000")
    group.command(.resume)
    group.advance(by: .seconds(3))
    #expect(group.events.filter { $0 == .stopped }.count == 1)
    #expect(group.session.isRunning)
    let next = group.session.cutPosition(at: group.now)
    #expect(next > .seconds(2))
    #expect(group.command(.renew(from: .zero)) == .success(.renewed(from: next)))
    #expect(group.session.running(at: group.now)?.rate == 1)
  }

  @Test func `what sounds is of the generation of the last cut that has come`() {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .seconds(1))
    group.command(.renew(from: .seconds(5)))
    #expect(group.session.generation == 1)
    #expect(group.session.soundingGeneration(at: group.now) == 0)
    group.advance(by: .seconds(5))
    #expect(group.session.soundingGeneration(at: group.now) == 1)
  }

  @Test func `a cue goes neither back nor anywhere while it plays`() {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .seconds(2))
    #expect(!group.session.mayCue(to: .seconds(5)))
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.take()
    #expect(!group.session.mayCue(to: .seconds(1)))
    group.command(.cue(to: .seconds(1)))
    #expect(group.anchors.isEmpty)
  }

  @Test func `the stream's volume is told to all rooms, and to those that come later`() {
    let half = StreamVolume(volume: 500, isMuted: false)
    var group = TestGroup(["8000x1:80000"], rooms: 2)
    group.joinReady()
    #expect(!group.told().contains { if case .streamVolume = $0 { true } else { false } })
    group.command(.streamVolume(half))
    group.command(.streamVolume(half))
    #expect(group.told().filter { $0 == .streamVolume(half) }.count == 1)
    group.take()
    group.joinReady(TestGroup.other)
    #expect(group.told(TestGroup.other).contains(.streamVolume(half)))
    let settings = group.session.status(at: group.now).rooms.map(\.settings?.volume)
    #expect(settings == [500, 500])
    // A room that was away meanwhile.
    group.handle(.closed(TestGroup.other, .control, reason: "away"))
    group.command(.streamVolume(.full))
    group.take()
    group.advance(by: .seconds(3))
    group.take()
    group.join(
      TestGroup.other,
      with: .test(held: HeldStream(generation: 0, nextSequence: 0, from: .zero)))
    #expect(group.told(TestGroup.other).contains(.streamVolume(.full)))
  }

  @Test func `pausing before the start holds the group, and resuming lets it go`() {
    var group = TestGroup(["8000x1:80000"])
    group.command(.pause)
    group.joinReady()
    group.advance(by: .seconds(5))
    #expect(group.anchors.isEmpty)
    #expect(group.events.contains(.paused))
    group.command(.resume)
    #expect(group.anchors.count == 1)
  }

  @Test func `a pause at a time comes then, or as soon as all can`() {
    var group = TestGroup.playing()
    let time = group.now + .seconds(2)
    group.command(.pauseAt(time))
    #expect(group.anchors.last?.groupTime == GroupTime(ofSender: time))
    #expect(group.anchors.last?.rate == .paused)
    group = TestGroup.playing()
    group.command(.pauseAt(group.now + .seconds(-1)))
    #expect(group.anchors.last.map { $0.groupTime > GroupTime(ofSender: group.now) } ?? false)
  }

  @Test func `a renewal far ahead cuts there, and says so`() {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    group.take()
    #expect(group.command(.renew(from: .seconds(7))) == .success(.renewed(from: .seconds(7))))
    #expect(group.flushes.map(\.from) == [MediaTime.zero + .seconds(7)])
    #expect(group.flushes.map(\.isRamped) == [false])
    #expect(group.packets().first?.mediaTime == .zero + .seconds(7))
    #expect(group.anchors.isEmpty)
    group.advance(by: .seconds(8))
    #expect(!group.events.contains { if case .itemEnded = $0 { true } else { false } })
  }

  @Test func `a renewal of what sounds begins where all rooms can follow`() {
    for position in [MediaDuration.zero, .milliseconds(500)] {
      var group = Self.held()
      group.command(.resume)
      group.advance(by: .milliseconds(500))
      group.take()
      let now = group.session.position(at: group.now)
      let horizon = MediaDuration(group.session.commitHorizon)
      #expect(
        group.command(.renew(from: position)) == .success(.renewed(from: now + horizon)))
      #expect(group.flushes.map(\.from) == [MediaTime.zero + now + horizon])
      #expect(group.session.isRunning)
    }
  }

  private static func effects(rate: Double) -> Effects {
    var effects = Effects()
    effects.rate = rate
    return effects
  }

  @Test func `another rate begins at its time, at the place that is named`() throws {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    group.take()
    let anchor = try #require(group.session.timeline.anchors.last)
    let time = LocalTime(onSender: anchor.groupTime) + .seconds(2)
    let fast = Self.effects(rate: 2)
    #expect(
      group.command(.effectsAt(fast, from: .seconds(2), at: time))
        == .success(.renewed(from: .seconds(2))))
    #expect(group.flushes.map(\.from) == [MediaTime.zero + .seconds(2)])
    #expect(group.session.effects == fast)
    let beginning = try #require(group.beginnings.last)
    #expect(beginning.position == .seconds(2) && beginning.mediaTime == .zero + .seconds(2))
    #expect(beginning.effects == fast)
    // These effects are in use already.
    #expect(group.command(.effectsAt(fast, from: .seconds(2), at: time)) == .success(.done))
    group.advance(by: .seconds(3))
    #expect(group.session.isRunning)
    #expect(!group.events.contains { if case .itemEnded = $0 { true } else { false } })
  }

  @Test func `another rate that comes late goes on from where the others are by then`() {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    let sounds = group.session.position(at: group.now)
    let horizon = MediaDuration(group.session.commitHorizon)
    let reply = group.command(
      .effectsAt(Self.effects(rate: 2), from: sounds, at: group.now))
    #expect(reply == .success(.renewed(from: sounds + horizon + horizon)))
  }

  @Test func `it can be told until when there is something to play`() throws {
    var group = Self.held("8000x1:8000000")
    #expect(group.session.suppliedUntil(at: group.now) == nil)
    group.producesAtOnce = false
    group.command(.resume)
    let anchor = try #require(group.session.timeline.anchors.last)
    let end = try #require(group.session.store.end)
    let time = anchor.groupTime + Nanoseconds(end - anchor.mediaTime)
    #expect(group.session.suppliedUntil(at: group.now) == LocalTime(onSender: time))
    group.command(.renew(from: .seconds(1)))
    #expect(
      group.session.suppliedUntil(at: group.now)
        == LocalTime(onSender: anchor.groupTime) + .seconds(1))
    // All audio that will ever come is there.
    group = Self.held()
    group.command(.resume)
    #expect(group.session.suppliedUntil(at: group.now) == nil)
  }

  @Test func `another rate while time stands still begins where it stands`() throws {
    var group = Self.held()
    let fast = Self.effects(rate: 1.5)
    let now = group.now
    #expect(
      group.command(.effectsAt(fast, from: .seconds(9), at: now)) == .success(.renewed(from: .zero))
    )
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    group.command(.pause)
    group.advance(by: .seconds(1))
    let place = group.session.upcomingPosition(at: group.now)
    let reply = group.command(
      .effectsAt(Effects(), from: .zero, at: group.now))
    #expect(reply == .success(.renewed(from: place)))
  }

  @Test func `a place is renewed by the rate that holds there`() throws {
    var group = Self.held()
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    let anchor = try #require(group.session.timeline.anchors.last)
    let time = LocalTime(onSender: anchor.groupTime) + .seconds(2)
    group.command(.effectsAt(Self.effects(rate: 2), from: .seconds(2), at: time))
    #expect(group.command(.renew(from: .seconds(4))) == .success(.renewed(from: .seconds(4))))
    #expect(group.flushes.last?.from == .zero + .seconds(3))
    #expect(group.command(.renew(from: .seconds(1))) == .success(.renewed(from: .seconds(1))))
    #expect(group.flushes.last?.from == .zero + .seconds(1))
  }

  @Test func `without holding, media time runs through a cut that nothing follows yet`() {
    for holds in [false, true] {
      var group = Self.held(holdsAtCuts: holds)
      group.command(.resume)
      group.advance(by: .milliseconds(500))
      group.producesAtOnce = false
      group.command(.renew(from: .zero))
      group.advance(by: .seconds(1))
      #expect(group.session.isRunning == !holds)
    }
  }

  @Test func `a room that is removed is told goodbye and nothing after it`() {
    var group = TestGroup(["8000x1:80000"], rooms: 2)
    group.joinReady()
    group.joinReady(TestGroup.other)
    group.take()
    group.handle(.roomRemoved(TestGroup.other))
    #expect(group.told(TestGroup.other) == [.goodbye(Goodbye(reason: .finished, detail: ""))])
    group.take()
    group.handle(.closed(TestGroup.other, .control, reason: "end"))
    group.advance(by: .seconds(30))
    #expect(group.told(TestGroup.other).isEmpty)
    #expect(group.session.status(at: group.now).rooms.map(\.id) == [TestGroup.room])
  }

  @Test func `a place in the item has a time, as long as media time runs`() throws {
    var group = Self.held()
    #expect(group.session.presentationTime(of: .zero, at: group.now) == nil)
    group.command(.resume)
    let anchor = try #require(group.anchors.last)
    let due = group.session.presentationTime(of: .seconds(3), at: group.now)
    #expect(due == LocalTime(onSender: anchor.groupTime) + .seconds(3))
    group.advance(by: .seconds(1))
    #expect(group.session.presentationTime(of: .seconds(3), at: group.now) == due)
    #expect(
      group.session.presentationTime(of: MediaDuration(flicks: .max / 2), at: group.now) == nil)
    let status = group.session.status(at: group.now)
    #expect(status.presentationTime == group.now)
    #expect(status.outputLatency == group.session.commitHorizon)
    group.command(.pause)
    group.advance(by: .seconds(1))
    #expect(group.session.presentationTime(of: .seconds(3), at: group.now) == nil)
    #expect(group.session.status(at: group.now).presentationTime == nil)
  }

  @Test func `a seek does not wait for ever for a source that is silent`() {
    var group = Self.held(holdsAtCuts: true)
    group.command(.resume)
    group.advance(by: .milliseconds(500))
    group.command(.pause)
    group.advance(by: .milliseconds(500))
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(5)))
    group.take()
    group.command(.seek(to: .seconds(6)))
    #expect(group.flushes.isEmpty)
    group.advance(by: .milliseconds(200))
    #expect(group.flushes.count == 1)
    group.produce()
    group.command(.resume)
    group.producesAtOnce = true
    group.advance(by: .milliseconds(500))
    #expect(group.session.position(at: group.now) >= .seconds(6))
  }
}
