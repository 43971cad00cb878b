import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of seeks, skips, effects and pauses at the limits of an item. Were they wrong, people
/// would land in another item or at its end, or hear a cut that nobody asked for.
@Suite struct GroupSessionSeekEdgeTests {
  private static let long = "8000x1:80000"
  private static let twoItems = ["8000x1:16000", "8000x1:16000"]

  private static func effects(rate: Double) -> Effects {
    var effects = Effects()
    effects.rate = rate
    return effects
  }

  // MARK: - Seeks and skips

  @Test(arguments: [(2_999, 0), (3_000, 1)] as [(Int64, Int)])
  func `previous leaves an item until three seconds of it have passed`(
    milliseconds: Int64, item: Int
  ) {
    var group = TestGroup([Self.long, Self.long])
    group.join()
    group.command(.jump(to: 1, at: .milliseconds(milliseconds)))
    group.advance(by: .milliseconds(100))
    #expect(group.session.position(at: group.now) == .milliseconds(milliseconds))
    group.command(.previous)
    group.advance(by: .milliseconds(100))
    #expect(group.session.status(at: group.now).item?.item.id == item)
    #expect(group.session.position(at: group.now) == .zero)
  }

  @Test func `a seek while a chosen item opens is not limited by the length of another`() {
    var group = TestGroup.playing(["8000x1:16000", Self.long])
    group.producesAtOnce = false
    group.command(.next)
    #expect(group.command(.seek(to: .seconds(5))) == .success(.done))
    #expect(group.session.status(at: group.now).chosen?.id == 1)
    #expect(group.session.status(at: group.now).target == .seconds(5))
  }

  /// The second one waits for the first, and the third takes its place.
  @Test func `of three seeks at once the last one knows how long the item is`() {
    var group = TestGroup.playing()
    for seconds: Int64 in [3, 4, 999] { group.command(.seek(to: .seconds(seconds))) }
    #expect(group.session.hasChoice)
    #expect(group.session.status(at: group.now).target == .seconds(9))
  }

  @Test func `a seek to the very end of the last item leaves its last second`() {
    var group = TestGroup.playing()
    group.command(.seek(to: .seconds(10)))
    group.advance(by: .milliseconds(200))
    let position = group.session.status(at: group.now).position
    #expect(position >= .seconds(9) && position < .milliseconds(9_300))
    #expect(!group.session.isFinished)
  }

  @Test func `a seek beyond the end where the last second begins cuts nothing`() {
    var group = TestGroup.playing()
    group.command(.pause)
    group.advance(by: .milliseconds(200))
    group.command(.seek(to: .seconds(9)))
    group.advance(by: .milliseconds(200))
    #expect(group.session.position(at: group.now) == .seconds(9))
    group.take()
    #expect(group.command(.seek(to: .seconds(999))) == .success(.done))
    group.advance(by: .milliseconds(200))
    #expect(group.flushes.isEmpty)
    #expect(group.session.position(at: group.now) == .seconds(9))
  }

  // MARK: - Effects

  @Test func `effects that change while a chosen item opens do not lead back to the old one`() {
    var group = TestGroup.playing([Self.long, Self.long])
    group.producesAtOnce = false
    group.command(.next)
    group.command(.effects(Self.effects(rate: 2)))
    // The producer takes so long that the rooms are told of another cut.
    group.advance(by: .milliseconds(200))
    #expect(group.flushes.count == 2)
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(group.session.status(at: group.now).item?.item.id == 1)
  }

  /// Where media time runs on in silence, nothing waits at a change whose sound is late.
  @Test func `a change behind one that is late begins where all rooms can follow`() throws {
    var group = TestGroup([Self.long], holdsAtCuts: false)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.producesAtOnce = false
    group.command(.effects(Self.effects(rate: 1.5)))
    group.advance(by: .milliseconds(500))
    group.take()
    let horizon = MediaDuration(group.session.commitHorizon)
    let earliest = group.session.mediaTime(at: group.now) + horizon
    group.command(.effects(Self.effects(rate: 2)))
    group.advance(by: .milliseconds(200))
    #expect(try #require(group.flushes.first).from == earliest)
  }

