import TestSupport
import Testing
import Tutti

/// The times that the library tells, compared with what a room of this program sounds then.
@Suite(.timeLimit(.minutes(2))) struct HeardTimesTests {
  /// A frame's level is so much of full scale for each second before it: it says where it is.
  private static let slope: Float = 1e-2

  private static var settings: OutputSettings {
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    return settings
  }

  private static func renderer(in room: Room) async throws -> (AudioRenderer, RenderSynchronizer) {
    let renderer = try await AudioRenderer(rooms: [room], settings: settings)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    return (renderer, synchronizer)
  }

  /// Enqueues half a minute.
  private static func feedScale(
    _ renderer: AudioRenderer, from start: PlaybackTime
  ) -> Task<Void, any Error> {
    Task {
      try await feed(renderer, from: start, to: start + .seconds(30)) { Float($0) * slope }
    }
  }

  private static func go(
    to time: PlaybackTime, _ renderer: AudioRenderer, _ synchronizer: RenderSynchronizer,
    _ feeding: inout Task<Void, any Error>
  ) async throws -> HostTime {
    feeding.cancel()
    _ = await feeding.result
    try await synchronizer.seek(to: time)
    feeding = feedScale(renderer, from: time)
    return try await synchronizer.setRate(1)
  }

  private static func player(in room: Room, _ items: [Media]) async throws -> Player {
    let player = try await Player(rooms: [room], settings: settings)
    try await player.append(items)
    return player
  }

  private static func scale() -> Media {
    .custom("scale") { MadeSound(seconds: 90) { Float($0) / 48_000 * slope } }
  }

  private static func instant(_ outcome: Player.Outcome) throws -> HostTime {
    guard case .heard(let time) = outcome else { throw TestFailure(line: "\(outcome)") }
    return time
  }

  /// The place that sounds, in seconds: of the first frame at or after an instant.
  private static func place(
    _ frames: [(time: HostTime, level: Float)], at time: HostTime
  ) throws -> Double {
    Double(try #require(frames.first { $0.time >= time }).level / slope)
  }

  // MARK: - Renderers

  @Test func `each time is heard when it is said to be, also after a stop and a seek`()
    async throws
  {
    let ear = Ear()
    let (renderer, synchronizer) = try await Self.renderer(in: ear.room)
    var feeding = Self.feedScale(renderer, from: .seconds(5))
    var marks: [(time: PlaybackTime, instant: HostTime)] = []
    func mark(_ time: PlaybackTime) throws {
      marks.append((time, try #require(synchronizer.hostTime(of: time))))
    }
    let wish = HostTime.now + .seconds(2)
    let began = try await synchronizer.setRate(1, time: .seconds(5), atHostTime: wish)
    #expect(began >= wish)
    for time in [5.1, 5.5, 5.9] { try mark(.seconds(time)) }
    await ear.listen(until: began + .seconds(1))
    let stopped = try await synchronizer.setRate(0)
    await ear.listen(until: stopped + .milliseconds(300))
    let place = synchronizer.currentTime
    #expect(abs(place.seconds - 5 - (stopped - began) / .seconds(1)) < 1e-6)
    let resumed = try await synchronizer.setRate(1)
    try mark(place + .milliseconds(200))
    await ear.listen(until: resumed + .milliseconds(500))
    let sought = try await Self.go(to: .seconds(40), renderer, synchronizer, &feeding)
    for time in [40.1, 40.4] { try mark(.seconds(time)) }
    await ear.listen(until: sought + .milliseconds(500))
    feeding.cancel()
    await renderer.close()

    let frames = ear.frames
    for mark in marks {
      let heard = try Self.place(frames, at: mark.instant)
      // A room that was connected a moment ago is off by milliseconds.
      #expect(abs(heard - mark.time.seconds) < 0.01, "\(mark.time.seconds): \(heard)")
    }
    let first = try #require(frames.first { $0.level > 0.5 * 5 * Self.slope })
    #expect(abs((first.time - began) / .milliseconds(1)) < 10)
  }

  @Test func `ticks come a step apart, each once it has sounded, and say where time has jumped`()
    async throws
  {
    let ear = Ear()
    let (renderer, synchronizer) = try await Self.renderer(in: ear.room)
    let ticks = await synchronizer.ticks(every: .milliseconds(100))
    var feeding = Self.feedScale(renderer, from: .zero)
    try await synchronizer.setRate(1)
    var told: [PlaybackTick] = []
    func listen(until end: PlaybackTime) async throws {
      for await tick in ticks {
        told.append(tick)
        let due = try #require(synchronizer.hostTime(of: tick.time))
        #expect(due <= .now)
        if tick.time > end { break }
      }
    }
    try await listen(until: .seconds(0.35))
    _ = try await Self.go(to: .seconds(40), renderer, synchronizer, &feeding)
    try await listen(until: .seconds(40.35))
    feeding.cancel()
    await renderer.close()
    let jumps = told.filter(\.hasJumped).map(\.time.seconds)
    try #require(jumps.count == 2)
    // A busy machine tells them late.
    #expect(jumps[0] < 0.1 && jumps[1] >= 40 && jumps[1] < 40.1, "\(jumps)")
    let steps = told.map { Int($0.time.seconds * 10) }
    for (number, (step, next)) in zip(steps, steps.dropFirst()).enumerated()
    where !told[number + 1].hasJumped {
      #expect(next > step, "\(told[number + 1])")
    }
  }

  @Test func `one channel is heard from both speakers, at full level`() async throws {
    let ear = Ear()
    let mono = try PCMFormat(channelCount: 1)
    let renderer = try await AudioRenderer(
      rooms: [ear.room], format: mono, settings: Self.settings)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    try await feed(renderer, from: .zero, to: .seconds(1)) { _ in 0.5 }
    let began = try await synchronizer.setRate(1)
    await ear.listen(until: began + .milliseconds(700))
    await renderer.close()
    let heard = ear.pairs.filter { $0.levels[0] > 0.4 }
    #expect(heard.count > 4_800)
    #expect(heard.allSatisfy { $0.levels[0] == $0.levels[1] })
    #expect(heard.contains { abs($0.levels[1] - 0.5) < 1e-4 })
  }

  // MARK: - Players

  @Test func `a player's rate is heard from the instant that it returns`() async throws {
    let ear = Ear()
    let player = try await Self.player(in: ear.room, [Self.scale()])
    let item = try #require(try await player.items().first?.id)
    try await player.jump(to: item, at: .seconds(10))
    let began = try Self.instant(try await player.play())
    await ear.listen(until: began + .seconds(1))
    let changed = try Self.instant(try await player.setRate(2))
    await ear.listen(until: changed + .seconds(1))
    await player.close()

    let frames = ear.frames
    func rate(from start: HostTime, to end: HostTime) throws -> Double {
      let places = try [start, end].map { try Self.place(frames, at: $0) }
      return (places[1] - places[0]) / ((end - start) / .seconds(1))
    }
    let before = try rate(from: began + .milliseconds(200), to: began + .milliseconds(800))
    #expect(abs(before - 1) < 0.02, "\(before)")
    // The tempo changes in pieces of some tens of milliseconds.
    let after = try rate(from: changed + .milliseconds(100), to: changed + .milliseconds(900))
    #expect(abs(after - 2) < 0.2, "\(after)")
  }

  @Test func `a command is not heard sooner than the latency that is told`() async throws {
    let ear = Ear()
    let player = try await Self.player(in: ear.room, [Self.scale()])
    let began = try Self.instant(try await player.play())
    await ear.listen(until: began + .milliseconds(500))
    let asked = HostTime.now
    let latency = try await player.outputLatency()
    let ended = try Self.instant(try await player.pause())
    #expect(latency > .milliseconds(1) && latency < .milliseconds(500))
    // The latency changes by milliseconds with each report of a room.
    #expect(ended >= asked + latency - .milliseconds(10))
    await player.close()
  }

  @Test func `a player is stopped, paused, starting, playing, and stopped after its end`()
    async throws
  {
    let ear = Ear()
    let player = try await Player(settings: Self.settings)
    func state() async throws -> PlaybackStatus.State { try await player.rooms.status().state }
    #expect(try await state() == .stopped)
    let item = Media.custom("a") { MadeSound(seconds: 1.5) { _ in 0.25 } }
    try await player.append([item])
    #expect(try await state() == .paused)
    #expect(try await player.play(within: .milliseconds(1)) == .pending)
    #expect(try await state() == .starting)
    let events = player.events
    try await player.rooms.add(ear.room)
    _ = try await events.first { $0 == .started }
    try await player.pause()
    #expect(try await state() == .paused)
    try await player.play()
    #expect(try await state() == .playing)
    _ = try await events.first { $0 == .stopped }
    #expect(try await state() == .stopped)
    await player.close()
  }

  @Test func `after the end of its list a player plays it from the beginning`() async throws {
    let ear = Ear()
    let items = [0.25, 0.5].map { level in
      Media.custom("\(level)") { MadeSound(seconds: 0.5) { _ in Float(level) } }
    }
    let player = try await Self.player(in: ear.room, items)
    let events = player.events
    for _ in 0..<2 {
      try await player.play()
      _ = try await events.first { $0 == .stopped }
      #expect(try await player.currentItem() == nil)
    }
    await player.close()
    let loud = ear.frames.map(\.level).filter { abs($0 - 0.25) < 1e-3 || abs($0 - 0.5) < 1e-3 }
    let runs = loud.reduce(into: [(level: Float, count: Int)]()) { runs, level in
      let level = (level * 4).rounded()
      if runs.last?.level == level {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((level, 1))
      }
    }
    // A fade passes the first level.
    #expect(runs.filter { $0.count > 480 }.map(\.level) == [1, 2, 1, 2])
  }
}
