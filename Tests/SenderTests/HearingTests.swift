import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of when a command is heard. Programs wait for it: a wrong answer lets them wait for ever,
/// or go on too early.
@Suite struct HearingTests {
  private static func media(_ seconds: Int64) -> MediaTime { MediaTime.zero + .seconds(seconds) }

  private static func local(_ seconds: Int64) -> LocalTime {
    LocalTime(nanoseconds: seconds * 1_000_000_000)
  }

  private static func anchor(_ media: Int64, at group: Int64, _ rate: Anchor.Rate) -> Anchor {
    Anchor(
      mediaTime: Self.media(media), groupTime: GroupTime(nanoseconds: group * 1_000_000_000),
      rate: rate)
  }

  /// Second 10 of the stream sounds at second 20, and playing stops at second 15 of the stream. The
  /// numbers differ so that no test mistakes one timeline for another.
  private static let playing = anchor(10, at: 20, .playing)
  private static let stopped = anchor(15, at: 25, .paused)

  /// A session with audio up to `produced`. Its state is set directly, so that a test can ask
  /// exactly at an edge.
  private static func session(
    _ state: PlaybackTimeline.State, _ anchors: [Anchor], produced: Int64?, end: Int64? = nil
  ) -> GroupSession {
    var session = TestGroup(rooms: 0).session
    session.timeline = PlaybackTimeline(
      state, generation: 0, cuts: [], segments: [], anchors: anchors)
    session.timeline.end = end.map { Self.media($0) }
    if let produced {
      session.store = PacketStore(continuingAt: 0, end: Self.media(produced))
    }
    return session
  }

  private func hearing(of place: MediaTime, in group: TestGroup) -> GroupSession.Hearing {
    group.session.hearing(of: place, at: group.now)
  }

  private func hearingOfStart(in group: TestGroup) -> GroupSession.Hearing {
    group.session.hearingOfStart(at: group.now)
  }

  // MARK: - Places

  @Test func `while a group plays, what is produced is heard when its time comes`() {
    let session = Self.session(.playing(Self.playing), [Self.playing], produced: 30)
    for now: Int64 in [19, 21, 28] {
      #expect(session.hearing(of: Self.media(10), at: Self.local(now)) == .at(Self.local(20)))
      #expect(session.hearing(of: Self.media(15), at: Self.local(now)) == .at(Self.local(25)))
    }
    #expect(session.hearing(of: Self.media(29), at: Self.local(21)) == .at(Self.local(39)))
  }

  @Test func `a place of which nothing is produced is still to come`() {
    let session = Self.session(.playing(Self.playing), [Self.playing], produced: 30)
    #expect(session.hearing(of: Self.media(30), at: Self.local(21)) == .coming)
    #expect(session.hearing(of: Self.media(31), at: Self.local(21)) == .coming)
    let empty = Self.session(.playing(Self.playing), [Self.playing], produced: nil)
    #expect(empty.hearing(of: Self.media(15), at: Self.local(21)) == .coming)
  }

  /// Nothing is produced behind the end, but whoever has skipped the last item waits for the end.
  @Test func `the end of the stream is heard when the last frame has sounded`() {
    let session = Self.session(.playing(Self.playing), [Self.playing], produced: 30, end: 30)
    #expect(session.hearing(of: Self.media(30), at: Self.local(21)) == .at(Self.local(40)))
    #expect(session.hearing(of: Self.media(29), at: Self.local(21)) == .at(Self.local(39)))
  }

  @Test func `a paused group is silent at its place and beyond, and was heard before it`() {
    let session = Self.session(.paused(Self.stopped), [Self.playing, Self.stopped], produced: 30)
    #expect(session.hearing(of: Self.media(15), at: Self.local(26)) == .silent)
    #expect(session.hearing(of: Self.media(16), at: Self.local(26)) == .silent)
    #expect(session.hearing(of: Self.media(14), at: Self.local(26)) == .at(Self.local(24)))
  }

  /// Some of the audio behind its place is there, but not enough to go on.
  @Test func `a group that waits for more is yet to be heard at its place and beyond`() {
    let session = Self.session(.holding(Self.stopped), [Self.playing, Self.stopped], produced: 30)
    #expect(session.hearing(of: Self.media(15), at: Self.local(26)) == .coming)
    #expect(session.hearing(of: Self.media(16), at: Self.local(26)) == .coming)
    #expect(session.hearing(of: Self.media(14), at: Self.local(26)) == .at(Self.local(24)))
  }

  @Test func `before the start a held group is silent, and one without audio is yet to come`() {
    var session = Self.session(.starting(at: .zero), [], produced: nil)
    #expect(session.hearing(of: .zero, at: Self.local(5)) == .coming)
    session.start = .held(isPause: false)
    #expect(session.hearing(of: .zero, at: Self.local(5)) == .silent)
  }

  @Test func `a place that is chosen before rooms are ready is yet to come`() {
    var group = TestGroup()
    group.join()
    group.command(.seek(to: .seconds(3)))
    #expect(hearing(of: .zero, in: group) == .coming)
  }

  @Test func `a list that is left at its end before the start is at its end now`() {
    let session = Self.session(.starting(at: .zero), [], produced: nil, end: 0)
    #expect(session.hearing(of: .zero, at: Self.local(5)) == .at(Self.local(5)))
  }

  @Test func `a place that no anchor reaches is heard once a later one sounds`() {
    let past = Self.session(.playing(Self.playing), [Self.playing], produced: 30)
    #expect(past.hearing(of: Self.media(5), at: Self.local(21)) == .at(Self.local(21)))
    // The place was left out during a pause.
    let next = Self.anchor(18, at: 30, .playing)
    let session = Self.session(
      .playing(next), [Self.playing, Self.stopped, next], produced: 30)
    #expect(session.hearing(of: Self.media(17), at: Self.local(21)) == .coming)
    #expect(session.hearing(of: Self.media(17), at: Self.local(29)) == .coming)
    #expect(session.hearing(of: Self.media(17), at: Self.local(30)) == .at(Self.local(30)))
  }