  @Test func `effects other than the rate begin at their time as well`() throws {
    var group = TestGroup.playing()
    let anchor = try #require(group.session.timeline.anchors.last)
    var quiet = Effects()
    quiet.loudness = -30
    let time = LocalTime(onSender: anchor.groupTime) + .seconds(2)
    #expect(
      group.command(.effectsAt(quiet, from: .seconds(2), at: time))
        == .success(.renewed(from: .seconds(2))))
    #expect(group.beginnings.last?.effects == quiet)
  }

  @Test func `effects that are to begin later can begin earlier`() throws {
    var group = TestGroup.playing()
    let anchor = try #require(group.session.timeline.anchors.last)
    let fast = Self.effects(rate: 2)
    for seconds: Int64 in [2, 1] {
      let time = LocalTime(onSender: anchor.groupTime) + .seconds(seconds)
      #expect(
        group.command(.effectsAt(fast, from: .seconds(seconds), at: time))
          == .success(.renewed(from: .seconds(seconds))))
    }
    #expect(group.flushes.last?.from == MediaTime.zero + .seconds(1))
  }

  // MARK: - Behind the end

  @Test func `where a list is over nothing sounds, and there is nothing to seek in`() {
    var group = TestGroup(["8000x1:8000"], endsWithPlaylist: false)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    #expect(group.session.soundingItem(at: group.now)?.item.id == 0)
    group.advance(by: .seconds(2))
    #expect(group.session.soundingItem(at: group.now) == nil)
    #expect(group.command(.seek(to: .milliseconds(100))) == .failure(.nothingPlays))
  }

  // MARK: - Renewals and cues

  @Test func `of two items that hold a position the one begun last is renewed`() throws {
    var group = TestGroup.playing(Self.twoItems)
    #expect(group.command(.renew(from: .zero)) == .success(.renewed(from: .zero)))
    #expect(group.flushes.map(\.from) == [MediaTime.zero + .seconds(2)])
    #expect(try #require(group.beginnings.last).item.id == 1)
  }

  @Test func `where a group stands still there is nowhere to cue to`() {
    var group = TestGroup.playing()
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.take()
    let place = group.session.upcomingPosition(at: group.now)
    #expect(!group.session.mayCue(to: place))
    #expect(group.session.mayCue(to: place + MediaDuration(flicks: 1)))
    group.command(.cue(to: place))
    #expect(group.anchors.isEmpty)
  }

  @Test func `where there is no item, nothing is cued or renewed`() {
    var group = TestGroup([], endsWithPlaylist: false)
    group.join()
    #expect(!group.session.mayCue(to: .seconds(3)))
    #expect(
      group.command(.renew(from: .seconds(3))) == .success(.renewed(from: .seconds(3))))
    #expect(group.flushes.isEmpty)
  }

  @Test func `a pause before the last frame of an item leaves its place in that item`() throws {
    var group = TestGroup.playing(Self.twoItems)
    let anchor = try #require(group.session.timeline.anchors.last)
    let end = LocalTime(onSender: anchor.groupTime) + .seconds(2)
    group.command(.pauseAt(end - .microseconds(125)))
    group.advance(by: .seconds(3))
    let place = MediaDuration.seconds(2) - MediaDuration(frames: 1, at: 8_000)
    #expect(group.session.upcomingPosition(at: group.now) == place)
    #expect(group.session.position(at: group.now) == place)
  }

  // MARK: - Start, pause and resume

  /// The anchor waits behind the packets on such a link, and may be lost once.
  @Test func `where a link is weak the group begins a second later than it could`() throws {
    var group = TestGroup()
    group.join()
    let now = group.now
    var session = group.session
    session.rooms.with(TestGroup.room) { $0.weakness.failed(at: now) }
    var status = RoomStatus.test(.ready)
    status.bufferedUntil = .zero + .seconds(5)
    session.handle(
      .received(TestGroup.room, .control, ControlMessage.status(status).encoded()), at: now)
    let anchor = try #require(session.timeline.anchors.last)
    #expect(anchor.groupTime == session.commitTime(at: now) + .seconds(1))
  }

  @Test func `a group that shares its time is paused even if it has nothing to play`() {
    var group = TestGroup([], endsWithPlaylist: false, holdsAtCuts: false)
    group.join()
    group.command(.pause)
    #expect(group.events.contains(.paused))
  }

  @Test func `a group that shares its time goes on though nothing has come yet`() {
    var group = TestGroup([Self.long], endsWithPlaylist: false, holdsAtCuts: false)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.command(.pause)
    group.advance(by: .milliseconds(500))
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(5)))
    group.take()
    group.command(.resume)
    #expect(group.anchors.map(\.rate) == [.playing])
    #expect(group.session.isRunning)
  }
}
