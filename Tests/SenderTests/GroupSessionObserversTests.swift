import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of the events about items, and of their times.
@Suite struct GroupSessionObserversTests {
  private static let twoItems = ["8000x1:16000", "8000x1:16000"]

  private func positions(_ group: TestGroup) -> [MediaDuration] {
    group.events.compactMap { if case .position(_, let place) = $0 { place } else { nil } }
  }

  private func ends(_ group: TestGroup) -> [Int] {
    group.events.compactMap { if case .itemEnded(let item) = $0 { item.id } else { nil } }
  }

  private func starts(_ group: TestGroup) -> [Int] {
    group.events.compactMap { if case .itemStarted(let item) = $0 { item.item.id } else { nil } }
  }

  // MARK: - The beginning

  @Test func `an item begins where it is chosen, and not where somebody seeks in it`() {
    var group = TestGroup.playing(Self.twoItems)
    func begun(_ command: PlayerCommand) -> [Int] {
      group.take()
      group.command(command)
      group.advance(by: .milliseconds(400))
      return starts(group)
    }
    #expect(begun(.seek(to: .seconds(1))) == [])
    // The same item from its first frame, and another one from its middle.
    #expect(begun(.jump(to: 0, at: .zero)) == [0])
    #expect(begun(.jump(to: 1, at: .seconds(1))) == [1])
    #expect(begun(.jump(to: 1, at: .milliseconds(500))) == [])
  }

  // MARK: - The position

  @Test func `the position is told ten times a second, if that is asked for`() throws {
    var group = TestGroup.playing()
    group.advance(by: .seconds(1))
    #expect(positions(group).isEmpty)
    let start = group.session.position(at: group.now)
    group.command(.observePosition(every: .milliseconds(100)))
    group.advance(by: .milliseconds(1050))
    let told = positions(group)
    #expect(told.count == 11)
    for (number, place) in told.enumerated() {
      let due = start + .milliseconds(Int64(number) * 100)
      #expect(place >= due && place < due + .milliseconds(1), "\(number): \(place.seconds) s")
    }
    #expect(
      group.events.allSatisfy { if case .position(let item, _) = $0 { item.id == 0 } else { true } }
    )
    group.command(.observePosition(every: nil))
    group.take()
    group.advance(by: .seconds(1))
    #expect(positions(group).isEmpty)
  }

  @Test func `time does not run from the place of a seek while the old sound lasts`() throws {
    var group = TestGroup.playing()
    group.advance(by: .seconds(1))
    group.command(.seek(to: .seconds(7)))
    let cut = try #require(group.session.timeline.cuts.last).from
    let begins = LocalTime(onSender: try #require(group.session.timeline.groupTime(of: cut)))
    let early = group.session.playhead(at: begins - .microseconds(50))
    #expect(!early.isMoving || early.position < .seconds(2), "\(early)")
    let there = group.session.playhead(at: begins + .milliseconds(1))
    #expect(there.isMoving && abs(there.position.seconds - 7) < 0.01, "\(there)")
  }

  @Test func `nobody is told where it stands still, before the start and in a pause`() throws {
    var group = TestGroup()
    group.command(.observePosition(every: .milliseconds(100)))
    group.advance(by: .seconds(1))
    #expect(positions(group).isEmpty)
    group.joinReady()
    group.advance(by: .milliseconds(500))
    #expect(try #require(positions(group).first) < .milliseconds(1))
    group.command(.pause)
    group.advance(by: .milliseconds(100))
    group.take()
    group.advance(by: .seconds(1))
    #expect(positions(group).isEmpty)
    let still = group.session.position(at: group.now)
    group.command(.resume)
    group.advance(by: .milliseconds(250))
    let told = positions(group)
    #expect((2...3).contains(told.count))
    #expect(try #require(told.first) - still < .milliseconds(1))
  }

  @Test func `the position is told of the item that sounds, and follows a seek`() throws {
    var group = TestGroup.playing(Self.twoItems)
    group.command(.observePosition(every: .milliseconds(100)))
    group.advance(by: .seconds(2))
    let items = group.events.compactMap {
      if case .position(let item, _) = $0 { item.id } else { nil }
    }
    #expect(Set(items) == [0, 1])
    #expect(items == items.sorted())
    group.take()
    group.command(.seek(to: .milliseconds(1500)))
    group.advance(by: .milliseconds(300))
    #expect(try #require(positions(group).last) >= .milliseconds(1500))
  }

  @Test func `nobody is told more often than a hundred times a second`() {
    var group = TestGroup.playing()
    group.command(.observePosition(every: .zero))
    group.advance(by: .seconds(1))
    #expect((95...102).contains(positions(group).count))
  }

  // MARK: - The end of an item

  @Test func `the last item ends with its last frame, and the group after it`() {
    var group = TestGroup.playing(Self.twoItems)
    group.advance(by: .milliseconds(3_400))
    #expect(ends(group) == [0])
    group.advance(by: .milliseconds(300))
    #expect(ends(group) == [0, 1])
    #expect(
      group.events.suffix(2) == [
        .itemEnded(PlayItem(id: 1, location: Self.twoItems[1])), .finished,
      ])
  }

  @Test func `at the end of a list that may go on, the item has ended before all is still`() {
    var group = TestGroup(["8000x1:8000"], endsWithPlaylist: false)
    group.joinReady()
    group.advance(by: .milliseconds(900))
    #expect(ends(group).isEmpty)
    group.advance(by: .milliseconds(300))
    let first = PlayItem(id: 0, location: "8000x1:8000")
    #expect(group.events.suffix(2) == [.itemEnded(first), .stopped])
    group.take()
    group.command(.edit(.insert(["8000x1:8000"], .end)))
    group.say(.status(.test(.ready)))
    group.advance(by: .milliseconds(1_500))
    // Each end is reported once.
    #expect(ends(group) == [1])
    #expect(group.events.last == .stopped)
  }

  @Test func `what is skipped, stopped or taken from the list has not ended`() {
    var skipped = TestGroup.playing(Self.twoItems)
    skipped.command(.next)
    skipped.advance(by: .milliseconds(500))
    #expect(ends(skipped).isEmpty)
    skipped.command(.stop)
    skipped.advance(by: .seconds(1))
    #expect(ends(skipped).isEmpty)
    #expect(skipped.events.last == .finished)

    var removed = TestGroup(["8000x1:16000"], endsWithPlaylist: false)
    removed.joinReady()
    removed.advance(by: .milliseconds(500))
    removed.command(.edit(.clear))
    removed.advance(by: .seconds(1))
    #expect(ends(removed).isEmpty)
    #expect(removed.events.last == .stopped)
  }
}

