import Dispatch
import Synchronization
import TestSupport
import Testing
import Tutti

/// Commands of a player return when they are heard, and say since when.
@Suite(.timeLimit(.minutes(2))) struct PlayerOutcomeTests {
  /// The level of `scale` at a frame is so much of full scale for each second before it: it says where it is.
  private static let slope: Float = 1e-3

  private static func scale() -> MadeSound { MadeSound { Float($0) / 48_000 * slope } }

  /// An item whose second opening waits until it is let go.
  private final class SlowItem: Sendable {
    private let count = Mutex(0)
    private let gate = DispatchSemaphore(value: 0)
    private let opening: AsyncStream<Void>.Continuation
    /// A value when the second opening begins.
    let openings: AsyncStream<Void>

    init() { (openings, opening) = AsyncStream.makeStream() }

    func open() {
      let number = count.withLock { count in
        count += 1
        return count
      }
      guard number == 2 else { return }
      opening.yield()
      gate.wait()
    }

    func letGo() { gate.signal() }
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }

  private static func player(
    in room: Room, opening: @escaping @Sendable () -> Void = {}
  ) async throws -> Player {
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    let player = try await Player(rooms: [room], settings: settings)
    try await player.append([
      .custom("scale") {
        opening()
        return PlayerOutcomeTests.scale()
      }
    ])
    return player
  }

  /// The instant of a command that was heard, which has passed.
  private static func instant(_ outcome: Player.Outcome) throws -> HostTime {
    guard case .heard(let time) = outcome else { throw TestFailure(line: "\(outcome)") }
    #expect(time <= .now)
    return time
  }

  @Test func `a command returns when it is heard, and says since when`() async throws {
    let ear = Ear()
    let player = try await Self.player(in: ear.room)
    let item = try #require(try await player.items().first?.id)
    #expect(try await player.jump(to: item, at: .seconds(100)) == .silent)
    let began = try Self.instant(try await player.play())
    let sought = try Self.instant(try await player.seek(to: .seconds(300)))
    let changed = try Self.instant(try await player.setFilters([.treble(gain: 3)]))
    let ended = try Self.instant(try await player.pause())
    #expect(try await player.pause() == .heard(ended))
    #expect(try await player.seek(to: .seconds(400)) == .silent)
    let again = try Self.instant(try await player.play())
    let skipped = try Self.instant(try await player.next())
    await ear.listen(until: skipped + .milliseconds(300))
    #expect(try await player.play(within: .seconds(60)) != .pending)
    await player.close()

    #expect(changed > sought && ended > changed && again > ended)
    let frames = ear.frames
    func first(above level: Float, after time: HostTime) -> HostTime? {
      frames.first { $0.time >= time && abs($0.level) > level * PlayerOutcomeTests.slope }?.time
    }
    // A fade begins with less than anybody hears.
    for (told, heard) in [
      (began, first(above: 10, after: began - .seconds(1))),
      (sought, first(above: 150, after: began)),
      (again, first(above: 10, after: ended + .milliseconds(50))),
    ] {
      let heard = try #require(heard)
      #expect(abs((heard - told) / .milliseconds(1)) < 8, "\((heard - told) / .milliseconds(1)) ms")
    }
    let last = try #require(
      frames.last { $0.time < again && abs($0.level) > 10 * PlayerOutcomeTests.slope }?.time)
    #expect(abs((last - ended) / .milliseconds(1)) < 30)
  }

  @Test func `a command that a later one replaces says so, and one that is not heard in time`()
    async throws
  {
    let (ear, item) = (Ear(), SlowItem())
    let player = try await Self.player(in: ear.room) { item.open() }
    _ = try Self.instant(try await player.play())
    let first = Task { try await player.seek(to: .seconds(100)) }
    // It opens the item anew, and waits there.
    _ = try await item.openings.first { _ in true }
    let second = Task { try await player.seek(to: .seconds(200), within: .milliseconds(1)) }
    #expect(try await first.value == .superseded)
    #expect(try await second.value == .pending)
    let cancelled = Task { try await player.seek(to: .seconds(250)) }
    cancelled.cancel()
    await #expect(throws: TuttiError.cancelled) { try await cancelled.value }
    let third = Task { try await player.seek(to: .seconds(300)) }
    item.letGo()
    let heard = try Self.instant(try await third.value)
    await ear.listen(until: heard + .milliseconds(100))
    await player.close()
    await #expect(throws: TuttiError.closed) { try await player.play() }
    // A fade passes those levels.
    let skipped = ear.frames.count { abs($0.level - 0.1) < 0.004 || abs($0.level - 0.2) < 0.004 }
    #expect(skipped < 100)
    #expect(ear.frames.contains { abs($0.level - 0.3) < 0.001 })
  }

  @Test func `without rooms a start is pending, and a pause supersedes it`() async throws {
    var settings = OutputSettings()
    settings.identity = .temporary
    let player = try await Player(settings: settings)
    #expect(try await player.play() == .silent)
    #expect(try await player.pause() == .silent)
    try await player.append([.custom("scale") { Self.scale() }])
    #expect(try await player.play(within: .milliseconds(1)) == .pending)
    let isOver = Flag()
    let start = Task {
      defer { isOver.set() }
      return try await player.play(within: .seconds(60))
    }
    // A pause that comes before the start supersedes nothing, so there is another.
    while !isOver.isSet {
      try await player.pause()
      await Task.yield()
    }
    #expect(try await start.value == .superseded)
    await player.close()
  }
}
