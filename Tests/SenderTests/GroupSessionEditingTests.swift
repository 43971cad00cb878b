import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of edits while music plays. Were they wrong, people would hear an item that they have
/// removed, miss one that they have chosen, or hear a gap where two items join.
@Suite struct GroupSessionEditingTests {
  private static let long = "8000x1:80000"
  private static let longEntry = PlaylistEntry(long)

  private func shown(_ group: TestGroup) -> Int? {
    group.session.status(at: group.now).item?.item.id
  }

  // MARK: - An item that was chosen

  /// A jump to item 2 that waits, because it follows another one too fast.
  private static func waiting() -> TestGroup {
    var group = TestGroup.playing([long, long, long, long])
    group.command(.jump(to: 1))
    group.advance(by: .milliseconds(10))
    group.command(.jump(to: 2))
    return group
  }

  @Test func `a chosen item that is removed before it begins makes way for the next one`() {
    var group = Self.waiting()
    #expect(group.session.hasChoice)
    group.command(.edit(.remove([2])))
    group.advance(by: .milliseconds(500))
    #expect(shown(group) == 3)
  }

  @Test func `an edit elsewhere in the list leaves the chosen item`() {
    var group = Self.waiting()
    #expect(group.session.hasChoice)
    group.command(.edit(.insert([Self.longEntry], .end)))
    group.advance(by: .milliseconds(500))
    #expect(shown(group) == 2)
  }

  @Test func `an item that is being opened stays chosen when the one that sounds is removed`() {
    var group = TestGroup.playing([Self.long, Self.long, Self.long])
    group.producesAtOnce = false
    group.command(.jump(to: 2))
    group.command(.edit(.remove([0])))
    group.advance(by: .milliseconds(10))
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(shown(group) == 2)
  }

  // MARK: - An item that follows

  private static func isOpeningNext(_ group: TestGroup) -> Bool {
    if case .begin(let next)? = group.orders.first { next.continues } else { false }
  }

  /// An item of two seconds sounds, and the next one is being opened.
  private static func openingNext() -> TestGroup {
    var group = TestGroup(["8000x1:16000", long, long], producesAtOnce: false)
    group.joinReady()
    while !isOpeningNext(group), group.isAwaitingProduction { group.produceOne() }
    group.advance(by: .milliseconds(300))
    group.take()
    return group
  }

  @Test func `an item that is removed makes way at once though the next one is being opened`() {
    var group = Self.openingNext()
    #expect(Self.isOpeningNext(group))
    group.command(.edit(.remove([0])))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.count == 1)
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(shown(group) == 1)
  }

  @Test func `an item that is put before one that is being opened joins without a cut`() {
    var group = Self.openingNext()
    #expect(Self.isOpeningNext(group))
    group.command(.edit(.insert([Self.longEntry], .next)))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.isEmpty)
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(100))
    #expect(group.flushes.isEmpty)
    group.advance(by: .seconds(2))
    #expect(shown(group) == 3)
  }

  @Test func `an item that is put before one of which nothing was read joins without a cut`()
    throws
  {
    // The room has space for a second, which is less than the first item.
    var group = TestGroup(["8000x1:16000", Self.long, Self.long], producesAtOnce: false)
    group.joinReady(with: .test(span: .seconds(1)))
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(700))
    let isOnlyOpen =
      if case .item(isUnderWay: false) = group.session.production.stage { true } else { false }
    try #require(isOnlyOpen && group.session.timeline.segments.count == 2)
    group.take()
    group.command(.edit(.insert([Self.longEntry], .next)))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.isEmpty)
    let begun = try #require(group.beginnings.last)
    #expect(begun.item.id == 3 && begun.continues)
    #expect(begun.mediaTime == MediaTime.zero + .seconds(2))
  }

  /// Rooms fade where a cut is ramped, and nothing would fade in behind the last frame.
  @Test func `an item that is added behind the last one joins it without a fade`() {
    var group = TestGroup.playing()
    group.command(.edit(.insert([Self.longEntry], .end)))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.map(\.from) == [MediaTime.zero + .seconds(10)])
    #expect(group.flushes.map(\.isRamped) == [false])
  }

  // MARK: - A station

  /// A station that says each of three titles for two thirds of a second, and files.
  private static func openStation(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    guard item.location == "station" else { return try openTestSource(item) }
    return TestStation(
      titles: ["One", "Two", "Three"].flatMap { [String](repeating: $0, count: 8) })
  }

  private static func listening() -> TestGroup {
    var group = TestGroup(["station", "48000x1:96000"], openSource: openStation)
    group.joinReady()
    return group
  }

  @Test func `a station that is removed during its last title makes way at once`() {
    var group = Self.listening()
    group.advance(by: .milliseconds(1_600))
    #expect(group.session.status(at: group.now).item?.metadata.title == "Three")
    group.take()
    group.command(.edit(.remove([0])))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.count == 1)
    group.advance(by: .milliseconds(200))
    #expect(shown(group) == 1)
  }

  @Test func `the titles that a station says later are no items of the list`() {
    var group = Self.listening()
    group.advance(by: .milliseconds(500))
    #expect(group.session.status(at: group.now).item?.metadata.title == "One")
    group.take()
    group.command(.edit(.insert([Self.longEntry], .index(0))))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.isEmpty)
  }

  // MARK: - An item of three frames

  @Test func `an item too short to be heard is over as soon as it is chosen`() {
    let item = "48000x1:96000"
    var group = TestGroup([item, "48000x1:3", item, item])
    group.join()
    group.command(.jump(to: 1))
    group.advance(by: .milliseconds(100))
    #expect(shown(group) == 2)
    group.take()
    group.command(.edit(.remove([1])))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.isEmpty)
  }

  @Test func `next leads on from the item that is shown, and not from a short one before it`() {
    let item = "48000x1:96000"
    var group = TestGroup([item, "48000x1:3", item, item])
    group.join()
    group.command(.jump(to: 1))
    group.advance(by: .milliseconds(100))
    group.command(.next)
    group.advance(by: .milliseconds(100))
    #expect(shown(group) == 3)
  }
}