// MARK: - What cannot be done

/// Tests that a seek in an item that cannot seek changes nothing, and is refused.
@Suite struct RefusedSeekTests {
  private static let item = PlayItem(id: 0, location: "live")

  private static func playing() -> TestGroup {
    var group = TestGroup(["live"]) { _ in
      TestSource(rate: 8000, channels: 1, length: 80_000, isSeekable: false)
    }
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.take()
    return group
  }

  @Test(arguments: [
    PlayerCommand.seek(to: .seconds(7)), .seek(to: .zero), .seekBy(.seconds(1)),
    .seekBy(.seconds(-100)),
  ])
  func `a seek where there are no places is refused, and nothing else happens`(
    command: PlayerCommand
  ) {
    var group = Self.playing()
    var other = group
    #expect(group.command(command) == .failure(.notSeekable(Self.item)))
    #expect(group.events.isEmpty)
    #expect(group.told().isEmpty)
    #expect(group.orders.isEmpty)
    group.take()
    for _ in 0..<20 {
      group.advance(by: .milliseconds(100))
      other.advance(by: .milliseconds(100))
    }
    #expect(group.outputs == other.outputs)
    #expect(group.session.position(at: group.now) == other.session.position(at: other.now))
  }

  @Test func `a pause stays a pause when a seek is refused`() {
    var group = Self.playing()
    group.command(.pause)
    group.advance(by: .milliseconds(200))
    group.take()
    let still = group.session.position(at: group.now)
    #expect(group.command(.seek(to: .seconds(3))) == .failure(.notSeekable(Self.item)))
    group.advance(by: .seconds(1))
    #expect(group.events.isEmpty)
    #expect(group.anchors.isEmpty)
    #expect(group.flushes.isEmpty)
    group.command(.resume)
    group.advance(by: .milliseconds(200))
    #expect(group.session.position(at: group.now) > still)
  }
}
