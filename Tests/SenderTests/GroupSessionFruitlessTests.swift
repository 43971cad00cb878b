import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of what is produced next, how far ahead, and what of it counts. Were it wrong, a list of
/// broken items would be tried for ever, or a room would hear what somebody has just left.
@Suite struct GroupSessionFruitlessTests {
  private static func at(_ milliseconds: Int64) -> MediaTime {
    MediaTime.zero + .milliseconds(milliseconds)
  }

  // MARK: - Items that give nothing

  @Test func `before what plays instead of a list, each item of it is tried once`() {
    var group = TestGroup(["gone", "gone too"], otherwise: "8000x1:4000")
    group.joinReady()
    let failed = group.events.compactMap { event -> Int? in
      if case .itemFailed(let item, _) = event { item.id } else { nil }
    }
    #expect(failed == [0, 1])
    #expect(Set(group.session.timeline.segments.map(\.opened.item.id)) == [2])
  }

  @Test func `a list that repeats is over when all of it was tried in vain`() {
    var fed = FedSession(["song 0", "song 1"], repetition: .all)
    for _ in 0..<10 {
      guard case .beginning(let next) = fed.session.production.stage else { break }
      fed.give([.failed(next.item, .notFound(path: next.item.location), at: .zero)])
    }
    #expect(fed.begun == [0, 1, 0])
    #expect(fed.outputs.contains(.produce(.finish(generation: 0))))
  }

  @Test func `two sounds that fill a packet only together repeat`() {
    var fed = FedSession(["song 0", "song 1"], repetition: .all)
    fed.give([.opening(), .itemEnded(at: Self.at(12))])
    fed.give([.opening(1, at: Self.at(12)), .itemEnded(at: Self.at(24))])
    #expect(fed.begun == [0, 1, 0])
  }

  // MARK: - What is ordered

  @Test func `neighbours are named only where items are to sound equally loud`() {
    let names = ["8000x1:16000", "8000x1:24000", "8000x1:32000"]
    var group = TestGroup(names)
    #expect(group.beginnings.map(\.neighbours) == [[], [], []])
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.take()
    var effects = Effects()
    effects.loudness = -18
    group.command(.effects(effects))
    #expect(group.beginnings.map(\.neighbours) == [[names[1]], [names[0], names[2]], [names[1]]])
  }

  @Test func `an item put in the place of the same one begins where somebody has left it`() {
    var group = TestGroup(
      ["8000x1:80000", "8000x1:40000"],
      keptPlace: { $0.location == "8000x1:40000" ? .seconds(2) : nil })
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.command(.edit(.replace(1, with: [PlaylistEntry("8000x1:40000")])))
    group.advance(by: .milliseconds(10))
    let last = group.session.timeline.segments.last
    #expect(last?.opened.item.id == 2)
    #expect(last?.start == Self.at(10_000))
    #expect(last?.opened.position == .seconds(2))
  }

  @Test func `an item that was replaced while it was being opened does not follow`() throws {
    var group = TestGroup(["8000x1:16000", "8000x1:24000"], producesAtOnce: false)
    for _ in 0..<50 where group.beginnings.count < 2 { group.produceOne() }
    try #require(group.beginnings.map(\.item.id) == [0, 1])
    group.command(.edit(.replace(1, with: [PlaylistEntry("8000x1:8000")])))
    group.advance(by: .milliseconds(10))
    group.take()
    // It is open now, and the list is looked at again.
    group.produceOne()
    #expect(group.beginnings.map(\.item.id) == [2])
    group.producesAtOnce = true
    group.produce()
    #expect(group.session.timeline.segments.map(\.opened.item.id) == [0, 2])
  }

  @Test func `rooms hear of the end half a minute before, wherever the last frame lies`() {
    // The frame's length is no whole number of nanoseconds.
    var group = TestGroup(["11025x1:441001"])
    group.joinReady(with: .test(bytes: 1 << 22))
    group.advance(by: .seconds(5))
    group.handle(.received(TestGroup.room, .control, []))
    group.advance(by: .milliseconds(4_900))
    group.handle(.received(TestGroup.room, .control, []))
    #expect(group.session.timeline.end == nil)
    group.take()
    group.advance(by: .milliseconds(300))
    #expect(group.packets().last?.endsStream == true)
  }

  // MARK: - How far ahead

  /// A group whose producer has answered four orders.
  private static func filled(
    _ span: MediaDuration = .seconds(600), bytes: Int? = nil
  ) -> TestGroup {
    var group = TestGroup(["8000x1:8000000"], producesAtOnce: false)
    group.join(with: .test(span: span))
    if let bytes { group.limitStore(to: bytes) }
    for _ in 0..<4 where group.isAwaitingProduction { group.produceOne() }
    return group
  }

  @Test func `what is made ahead fills the memory that there is, and no more`() {
    let bytes = Self.filled().session.store.heldBytes
    #expect(bytes > 0)
    #expect(!Self.filled(bytes: bytes).isAwaitingProduction)
    #expect(Self.filled(bytes: bytes + 1).isAwaitingProduction)
  }

  @Test func `no more is made than the longest time that a room can hold`() throws {
    let end = try #require(Self.filled().session.store.end)
    let span = end - MediaTime.zero
    #expect(!Self.filled(span).isAwaitingProduction)
    #expect(Self.filled(span + .milliseconds(1)).isAwaitingProduction)
  }

  // MARK: - What comes too late

  @Test func `nothing of the place that was left reaches a room`() {
    var group = TestGroup(["song 0"], producesAtOnce: false)
    group.join()
    group.give([.opening()])
    group.command(.seek(to: .seconds(2)))
    #expect(group.flushes.map(\.from) == [.zero])
    // The first of these begins where the cut lies.
    group.give(music: 0..<100, in: 0)
    #expect(group.session.store.entries.isEmpty)
    #expect(group.packets().isEmpty)
  }

  @Test(arguments: [(Int64(900), 0), (1_900, 1)])
  func `an input that has fallen behind by a second begins anew, with what it gives then`(
    delay: Int64, expected: Int
  ) {
    var group = TestGroup(["song 0"], producesAtOnce: false)
    group.joinReady()
    let heard = LiveTiming(firstHeard: group.now + .milliseconds(30), latency: .milliseconds(30))
    group.give([.opening(supply: .input, live: heard)], music: 0..<100)
    #expect(group.anchors.count == 1)
    group.take()
    // Nobody has read it meanwhile.
    group.jump(by: .milliseconds(delay))
    group.give(music: 100..<150)
    #expect(group.flushes.count == expected)
    #expect(group.beginnings.map(\.position) == [MediaDuration](repeating: .zero, count: expected))
  }

  @Test func `a station that is opened anew has nothing to go back to`() throws {
    var group = TestGroup(["song 0"], producesAtOnce: false)
    group.joinReady()
    group.give([.opening(supply: .live)], music: 0..<3_000)
    group.advance(by: .milliseconds(500))
    let kept = KeptStretch(from: .zero, live: .seconds(100))
    group.handle(.kept("song 0", kept))
    // Going back in it opens no other connection.
    group.command(.seek(to: .seconds(50)))
    let cut = try #require(group.session.production.cut)
    group.give([.opening(at: cut, position: .seconds(50), supply: .live)])
    #expect(group.session.status(at: group.now).kept == kept)
    group.advance(by: .milliseconds(200))
    group.command(.jump(to: 0))
    let next = try #require(group.session.production.cut)
    group.give([.opening(at: next, supply: .live)])
    #expect(group.session.status(at: group.now).kept == nil)
  }
}
