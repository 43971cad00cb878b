import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of a source that is late and waited for. The test decides when the producer's answers come.
@Suite struct GroupSessionReserveTests {
  private static let place = MediaDuration.milliseconds(20)

  /// A group that plays an item of 8000 Hz from a server, of which `seconds` have been produced. The next answer
  /// of the producer waits.
  private static func playing(
    _ supply: Supply = .fetched, seconds: Int64 = 1, of items: [String] = ["80000"],
    holdsAtCuts: Bool = true
  ) -> TestGroup {
    var group = TestGroup(items, producesAtOnce: false, holdsAtCuts: holdsAtCuts) { item in
      SlowSource(length: Int64(item.location) ?? 0, supply)
    }
    group.joinReady()
    produce(.seconds(seconds), in: &group)
    group.advance(by: .milliseconds(500))
    return group
  }

  /// Produces until this much more is stored.
  private static func produce(_ span: MediaDuration, in group: inout TestGroup) {
    let end = (group.session.store.end ?? .zero) + span
    while group.isAwaitingProduction, group.session.store.end ?? .zero < end { group.produceOne() }
  }

  private static func stalled(_ supply: Supply = .fetched) -> TestGroup {
    var group = playing(supply)
    group.take()
    group.advance(by: .seconds(2))
    return group
  }

  private static func buffering(_ group: TestGroup) -> [Buffering] {
    group.events.compactMap { if case .buffering(let one) = $0 { one } else { nil } }
  }

  private static func silences(_ group: TestGroup) -> [Nanoseconds] {
    group.events.compactMap { if case .buffered(let silence) = $0 { silence } else { nil } }
  }

  // MARK: - To stand still and to go on

  @Test func `before the rooms run dry they stand still at one frame`() throws {
    let group = Self.stalled()
    let end = try #require(group.session.store.end)
    let anchor = try #require(group.anchors.last)
    #expect(group.anchors.count == 1)
    #expect(anchor.rate == .paused)
    #expect(anchor.mediaTime == end - Self.place)
    #expect(group.session.status(at: group.now).state == .buffering)
  }

  @Test func `rooms hear of it in time to obey`() throws {
    var group = Self.playing()
    group.take()
    for _ in 0..<2_000 where group.anchors.isEmpty { group.advance(by: .milliseconds(1)) }
    let horizon = group.session.commitHorizon
    #expect(try #require(group.anchors.last).groupTime >= GroupTime(ofSender: group.now) + horizon)
  }

  @Test func `slow rooms hear of it in time, too, where production has just begun`() throws {
    var group = Self.playing()
    group.say(.status(.test(.playing, horizon: .milliseconds(300))))
    group.take()
    let end = try #require(group.session.store.end)
    let anchor = try #require(group.session.timeline.anchors.last)
    let sounds = try #require(anchor.groupTime(of: end - Self.place))
    let last = LocalTime(onSender: sounds) - group.session.commitHorizon
    // The producer has not been waited for yet when its turn comes.
    #expect(try #require(group.session.holdTime) <= last)
  }

  @Test func `it says for what it waits, and that it goes on`() throws {
    var group = Self.stalled()
    let said = Self.buffering(group)
    #expect(said.map(\.item.id) == [0])
    #expect(said.map(\.arrived) == [Self.place])
    #expect(said.map(\.needed) == [.seconds(2)])
    #expect(group.session.status(at: group.now).buffering == said.first)
    let stop = try #require(group.anchors.last)
    group.take()
    Self.produce(.milliseconds(1_500), in: &group)
    #expect(group.anchors.isEmpty)
    Self.produce(.milliseconds(600), in: &group)
    let start = try #require(group.anchors.last)
    #expect(start.rate == .playing)
    #expect(start.mediaTime == stop.mediaTime)
    #expect(Self.silences(group) == [start.groupTime - stop.groupTime])
    #expect(group.session.status(at: group.now).state == .playing)
    #expect(group.session.status(at: group.now).buffering == nil)
  }

  @Test func `what comes before the rooms stand still is no interruption`() throws {
    var group = Self.playing()
    group.take()
    for _ in 0..<2_000 where group.anchors.isEmpty { group.advance(by: .milliseconds(1)) }
    Self.produce(.seconds(3), in: &group)
    group.advance(by: .seconds(1))
    try #require(group.anchors.count == 2)
    let (stop, start) = (group.anchors[0], group.anchors[1])
    #expect(start.rate == .playing)
    #expect((start.mediaTime, start.groupTime) == (stop.mediaTime, stop.groupTime))
    #expect(Self.buffering(group).isEmpty && Self.silences(group).isEmpty)
  }

