import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of items that begin where somebody has left them: those of ten seconds, at second 4.
@Suite struct ResumingTests {
  private static let plain = "8000x1:160000"
  private static let short = "8000x1:8000"
  private static let left = "8000x1:80000"

  private static func place(of item: PlayItem) -> MediaDuration? {
    item.location == left ? .seconds(4) : nil
  }

  /// A group with a room that has played for half a second, if `plays`.
  private static func group(
    _ items: String..., repeats repetition: Playlist.Repetition = .off, plays: Bool = true
  ) -> TestGroup {
    var group = TestGroup(items, endsWithPlaylist: false, keptPlace: place)
    group.command(.edit(.setRepetition(repetition)))
    if plays {
      group.joinReady()
      group.advance(by: .milliseconds(500))
    }
    return group
  }

  /// The number of the item that plays, and the whole second in it.
  private func shown(_ group: TestGroup) -> [Int] {
    let status = group.session.status(at: group.now)
    return [status.item?.item.id ?? -1, Int(status.position.seconds)]
  }

  private func shown(_ group: inout TestGroup, after command: PlayerCommand) -> [Int] {
    group.command(command)
    group.advance(by: .milliseconds(500))
    return shown(group)
  }

  @Test func `the first item, and one whose turn comes, begin where they were left`() {
    #expect(shown(Self.group(Self.left)) == [0, 4])
    var group = Self.group(Self.short, Self.left)
    #expect(shown(group) == [0, 0])
    group.advance(by: .seconds(1))
    #expect(shown(group) == [1, 4])
    // The rooms get one stream without a cut.
    #expect(group.flushes.isEmpty)
    #expect(group.packets().dropFirst().allSatisfy { !$0.startsRun })
  }

  @Test func `next, previous and a jump go to where an item was left`() {
    var group = Self.group(Self.plain, Self.left, Self.plain)
    #expect(shown(&group, after: .next) == [1, 4])
    #expect(shown(&group, after: .next) == [2, 0])
    #expect(shown(&group, after: .previous) == [1, 4])
    #expect(shown(&group, after: .jump(to: 0)) == [0, 0])
    #expect(shown(&group, after: .jump(to: 1)) == [1, 4])
  }

  @Test func `the item that plays begins anew, and a named place is that place`() {
    var group = Self.group(Self.plain, Self.left)
    #expect(shown(&group, after: .jump(to: 1, at: .zero)) == [1, 0])
    #expect(shown(&group, after: .jump(to: 1, at: .seconds(6))) == [1, 6])
    #expect(shown(&group, after: .jump(to: 1)) == [1, 0])
    #expect(shown(&group, after: .seek(to: .seconds(5))) == [1, 5])
    #expect(shown(&group, after: .seek(to: .zero)) == [1, 0])
    #expect(shown(&group, after: .seek(to: .seconds(5))) == [1, 5])
    #expect(shown(&group, after: .previous) == [1, 0])
    group.command(.edit(.setRepetition(.all)))
    group.command(.edit(.remove([0])))
    #expect(shown(&group, after: .seek(to: .seconds(5))) == [1, 5])
    #expect(shown(&group, after: .next) == [1, 0])
  }

  @Test func `a group that is stopped and plays again before that is heard goes on`() {
    var group = Self.group(Self.left)
    group.command(.halt)
    #expect(shown(&group, after: .jump(to: 0)) == [0, 4])
  }

  @Test func `an item that repeats begins anew`() {
    var group = Self.group(Self.left, repeats: .one)
    #expect(shown(group) == [0, 4])
    group.advance(by: .seconds(6))
    #expect(shown(group) == [0, 0])
    group = Self.group(Self.left, Self.short, repeats: .all)
    group.advance(by: .seconds(6))
    #expect(shown(group) == [1, 0])
    group.advance(by: .seconds(1))
    #expect(shown(group) == [0, 0])
    // Another entry with the same item follows while it is still heard.
    group = Self.group(Self.left, Self.left)
    group.advance(by: .seconds(6))
    #expect(shown(group) == [1, 0])
  }

  @Test func `an item that is shorter than its place begins anew`() {
    var group = TestGroup([Self.plain, Self.left], keptPlace: { _ in .seconds(10) })
    group.joinReady()
    group.advance(by: .milliseconds(500))
    #expect(shown(&group, after: .next) == [1, 0])
  }

  @Test func `steps from a place that is not known yet lead on from there`() {
    var group = Self.group(Self.plain, Self.left)
    group.producesAtOnce = false
    group.command(.next)
    group.advance(by: .milliseconds(10))
    group.command(.seekBy(.zero - .seconds(1)))
    group.command(.seekBy(.seconds(2)))
    group.advance(by: .milliseconds(500))
    group.produce()
    group.producesAtOnce = true
    group.advance(by: .milliseconds(800))
    #expect(shown(group) == [1, 6])
  }

  @Test func `an item whose turn an edit brings begins where it was left`() {
    var group = Self.group(Self.plain, Self.plain, Self.left)
    group.command(.edit(.move(2, .after(0))))
    group.advance(by: .seconds(20))
    #expect(shown(group) == [2, 4])
    group = Self.group(Self.plain, Self.left)
    #expect(shown(&group, after: .edit(.remove([0]))) == [1, 4])
    group = Self.group(Self.short)
    group.command(.edit(.insert([PlaylistEntry(Self.left)], .end)))
    group.advance(by: .seconds(1))
    #expect(shown(group) == [1, 4])
  }

  @Test func `what changes while it is opened leaves the place, and choosing it twice too`() {
    var group = Self.group(Self.plain, Self.left, Self.left, plays: false)
    group.joinReady()
    group.producesAtOnce = false
    group.command(.jump(to: 1))
    group.advance(by: .milliseconds(10))
    #expect(group.session.status(at: group.now).resumes)
    group.command(.jump(to: 1))
    var effects = Effects()
    effects.crossfade = 1
    group.command(.effects(effects))
    group.advance(by: .milliseconds(500))
    group.produce()
    group.producesAtOnce = true
    group.advance(by: .milliseconds(800))
    #expect(shown(group) == [1, 4])
    #expect(!group.session.status(at: group.now).resumes)
  }

  @Test func `an item that cannot be sought begins at its beginning`() {
    var group = TestGroup(
      [Self.left],
      openSource: { _ throws(MediaError) in
        TestSource(rate: 8_000, channels: 1, length: 80_000, isSeekable: false)
      }, keptPlace: Self.place)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    #expect(shown(group) == [0, 0])
  }
}
