import TestSupport
import Testing
import Tutti

/// A queue player's list, and what is heard of it in a room of this program.
@Suite(.timeLimit(.minutes(2))) struct QueuePlayerListTests {
  private typealias Item = SampleQueuePlayer.Item
  /// A level that was heard, in sixteenths of full scale, since when, and for how many frames.
  private typealias Run = (level: Int, from: HostTime, frames: Int)

  private static var settings: OutputSettings {
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    return settings
  }

  private static func player(in rooms: [Room] = []) async throws -> SampleQueuePlayer {
    try await SampleQueuePlayer(rooms: rooms, settings: settings)
  }

  private static func item(_ level: Int, seconds: Double) -> Item {
    Item(.custom("level \(level)") { MadeSound(seconds: seconds) { _ in Float(level) / 16 } })
  }

  /// The levels in the order in which they were heard, without fades and silence.
  private static func runs(_ frames: [(time: HostTime, level: Float)]) -> [Run] {
    var runs: [Run] = []
    for frame in frames {
      let level = (frame.level * 16).rounded()
      guard level > 0, abs(frame.level * 16 - level) < 0.02 else { continue }
      if runs.last?.level == Int(level) {
        runs[runs.count - 1].frames += 1
      } else {
        runs.append((Int(level), frame.time, 1))
      }
    }
    return runs.filter { $0.frames > 480 }
  }

  private static func wait(
    for event: SampleQueuePlayer.Event, of player: SampleQueuePlayer
  ) async throws {
    _ = try await player.events.first { $0 == event }
  }

  // MARK: - The list

  @Test func `two items of one file are two, and an edit finds the one that is meant`()
    async throws
  {
    let player = try await Self.player()
    let media = Media.file("/music/a.flac")
    let (one, other) = (Item(media), Item(media))
    try await player.insert([one, other])
    try await player.move(other.id, to: 0)
    #expect(await player.items.map(\.id) == [other.id, one.id])
    try await player.remove([other.id])
    #expect(await player.items.map(\.id) == [one.id])
    await player.close()
  }

  @Test func `edits from many tasks at once are all made, and heard once each`() async throws {
    let ear = Ear()
    let player = try await Self.player(in: [ear.room])
    let first = Self.item(1, seconds: 5)
    let more = (2...9).map { Self.item($0, seconds: 0.3) }
    try await player.insert([first])
    try await player.play()
    try await Self.wait(for: .itemStarted(first.id), of: player)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for item in more { group.addTask { try await player.insert([item], at: 1) } }
      try await group.waitForAll()
    }
    let order = await player.items.dropFirst().compactMap { item in
      more.firstIndex { $0.id == item.id }.map { $0 + 2 }
    }
    #expect(order.sorted() == Array(2...9))
    try await Self.wait(for: .stopped, of: player)
    await player.close()
    let runs = Self.runs(ear.frames)
    #expect(runs.map(\.level) == [1] + order)
    for run in runs.dropFirst() { #expect(abs(run.frames - 14_400) < 240, "\(run)") }
  }

  @Test func `what is enqueued whole is let go long before it has sounded`() async throws {
    final class Watched: SampleSource {
      let format = PCMFormat.stereo48k
      let frameCount: Int64? = 48_000
      private let sound = MadeSound(seconds: 1) { _ in 0 }
      private let listener: AsyncStream<Void>.Continuation

      init(_ listener: AsyncStream<Void>.Continuation) { self.listener = listener }
      deinit { listener.yield() }
      func read(_ count: Int, appendingTo frames: inout [Float]) {
        sound.read(count, appendingTo: &frames)
      }
      func seek(toFrame frame: Int64) { sound.seek(toFrame: frame) }
    }
    let (gone, listener) = AsyncStream.makeStream(of: Void.self)
    let player = try await Self.player()
    try await player.insert([.init(.custom("watched") { Watched(listener) })])
    // Without a room nothing ever sounds.
    let playing = Task { try await player.play() }
    _ = try await gone.first { _ in true }
    #expect(await player.currentIndex == 0)
    await player.close()
    _ = await playing.result
  }

  // MARK: - Starts and ends

  @Test func `a start at an item and a position is heard from its frame on, and ends all before`()
    async throws
  {
    let ear = Ear()
    let player = try await Self.player(in: [ear.room])
    let slope: Float = 1e-2
    let scale = Item(
      .custom("scale") { MadeSound(seconds: 60) { Float($0) / 48_000 * slope } })
    let items = [Self.item(1, seconds: 60), scale]
    try await player.insert(items)
    try await player.play()
    try await Self.wait(for: .itemStarted(items[0].id), of: player)
    try await player.play(at: 1, from: .seconds(30))
    try await Self.wait(for: .itemStarted(scale.id), of: player)
    #expect(await player.currentIndex == 1)
    #expect(await player.position >= .seconds(30))
    await ear.listen(until: .now + .milliseconds(300))
    await player.close()

    let frames = ear.frames
    let begin = try #require(frames.firstIndex { $0.level > 0.2 })
    #expect(frames[..<begin].contains { abs($0.level - 1.0 / 16) < 1e-4 })
    // Only the fades at its beginning and its end pass through the level of the other item.
    #expect(frames[begin...].count { abs($0.level - 1.0 / 16) < 1e-3 } < 100)
    // Behind the fade.
    let place = frames[begin + 2_400].level / slope
    #expect(abs(place - 30.05) < 0.01, "\(place)")
  }

  @Test func `an index beyond the list, and a list that is emptied, end the sound`() async throws {
    let ear = Ear()
    let player = try await Self.player(in: [ear.room])
    let items = [Self.item(1, seconds: 60), Self.item(2, seconds: 60)]
    try await player.insert(items)
    try await player.play()
    try await Self.wait(for: .itemStarted(items[0].id), of: player)
    try await player.play(at: 2)
    try await Self.wait(for: .stopped, of: player)
    #expect(await player.currentIndex == nil)
    #expect(await player.items.count == 2)
    try await player.play(at: 1)
    try await Self.wait(for: .itemStarted(items[1].id), of: player)
    try await player.remove(Set(items.map(\.id)))
    try await Self.wait(for: .stopped, of: player)
    #expect(await player.currentIndex == nil)
    let later = HostTime.now + .seconds(1)
    await ear.listen(until: later)
    await player.close()
    let frames = ear.frames
    #expect(Self.runs(frames).map(\.level) == [1, 2])
    #expect(frames.allSatisfy { $0.time < later - .milliseconds(300) || abs($0.level) < 1e-5 })
  }

  @Test func `an item is said to have begun once its first frame sounds`() async throws {
    let ear = Ear()
    let player = try await Self.player(in: [ear.room])
    let items = (1...3).map { Self.item($0, seconds: 1) }
    try await player.insert(items)
    let playing = Task { try await player.play() }
    var told: [HostTime] = []
    for await event in player.events {
      if case .itemStarted(let id) = event, told.count < 3, id == items[told.count].id {
        told.append(.now)
      }
      if event == .stopped { break }
    }
    try await playing.value
    await player.close()
    let runs = Self.runs(ear.frames)
    try #require(runs.map(\.level) == [1, 2, 3] && told.count == 3)
    for (run, told) in zip(runs, told) {
      // A room that was connected a moment ago is off by milliseconds.
      #expect(told > run.from - .milliseconds(10), "\(run)")
    }
  }
}
