import Clock
import Testing

@testable import Sender
@testable import Tutti

@Suite struct TimeObserversTests {
  private var observers = TimeObservers()
  private let start = LocalTime(nanoseconds: 1_000_000_000)

  /// Returns the events if the position has these values at these milliseconds, one after the
  /// other.
  private mutating func told(
    _ wish: TimeObservers.Wish, at readings: [(position: Int64, milliseconds: Int64)]
  ) async -> [Int64] {
    let (stream, listener) = AsyncStream.makeStream(of: PlaybackTime.self)
    observers.add(1, wish, .times(listener))
    for (position, milliseconds) in readings { read(position, at: milliseconds) }
    observers.finish()
    return await milliseconds(stream)
  }

  private mutating func read(_ position: Int64, at milliseconds: Int64, isMoving: Bool = true) {
    read(.milliseconds(position), at: milliseconds, isMoving: isMoving)
  }

  private mutating func read(
    _ position: MediaDuration, at milliseconds: Int64, isMoving: Bool = true
  ) {
    let playhead = Playhead(
      item: PlayItem(id: 0, location: "x"), position: position, isMoving: isMoving)
    let (start, now) = (start, start + .milliseconds(milliseconds))
    observers.advance(to: playhead, at: now) { place in
      start + Nanoseconds(place)
    }
  }

  private func milliseconds(_ told: AsyncStream<PlaybackTime>) async -> [Int64] {
    await told.reduce(into: []) { $0.append($1.flicks / 705_600) }
  }

  private static func places(_ milliseconds: Int64...) -> TimeObservers.Wish {
    .places(milliseconds.map { PlaybackTime(.milliseconds($0)) })
  }

  @Test mutating func `a place is told once, when it has sounded`() async {
    let told = await told(
      Self.places(10, 20, 30), at: [(0, 0), (9, 9), (10, 10), (11, 11), (35, 35), (36, 36)])
    #expect(told == [10, 20, 30])
  }

  @Test mutating func `places that are jumped over are not told, but one that is landed on is`()
    async
  {
    let told = await told(
      Self.places(10, 20, 500), at: [(0, 0), (500, 1), (5, 2), (10, 7), (400, 8)])
    #expect(told == [500, 10])
  }

  @Test mutating func `ticks say whether time has jumped`() async {
    let (stream, listener) = TimeObservers.tickStream()
    observers.add(1, .every(PlaybackTime(.milliseconds(100)).flicks), listener)
    for (position, milliseconds): (Int64, Int64) in [(0, 0), (100, 100), (20, 101), (110, 191)] {
      read(position, at: milliseconds)
    }
    observers.finish()
    let jumps = await stream.reduce(into: []) { $0.append($1.hasJumped) }
    #expect(jumps == [true, false, true, false])
  }

  @Test mutating func `time is told at each step and at each jump`() async {
    let told = await told(
      .every(PlaybackTime(.milliseconds(100)).flicks),
      at: [(0, 0), (50, 50), (100, 100), (199, 199), (200, 200), (20, 201), (90, 271), (110, 291)])
    #expect(told == [0, 100, 200, 20, 110])
  }

  @Test(arguments: [TimeObservers.Wish.times(every: .milliseconds(100)), places(60, 500)])
  mutating func `a place where time stands is told once it runs from there`(
    wish: TimeObservers.Wish
  ) async {
    let (stream, listener) = TimeObservers.stream()
    observers.add(1, wish, listener)
    read(60, at: 0, isMoving: false)
    #expect(observers.deadline == start + .milliseconds(60) + Nanoseconds(1))
    read(60, at: 40, isMoving: false)
    read(.milliseconds(60) + .init(flicks: 7), at: 60)
    // The position stands still and then runs on. Then it jumps, also after having stood there for
    // long.
    read(70, at: 70, isMoving: false)
    read(70, at: 80)
    read(500, at: 90, isMoving: false)
    read(500, at: 900, isMoving: false)
    read(.milliseconds(500) + .init(flicks: 7), at: 901)
    read(501, at: 902, isMoving: false)
    let (late, lateListener) = TimeObservers.stream()
    observers.add(2, .times(every: .milliseconds(100)), lateListener)
    read(501, at: 903, isMoving: false)
    observers.finish()
    let told = await milliseconds(stream)
    #expect(told == [60, 500])
    for await time in late { Issue.record("\(time) is told while time stands") }
  }

  @Test mutating func `an observer is told nothing before its beginning`() async {
    let (before, beforeListener) = TimeObservers.stream()
    observers.add(1, Self.places(640, 700), beforeListener)
    let (after, afterListener) = TimeObservers.stream()
    let beginning = start + .milliseconds(60)
    observers.add(2, Self.places(400, 640, 700), afterListener, from: beginning)
    read(620, at: 10)
    #expect(observers.deadline == beginning)
    read(640, at: 20)
    read(660, at: 59)
    // Time stands where the next sound begins, and then runs.
    read(400, at: 60, isMoving: false)
    read(.milliseconds(400) + .init(flicks: 7), at: 80)
    read(650, at: 330)
    observers.finish()
    #expect(await milliseconds(before) == [640, 640])
    #expect(await milliseconds(after) == [400, 640])
  }

  @Test mutating func `an observer added while time stands is told where it goes on`() async {
    read(60, at: 0)
    let (stream, listener) = TimeObservers.stream()
    observers.add(1, Self.places(60, 61), listener)
    read(60, at: 1, isMoving: false)
    read(61, at: 2, isMoving: false)
    read(.milliseconds(61) + .init(flicks: 7), at: 3)
    observers.finish()
    #expect(await milliseconds(stream) == [61])
  }

  @Test mutating func `a place a frame before a step is told for that step`() async {
    let (stream, listener) = TimeObservers.stream()
    observers.add(1, .times(every: .milliseconds(100)), listener)
    let frame = MediaDuration(frames: 1, at: 48_000)
    read(.milliseconds(60_000) - frame, at: 0)
    for millisecond in Int64(0)...100 { read(60_000 + millisecond, at: millisecond + 1) }
    observers.finish()
    let told = await milliseconds(stream)
    #expect(told == [59_999, 60_100])
  }

  @Test mutating func `it wants to be woken when the next place sounds`() {
    let (_, listener) = AsyncStream.makeStream(of: PlaybackTime.self)
    observers.add(1, Self.places(10, 20), .times(listener))
    read(12, at: 12)
    #expect(observers.deadline == start + .milliseconds(20) + Nanoseconds(1))
    read(20, at: 20)
    #expect(observers.deadline == nil)
    observers.remove(1)
    #expect(observers.isEmpty)
  }

  @Test mutating func `an observer that takes nothing loses the oldest`() async {
    let (stream, listener) = TimeObservers.stream()
    observers.add(1, .every(PlaybackTime(.milliseconds(1)).flicks), listener)
    let count = Int64(TimeObservers.untakenLimit) + 10
    for millisecond in 0..<count { read(millisecond, at: millisecond) }
    observers.finish()
    let told = await milliseconds(stream)
    #expect(told == Array(10..<count))
  }
}
