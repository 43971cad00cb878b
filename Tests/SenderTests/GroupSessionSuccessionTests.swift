import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of a process that goes on with the stream of one that has ended. People hear a hole or a
/// jump if the seam lies where a room holds nothing, or if a number is used twice.
@Suite struct GroupSessionSuccessionTests {
  private static func place(_ count: Int64) -> MediaTime { .zero + .milliseconds(count) }

  /// A process has played for a second, and has ended. All rooms hold audio up to `all`, and one of
  /// them up to 50 s. In milliseconds.
  private static func ended(all: Int64 = 50_000) -> SuccessionGroup {
    var group = SuccessionGroup.playing(rooms: 2)
    group.report(holding: place(all))
    group.report(holding: place(50_000), in: TestGroup.other)
    return group
  }

  // MARK: - The seam

  /// Where all rooms hold audio, or ten seconds behind the earliest place; a second ahead at least.
  @Test(
    arguments: [
      (8_000, 455, 8_000), (8_030, 455, 8_000), (50_000, 455, 12_440), (3_100, 1_455, 3_480),
    ] as [(Int64, Int64, Int64)])
  func `the seam lies where all rooms hold audio, if that is neither too soon nor too late`(
    all: Int64, span: Int64, seam: Int64
  ) throws {
    var group = try Self.ended(all: all).successor(after: .milliseconds(span))
    let begun = try #require(group.beginnings.first)
    #expect(begun.item.id == 0 && !begun.continues && begun.isRecoding)
    #expect(begun.mediaTime == Self.place(seam))
    #expect(begun.position == .milliseconds(seam))
    group.comeBack(holding: Self.place(50_000))
    let flush = try #require(group.flushes.first)
    #expect(group.flushes.count == 1)
    #expect(flush.from == Self.place(seam) && !flush.isRamped)
  }

  @Test func `packets, generations and pictures have numbers that were not used before`() throws {
    let before = Self.ended()
    let record = try #require(before.record)
    var group = try before.successor(after: .milliseconds(455))
    group.comeBack(holding: Self.place(50_000))
    group.openMedia()
    group.advance(by: .milliseconds(10))
    let flush = try #require(group.flushes.first)
    let packet = try #require(group.packets().first)
    #expect(flush.generation == record.generation + 1_025)
    #expect(packet.generation == flush.generation)
    #expect(packet.sequence == record.nextSequence + 16_777_216)
    #expect(packet.mediaTime == flush.from)
    // The next process is told of these, and that the rooms hold nothing behind the seam yet.
    let told = try #require(group.record)
    #expect(told.generation == flush.generation && told.nextSequence >= packet.sequence)
    #expect(told.lastArtwork == record.lastArtwork + 1_024)
    #expect(told.heldByAll == flush.from)
    #expect(told.heldByOne == flush.from)
  }

  // MARK: - Items

  /// A stream that has begun at the first second of the clock: two items of ten seconds, of which
  /// the second begins at 8 s. The rooms hold nine seconds.
  private static func record() -> StreamRecord {
    var description = ItemDescription()
    description.duration = .seconds(10)
    let anchor = Anchor(
      mediaTime: .zero, groupTime: GroupTime(nanoseconds: 1_000_000_000), rate: .playing)
    return StreamRecord(
      state: .playing, clockID: 5, generation: 2, nextSequence: 500, heldByAll: place(9_000),
      heldByOne: place(9_000), anchors: [anchor],
      segments: [
        .init(start: .zero, entry: 0, position: .zero, description: description),
        .init(start: place(8_000), entry: 1, position: .zero, description: description),
      ])
  }

  private static func successor(
    after record: StreamRecord, crossfade: Double = 0
  ) throws -> SuccessionGroup {
    var effects = Effects()
    effects.crossfade = crossfade
    return try SuccessionGroup(
      after: record, in: Playlist(["8000x1:80000", "8000x1:80000"]), effects: effects,
      at: LocalTime(nanoseconds: 2_500_000_000))
  }

  @Test func `an item that fades out at the seam fades on`() throws {
    let group = try Self.successor(after: Self.record(), crossfade: 2)
    let begun = try #require(group.beginnings.first)
    #expect(begun.item.id == 1 && begun.position == .seconds(1))
    #expect(begun.mediaTime == Self.place(9_000))
    let fading = try #require(begun.fading)
    #expect(fading.item.id == 0 && fading.position == .seconds(9))
    #expect(fading.span == .seconds(1) && fading.elapsed == .seconds(1))
  }

  @Test func `an item that was being opened begins where it was to`() throws {
    var record = Self.record()
    record.segments.removeLast()
    record.beginning = .init(entry: 1, position: .seconds(3), start: Self.place(8_000))
    let group = try Self.successor(after: record, crossfade: 2)
    let begun = try #require(group.beginnings.first)
    #expect(begun.item.id == 1 && begun.position == .seconds(3))
    #expect(begun.mediaTime == Self.place(8_000) && begun.fading == nil)
  }

  @Test func `a stream of which all is in the rooms comes to its end, and nothing is read again`()
    throws
  {
    var record = Self.record()
    record.segments.removeLast()
    record.end = Self.place(2_000)
    (record.heldByAll, record.heldByOne) = (Self.place(2_000), Self.place(2_000))
    var group = try Self.successor(after: record)
    group.advance(by: .milliseconds(400))
    #expect(!group.session.isFinished)
    group.advance(by: .milliseconds(200))
    #expect(group.session.isFinished && group.beginnings.isEmpty)
  }

  // MARK: - A room that comes back late

  /// A room is told the seam up to 200 ms before it is too late for that; later, a packet 400 ms
  /// ahead of the first frame that it can still change.
  @Test(arguments: [(12_195, 12_440), (12_196, 12_660), (13_000, 13_460)] as [(Int64, Int64)])
  func `a room that comes back behind the seam goes on at a packet that it gets in time`(
    now: Int64, from: Int64
  ) throws {
    var group = try Self.ended().successor(after: .milliseconds(455))
    group.advance(to: Self.place(now))
    group.take()
    group.add(held: HeldStream(generation: 0, nextSequence: 100, from: group.here))
    let expected = Flush(from: Self.place(from), generation: 1_025, isRamped: false)
    #expect(group.flushes == [expected])
    group.openMedia()
    let packet = try #require(group.packets().first)
    #expect(packet.mediaTime == expected.from)
  }

  @Test func `a room that has heard of the seam is told nothing of it again`() throws {
    var group = try Self.ended().successor(after: .milliseconds(455))
    group.advance(to: Self.place(13_000))
    group.take()
    let next = group.session.store.sequence(at: Self.place(20_000))
    group.add(held: HeldStream(generation: 1_025, nextSequence: next, from: group.here))
    #expect(group.flushes.isEmpty)
  }

  @Test func `while the group is paused a room goes on at the seam itself`() throws {
    var group = try Self.ended().successor(after: .milliseconds(455))
    group.advance(to: Self.place(13_000))
    group.command(.pause)
    group.advance(by: .milliseconds(100))
    group.take()
    group.add(held: HeldStream(generation: 0, nextSequence: 100, from: group.here))
    #expect(group.flushes.map(\.from) == [Self.place(12_440)])
  }
}
