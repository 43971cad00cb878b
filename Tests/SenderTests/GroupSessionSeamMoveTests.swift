import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of a seam that moves to an earlier place. Did it not, a room that has begun anew would be
/// silent for ten seconds; did it move too soon, a process that ends again would silence all rooms.
@Suite struct GroupSessionSeamMoveTests {
  private static func place(_ count: Int64) -> MediaTime { .zero + .milliseconds(count) }

  /// A process that goes on where one has ended that played for a second. Its seam lies at `seam`
  /// milliseconds, and its playhead at 1455. One room has come back, and holds audio up to `held`.
  private static func successor(
    seam: Int64 = 12_440, held: Int64 = 50_000, producesAtOnce: Bool = true
  ) throws -> SuccessionGroup {
    var before = SuccessionGroup.playing(rooms: 2)
    before.report(holding: place(seam))
    before.report(holding: place(50_000), in: TestGroup.other)
    var group = try before.successor(
      after: .milliseconds(455), producesAtOnce: producesAtOnce)
    try #require(group.seam == place(seam))
    group.comeBack(holding: place(held))
    group.take()
    return group
  }

  @Test func `for a room that holds nothing it moves once, two seconds after the start`() throws {
    var group = try Self.successor()
    group.add(TestGroup.other)
    group.take()
    group.advance(by: .milliseconds(1_999))
    #expect(group.flushes.isEmpty)
    group.advance(by: .milliseconds(1))
    // The first multiple of 40 ms that lies a second ahead of what all rooms can still change.
    let moved = Flush(from: Self.place(4_520), generation: 1_026, isRamped: false)
    #expect(group.flushes == [moved])
    #expect(group.flushes(TestGroup.other) == [moved])
    let begun = try #require(group.beginnings.first)
    #expect(begun.mediaTime == moved.from && begun.position == .milliseconds(4_520))
    group.advance(by: .seconds(1))
    #expect(group.flushes == [moved])
  }

  @Test func `for a room that holds too little it moves`() throws {
    var group = try Self.successor(held: 12_400)
    group.advance(by: .seconds(2))
    #expect(group.flushes.map(\.from) == [Self.place(4_520)])
  }

  @Test func `for rooms that hold all that sounds before it, it stays`() throws {
    var group = try Self.successor(held: 12_440)
    group.advance(by: .seconds(5))
    #expect(group.flushes.isEmpty)
    #expect(group.seam == Self.place(12_440))
  }

  @Test func `for a room that has run dry it moves`() throws {
    var group = try Self.successor()
    group.advance(by: .milliseconds(2_500))
    #expect(group.flushes.isEmpty)
    group.report(holding: Self.place(50_000), .starved)
    #expect(group.flushes.map(\.from) == [Self.place(5_000)])
  }

  /// The room comes when the seam is a little more than two seconds ahead of it, or just as much.
  @Test(arguments: [(2_499, 5_000), (2_500, 6_000)] as [(Int64, Int64)])
  func `it moves only if that saves more than a second`(life: Int64, seam: Int64) throws {
    var group = try Self.successor(seam: 6_000)
    group.advance(by: .milliseconds(life))
    #expect(group.flushes.isEmpty)
    group.add(TestGroup.other)
    #expect(group.seam == Self.place(seam))
  }

  /// A source that cannot be read would leave all rooms without music there.
  @Test func `it moves only after the source has shown that it can be read`() throws {
    var group = try Self.successor(producesAtOnce: false)
    group.add(TestGroup.other)
    group.advance(by: .seconds(3))
    #expect(group.seam == Self.place(12_440))
    group.produce()
    #expect(group.seam == Self.place(5_520))
  }

  @Test func `while the group is paused it stays`() throws {
    var group = try Self.successor()
    group.add(TestGroup.other)
    group.command(.pause)
    group.advance(by: .seconds(3))
    #expect(group.seam == Self.place(12_440))
    group.command(.resume)
    #expect(group.seam == Self.place(2_520))
  }
}