  @Test func `times are those of the machine's clock, which stands still while it sleeps`() {
    var session = Self.session(.playing(Self.playing), [Self.playing], produced: 30)
    session.clock.slept(for: .seconds(3))
    #expect(session.hearing(of: Self.media(15), at: Self.local(20)) == .at(Self.local(22)))
    #expect(session.hearing(of: Self.media(5), at: Self.local(18)) == .at(Self.local(18)))
    #expect(session.hearingOfStart(at: Self.local(18)) == .at(Self.local(17)))
  }

  // MARK: - Starts

  @Test func `a start is heard when playing begins, and not while it waits`() {
    let playing = Self.session(.playing(Self.playing), [Self.playing], produced: 30)
    #expect(playing.hearingOfStart(at: Self.local(28)) == .at(Self.local(20)))
    let anchors = [Self.playing, Self.stopped]
    let holding = Self.session(.holding(Self.stopped), anchors, produced: 30)
    #expect(holding.hearingOfStart(at: Self.local(28)) == .coming)
    let paused = Self.session(.paused(Self.stopped), anchors, produced: 30)
    #expect(paused.hearingOfStart(at: Self.local(28)) == .silent)
  }

  @Test func `a start is silent if it is held, and also if there is nothing to play`() {
    var session = Self.session(.starting(at: .zero), [], produced: 30)
    #expect(session.hearingOfStart(at: Self.local(5)) == .coming)
    session.start = .held(isPause: false)
    #expect(session.hearingOfStart(at: Self.local(5)) == .silent)
    session.start = .open()
    session.restart.isHalted = true
    #expect(session.hearingOfStart(at: Self.local(5)) == .silent)
    let ended = Self.session(.starting(at: Self.media(30)), [], produced: 30, end: 30)
    #expect(ended.hearingOfStart(at: Self.local(5)) == .silent)
  }

  // MARK: - In a group

  @Test func `a seek is heard where the rooms go on behind its cut`() throws {
    var group = TestGroup.playing()
    #expect(group.session.chosenPlace == nil)
    #expect(!group.session.hasChoice)
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(7)))
    let place = try #require(group.flushes.first?.from)
    #expect(group.session.chosenPlace == place)
    #expect(!group.session.hasChoice)
    #expect(hearing(of: place, in: group) == .coming)
    // The next one waits until the source has answered.
    group.command(.seek(to: .seconds(3)))
    #expect(group.session.chosenPlace == nil)
    #expect(group.session.hasChoice)
    group.produce()
    #expect(group.session.chosenPlace == place)
    #expect(!group.session.hasChoice)
    let anchor = try #require(group.anchors.last)
    #expect(anchor.rate == .playing && anchor.mediaTime == place)
    let heard = LocalTime(onSender: anchor.groupTime)
    #expect(hearing(of: place, in: group) == .at(heard))
    group.advance(by: .seconds(1))
    #expect(hearing(of: place, in: group) == .at(heard))
  }

  @Test func `a seek during a pause is silent, and heard once the group goes on`() throws {
    var group = TestGroup.playing()
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.command(.seekBy(.seconds(3)))
    let place = try #require(group.session.chosenPlace)
    #expect(place == group.anchors.last?.mediaTime)
    #expect(hearing(of: place, in: group) == .silent)
    #expect(hearingOfStart(in: group) == .silent)
    group.command(.resume)
    let anchor = try #require(group.anchors.last)
    #expect(anchor.rate == .playing)
    let heard = LocalTime(onSender: anchor.groupTime)
    #expect(hearing(of: place, in: group) == .at(heard))
    #expect(hearingOfStart(in: group) == .at(heard))
  }

  @Test func `a start comes while rooms are not ready, and a held one with its resume`() throws {
    var group = TestGroup()
    group.join()
    #expect(hearingOfStart(in: group) == .coming)
    group = TestGroup(startsHeld: true)
    group.joinReady()
    #expect(hearingOfStart(in: group) == .silent)
    #expect(hearing(of: .zero, in: group) == .silent)
    group.command(.resume)
    let anchor = try #require(group.anchors.first)
    let heard = LocalTime(onSender: anchor.groupTime)
    #expect(hearingOfStart(in: group) == .at(heard))
    #expect(hearing(of: .zero, in: group) == .at(heard))
  }

  @Test func `the end of a list is heard when it comes, and a start there is silent`() throws {
    var group = TestGroup(["8000x1:8000"], endsWithPlaylist: false)
    group.joinReady()
    let anchor = try #require(group.anchors.first)
    let heard = LocalTime(onSender: anchor.groupTime + .seconds(1))
    group.advance(by: .milliseconds(500))
    #expect(group.session.timeline.end == Self.media(1))
    #expect(hearing(of: Self.media(1), in: group) == .at(heard))
    group.advance(by: .seconds(2))
    #expect(hearing(of: Self.media(1), in: group) == .at(heard))
    #expect(hearingOfStart(in: group) == .silent)
  }

  /// A session keeps five anchors, and a program may ask about a place long after it has sounded.
  @Test func `a place whose anchor is forgotten counts as heard now`() {
    var group = TestGroup.playing()
    for _ in 0..<3 {
      group.command(.pause)
      group.advance(by: .milliseconds(100))
      group.command(.resume)
      group.advance(by: .milliseconds(100))
    }
    #expect(group.session.timeline.anchors.first.map { $0.mediaTime > .zero } == true)
    #expect(hearing(of: .zero, in: group) == .at(group.now))
  }
}