  @Test func `the reserve grows with each outage, and not without end`() throws {
    var group = Self.playing(of: ["8000000"])
    var needed: [MediaDuration] = []
    for _ in 0..<14 {
      group.take()
      for _ in 0..<500 where Self.buffering(group).isEmpty {
        group.advance(by: .milliseconds(50))
        group.handle(.received(TestGroup.room, .control, []))
      }
      needed += Self.buffering(group).map(\.needed)
      Self.produce(needed.last ?? .zero, in: &group)
    }
    try #require(needed.count == 14)
    #expect(needed[0] == .seconds(2))
    #expect(needed[1] == .milliseconds(3_750))
    #expect(zip(needed, needed.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(needed.max() == .seconds(20))
  }

  @Test(arguments: [Supply.live, .piped, .input])
  func `what comes no faster than it sounds begins with a reserve`(supply: Supply) {
    var group = TestGroup(["80000"], producesAtOnce: false) { _ in
      SlowSource(length: 80_000, supply)
    }
    group.joinReady()
    Self.produce(.milliseconds(300), in: &group)
    #expect(group.anchors.isEmpty)
    #expect(group.session.status(at: group.now).state == .starting)
    #expect(group.session.status(at: group.now).buffering != nil)
    Self.produce(.seconds(2), in: &group)
    #expect(group.anchors.count == 1)
  }

  @Test func `the last frames of an item are not kept waiting`() throws {
    var group = Self.playing(of: ["12000"])
    group.advance(by: .seconds(2))
    group.take()
    // The rest is half a second, although two seconds were waited for.
    group.producesAtOnce = true
    group.produce()
    #expect(group.anchors.last?.rate == .playing)
    group.advance(by: .seconds(1))
    #expect(group.events.last == .finished)
    #expect(group.events.contains { if case .itemEnded = $0 { true } else { false } })
  }

  @Test func `an item whose source dies is played as far as it has come`() throws {
    let open: Serializer.OpenSource = { (item) throws(MediaError) in
      guard item.id == 0 else { return try openTestSource(item) }
      return TestSource(
        rate: 8_000, channels: 1, length: 80_000, brokenAt: 8_000, supply: .fetched)
    }
    var group = TestGroup(
      ["80000", "8000x1:8000"], producesAtOnce: false, openSource: open)
    group.joinReady()
    Self.produce(.milliseconds(900), in: &group)
    group.advance(by: .seconds(2))
    #expect(group.session.status(at: group.now).state == .buffering)
    group.take()
    group.producesAtOnce = true
    group.produce()
    #expect(group.anchors.last?.rate == .playing)
  }

  @Test func `rooms that can hold no more are not waited for`() {
    var group = TestGroup(["80000"], producesAtOnce: false) { _ in SlowSource(length: 80_000, .live)
    }
    group.joinReady(with: .test(bytes: 20_000))
    group.producesAtOnce = true
    group.produce()
    #expect(group.session.status(at: group.now).produced < .seconds(1))
    #expect(group.anchors.count == 1)
  }

  @Test(arguments: [Supply.input, .piped])
  func `an input goes on after a pause with what it gives then, and a pipe where it was`(
    supply: Supply
  ) throws {
    var group = Self.playing(supply)
    group.command(.pause)
    group.advance(by: .seconds(1))
    // The source goes on meanwhile.
    Self.produce(.seconds(5), in: &group)
    let paused = try #require(group.anchors.last?.mediaTime)
    group.take()
    group.command(.resume)
    Self.produce(.milliseconds(600), in: &group)
    group.advance(by: .milliseconds(100))
    #expect(group.anchors.last?.rate == .playing)
    #expect(group.anchors.last?.mediaTime == paused)
    #expect(group.flushes.map(\.from) == (supply == .input ? [paused] : []))
    let status = group.session.status(at: group.now)
    #expect((status.produced < .seconds(1)) == (supply == .input))
  }

  @Test func `where several groups keep the same time, media time runs on`() {
    var group = Self.playing(holdsAtCuts: false)
    group.take()
    group.advance(by: .seconds(3))
    #expect(group.anchors.isEmpty)
    #expect(group.session.status(at: group.now).state == .playing)
  }

  // MARK: - Commands

