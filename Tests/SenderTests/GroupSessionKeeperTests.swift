import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of the record from which another process goes on with a stream. Were it wrong, rooms would
/// fall silent or jump after a crash; were it late, they would play on with what somebody has left.
@Suite struct GroupSessionKeeperTests {
  private static func place(_ count: Int64) -> MediaTime { .zero + .milliseconds(count) }

  // MARK: - When it is told anew

  private static func mark(generation: UInt32 = 0) -> StreamKeeper.Mark {
    .init(
      state: .playing,
      anchor: Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 0), rate: .playing),
      generation: generation, clockLead: .zero, segments: 1, first: .zero, last: .zero)
  }

  /// A keeper that has told up to where all rooms hold audio, and up to where one of them does. In
  /// milliseconds.
  private static func told(all: Int64, one: Int64) -> StreamKeeper {
    var keeper = StreamKeeper()
    keeper.hear(.init(all: place(all), one: place(one)))
    _ = keeper.isDue(mark(), playhead: .zero)
    return keeper
  }

  /// True if it tells anew what the rooms hold now.
  private static func tells(
    all: Int64, one: Int64, after before: StreamKeeper, at playhead: Int64 = 0
  ) -> Bool {
    var keeper = before
    keeper.hear(.init(all: place(all), one: place(one)))
    return keeper.isDue(mark(), playhead: place(playhead))
  }

  @Test func `rooms that hold little are told of by the second`() {
    let keeper = Self.told(all: 20_000, one: 40_000)
    #expect(!Self.tells(all: 20_000, one: 40_000, after: keeper))
    #expect(!Self.tells(all: 20_999, one: 40_999, after: keeper))
    #expect(Self.tells(all: 21_000, one: 40_000, after: keeper))
    #expect(Self.tells(all: 20_000, one: 41_000, after: keeper))
  }

  @Test func `rooms that hold half a minute or more are told of every fifteen seconds`() {
    let keeper = Self.told(all: 30_000, one: 60_000)
    #expect(!Self.tells(all: 44_999, one: 74_999, after: keeper))
    #expect(Self.tells(all: 45_000, one: 60_000, after: keeper))
    #expect(Self.tells(all: 30_000, one: 75_000, after: keeper))
    // A moment later they hold less than half a minute.
    #expect(Self.tells(all: 31_000, one: 60_000, after: keeper, at: 1))
  }

  @Test func `rooms that hold less than was told are told of at once`() {
    let keeper = Self.told(all: 30_000, one: 60_000)
    #expect(!Self.tells(all: 30_000, one: 60_000, after: keeper))
    #expect(Self.tells(all: 29_999, one: 60_000, after: keeper))
    #expect(Self.tells(all: 30_000, one: 59_999, after: keeper))
  }

  @Test func `nothing is told before the stream begins, and once when it is over`() {
    var keeper = StreamKeeper()
    keeper.hear(.init(all: Self.place(1_000), one: Self.place(1_000)))
    var isTold = keeper.isDue(nil, playhead: .zero)
    #expect(!isTold)
    isTold = keeper.isDue(Self.mark(), playhead: .zero)
    #expect(isTold)
    for isExpected in [true, false] {
      isTold = keeper.isDue(nil, playhead: .zero)
      #expect(isTold == isExpected)
    }
  }

  @Test func `a change of the stream is told at once, and the first word of the rooms`() {
    var keeper = StreamKeeper()
    for generation in [0, 1] as [UInt32] {
      let isTold = keeper.isDue(Self.mark(generation: generation), playhead: .zero)
      #expect(isTold)
    }
    keeper.hear(.init(all: Self.place(1_000), one: Self.place(1_000)))
    for isExpected in [true, false] {
      let isTold = keeper.isDue(Self.mark(generation: 1), playhead: .zero)
      #expect(isTold == isExpected)
    }
  }

  @Test func `the last word of the rooms counts while none is there, up to a cut`() {
    var keeper = Self.told(all: 20_000, one: 40_000)
    keeper.hear(nil)
    let (first, last) = (Self.place(20_000), Self.place(40_000))
    #expect(keeper.held == StreamKeeper.Held(all: first, one: last))
    let cut = Self.place(30_000)
    keeper.cut(from: cut, at: LocalTime(nanoseconds: 0))
    #expect(keeper.held == StreamKeeper.Held(all: first, one: cut))
  }

  @Test func `a status counts once the room has come, and has heard of the last cut`() {
    let began = LocalTime(nanoseconds: 5_000_000_000)
    let second = Nanoseconds.seconds(1)
    let cuts: [LocalTime?] = [nil, began - second, began + second]
    var keeper = StreamKeeper()
    for cut in cuts {
      if let cut { keeper.cut(from: .zero, at: cut) }
      let first = max(began, cut ?? began) + Nanoseconds.milliseconds(250)
      for (time, isExpected) in [(first, true), (first - Nanoseconds(1), false)] {
        var room = ConnectedRoom(
          RoomLink.Line(peer: .test(TestGroup.room), session: 1), welcome: .test(), at: began)
        room.told(RoomStatus.test(.playing), at: time)
        #expect(keeper.counts(room) == isExpected)
      }
    }
  }

  // MARK: - What it says

  @Test func `the record says how the stream runs, and what the rooms hold`() throws {
    var group = SuccessionGroup.playing(rooms: 2)
    group.report(holding: Self.place(8_000))
    group.report(holding: Self.place(21_000), in: TestGroup.other)
    let record = try #require(group.record)
    #expect(record.state == .playing && record.clockID == 77 && record.generation == 0)
    #expect(record.nextSequence == group.session.store.nextSequence)
    #expect(record.anchors == Array(group.session.timeline.anchors))
    #expect(record.cuts.isEmpty && record.end == nil && record.beginning == nil)
    #expect(record.heldByAll == Self.place(8_000))
    #expect(record.heldByOne == Self.place(21_000))
    #expect(record.segments.map(\.start) == [.zero])
    #expect(record.segments.map(\.entry) == [0])
    #expect(record.segments.map(\.description.title) == ["Ramp"])
  }

  @Test func `only a group that is kept tells a record, and nothing twice`() {
    var group = SuccessionGroup.playing(isKept: false)
    group.report(holding: Self.place(21_000))
    #expect(group.records.isEmpty)
    group = SuccessionGroup.playing()
    #expect(group.records.count == 1)
    group.report(holding: Self.place(21_000))
    #expect(group.records.count == 2)
    group.report(holding: Self.place(21_000))
    group.advance(by: .milliseconds(500))
    #expect(group.records.count == 2)
  }

  @Test func `a pause and its end are told at once`() {
    var group = SuccessionGroup.playing()
    group.report(holding: Self.place(21_000))
    group.command(.pause)
    #expect(group.record?.state == .paused)
    group.advance(by: .milliseconds(500))
    group.command(.resume)
    #expect(group.record?.state == .playing)
  }

  @Test func `a room that runs dry before a successor can fill it is left out`() {
    var group = SuccessionGroup.playing(rooms: 2)
    let (much, little) = (group.here + .seconds(20), group.here + .seconds(2))
    group.report(holding: much)
    group.report(holding: little, in: TestGroup.other)
    #expect(group.record?.heldByAll == much)
    let more = little + MediaDuration(flicks: 1)
    group.report(holding: more, in: TestGroup.other)
    #expect(group.record?.heldByAll == more)
    #expect(group.record?.heldByOne == much)
  }

  @Test func `a room that has played all that it held does not count`() {
    var group = SuccessionGroup.playing(rooms: 2)
    let little = group.here + .seconds(1)
    group.report(holding: little)
    group.report(holding: group.here, in: TestGroup.other)
    #expect(group.record?.heldByAll == little)
  }

  @Test(arguments: [64, 65])
  func `of more than 64 items the stream counts as produced up to the first that is left out`(
    count: Int
  ) throws {
    var group = SuccessionGroup.playing(
      Array(repeating: "8000x1:3200", count: count), until: Self.place(300))
    group.report(holding: Self.place(30_000))
    let record = try #require(group.record)
    #expect(record.segments.count == 64)
    #expect(record.heldByAll == Self.place(25_600))
    #expect(record.heldByOne == Self.place(25_600))
    let end: MediaTime? = count == 64 ? Self.place(25_600) : nil
    #expect(record.end == end)
  }

  @Test(
    arguments: [
      (true, .stored, true), (true, .fetched, true), (true, .piped, false),
      (false, .stored, false),
    ] as [(Bool, Supply, Bool)])
  func `only what another process can read from its middle counts as seekable`(
    isSeekable: Bool, supply: Supply, isExpected: Bool
  ) throws {
    let group = SuccessionGroup.playing(["item"]) { _ in
      TestSource(
        rate: 8_000, channels: 1, length: 80_000, isSeekable: isSeekable, supply: supply)
    }
    let record = try #require(group.record)
    #expect(record.segments.map(\.isSeekable) == [isExpected])
  }
}