  @Test func `a pause stays one, and playing goes on once enough is there`() {
    var group = Self.stalled()
    group.take()
    group.command(.pause)
    #expect(group.session.status(at: group.now).state == .paused)
    Self.produce(.seconds(1), in: &group)
    group.advance(by: .seconds(1))
    #expect(!group.anchors.contains { $0.rate == .playing })
    group.command(.resume)
    #expect(!group.anchors.contains { $0.rate == .playing })
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).state == .buffering)
    Self.produce(.seconds(1), in: &group)
    #expect(group.anchors.last?.rate == .playing)
  }

  @Test func `a seek goes on at the place where the rooms stand`() throws {
    var group = Self.stalled()
    let stop = try #require(group.anchors.last)
    group.take()
    group.command(.seek(to: .seconds(7)))
    #expect(group.flushes.map(\.from) == [stop.mediaTime])
    group.produceOne()
    Self.produce(.seconds(2), in: &group)
    #expect(group.anchors.last?.rate == .playing)
    #expect(group.anchors.last?.mediaTime == stop.mediaTime)
    #expect(group.session.position(at: group.now).seconds >= 7)
  }

  @Test func `a room that joins meanwhile is told where the others stand`() throws {
    var group = Self.stalled()
    let stop = try #require(group.anchors.last)
    group.handle(.roomAdded(TestGroup.other, name: "late", receiverID: nil))
    group.take()
    group.joinReady(TestGroup.other)
    let told = group.told(TestGroup.other).compactMap { message -> Anchor? in
      if case .anchor(let anchor) = message { anchor } else { nil }
    }
    #expect(told.last == stop)
  }

  @Test func `a stop ends it`() {
    var group = Self.stalled()
    group.command(.stop)
    group.advance(by: .seconds(1))
    #expect(group.events.last == .finished)
  }

  @Test func `a room that changes all the time is told of twice a second, and how it ends up`() {
    var group = TestGroup.playing()
    group.take()
    func told() -> Int {
      group.events.count { if case .room(_, .state) = $0 { true } else { false } }
    }
    for turn in 0..<1000 { group.say(.status(.test(turn % 2 == 0 ? .noDevice : .playing))) }
    #expect(told() <= 10)
    group.advance(by: .seconds(5))
    let before = told()
    for turn in 0..<1000 { group.say(.status(.test(turn % 2 == 0 ? .noDevice : .playing))) }
    #expect(told() - before <= 10)
    group.advance(by: .seconds(1))
    group.say(.status(.test(.noDevice)))
    #expect(group.events.changes(of: TestGroup.room).last == .state(.noDevice, detail: ""))
  }

  // MARK: - Whose fault it is

  private static func blamed(_ group: TestGroup) -> Int {
    group.events.filter { if case .room(_, .state(.starved, _)) = $0 { true } else { false } }.count
  }

  @Test func `a room that starves while the group has enough is named at once`() {
    var group = TestGroup.playing()
    group.advance(by: .seconds(1))
    group.say(.status(.test(.starved)))
    #expect(Self.blamed(group) == 1)
    group.say(.status(.test(.starved)))
    #expect(Self.blamed(group) == 1)
  }

  @Test func `a room that starves after a seek is named only if that lasts`() {
    var group = TestGroup.playing()
    group.advance(by: .seconds(1))
    group.command(.seek(to: .seconds(5)))
    group.say(.status(.test(.starved)))
    group.advance(by: .milliseconds(300))
    #expect(Self.blamed(group) == 0)
    group.advance(by: .milliseconds(500))
    #expect(Self.blamed(group) == 1)
  }

  @Test func `a change of a room's delay excuses it for as long as that is`() {
    var group = TestGroup.playing()
    group.advance(by: .seconds(1))
    group.command(.delay(.all, .milliseconds(-1_500)))
    group.say(.status(.test(.starved)))
    group.advance(by: .seconds(2))
    group.say(.status(.test(.starved)))
    group.advance(by: .seconds(1))
    #expect(Self.blamed(group) == 0)
    group.handle(.received(TestGroup.room, .control, []))
    group.advance(by: .seconds(1))
    #expect(Self.blamed(group) == 1)
  }

  @Test func `a room is not blamed for a source that is late`() {
    var group = Self.playing(holdsAtCuts: false)
    group.advance(by: .seconds(1))
    group.take()
    for _ in 0..<2 {
      group.say(.status(.test(.starved)))
      group.advance(by: .seconds(2))
    }
    #expect(Self.blamed(group) == 0)
  }

  @Test func `a file is not called slow, because it may end before its time`() {
    func said(_ location: String) -> String {
      Buffering(
        item: PlayItem(id: 1, location: location), arrived: .zero, needed: .seconds(2)
      ).description
    }
    #expect(
      said("/music/a.flac")
        == "/music/a.flac: cannot be read fast enough, or is not complete; "
        + "waiting for the next 2 s of it")
    #expect(said("http://a/b").contains("too slow"))
  }
}

/// Frames of 8000 Hz that are read 800 at a time.
private final class SlowSource: MediaSource {
  let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
  let sampleType = SampleType.float32
  let isLossless = true
  let supply: Supply
  let metadata = ItemMetadata()
  var frameCount: Int64? { length }
  private let length: Int64
  private var next: Int64 = 0

  init(length: Int64, _ supply: Supply) { (self.length, self.supply) = (length, supply) }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(min(count, 800)), length)
    for frame in next..<max(next, end) { frames.append(TestSource.sample(frame)) }
    next = max(next, end)
  }

  func seek(toFrame frame: Int64) { next = min(frame, length) }
}
