import Testing

@testable import Tutti

@Suite struct AudioRendererTests {
  /// Without a room, which an empty queue needs as little as a deadline.
  @Test func `a start that has nothing to begin with ends at its deadline`() async throws {
    let renderer = try await AudioRenderer()
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    #expect(!synchronizer.hasSufficientMediaData(from: .zero))
    await #expect(throws: TuttiError.notReady) {
      try await synchronizer.setRate(1, time: .seconds(2), deadline: .now + .milliseconds(20))
    }
    #expect(synchronizer.rate == 0 && synchronizer.currentTime == .seconds(2))
    try await feed(renderer, from: .seconds(2), to: .seconds(3))
    #expect(synchronizer.hasSufficientMediaData(from: .seconds(2)))
    #expect(!synchronizer.hasSufficientMediaData(from: .seconds(2.8)))
    renderer.finish()
    #expect(synchronizer.hasSufficientMediaData(from: .seconds(2.8)))
    await renderer.close()
  }

  /// A task that is cancelled first would wait for audio for ever, and all commands behind it.
  @Test(.timeLimit(.minutes(2)))
  func `who is cancelled before it waits is told, and nobody waits behind it`() async throws {
    let renderer = try await AudioRenderer()
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await synchronizer.setRate(1)
    }
    await #expect(throws: TuttiError.cancelled) { try await cancelled.value }
    try await synchronizer.setRate(0)
    await renderer.close()
  }

  @Test func `audio is replaced in one step, at most two seconds of it`() async throws {
    let renderer = try await AudioRenderer()
    try await feed(renderer, from: .zero, to: .seconds(1))
    let second = try AudioBuffer(
      [Float](repeating: 0.5, count: 96_000), format: .stereo48k, at: .seconds(0.25))
    let from = try await renderer.replace(from: .seconds(0.5), with: [.samples(second)])
    #expect(from == .seconds(0.5))
    #expect(renderer.queue.reaches(past: .seconds(1.2)))
    #expect(!renderer.queue.reaches(past: .seconds(1.25)))
    let long = try AudioBuffer(
      [Float](repeating: 0, count: 200_000), format: .stereo48k, at: .seconds(1))
    await #expect(throws: TuttiError.self) {
      try await renderer.replace(from: .seconds(1), with: [.samples(long)])
    }
    await renderer.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `enqueued audio sounds at its time, and its end is told`() async throws {
    let house = try TestRooms()
    let renderer = try await AudioRenderer(rooms: house.rooms)
    let events = renderer.events
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let boundaries = await synchronizer.boundaries(at: [.seconds(0.5), .seconds(1)])
    try await feed(renderer, from: .zero, to: .seconds(1.5))
    renderer.finish()
    #expect(synchronizer.rate == 0)
    let began = try await synchronizer.setRate(1, time: .zero)
    #expect(synchronizer.rate == 1)
    var told: [PlaybackTime] = []
    for await time in boundaries {
      told.append(time)
      let due = try #require(synchronizer.hostTime(of: time))
      #expect(due == began + (time - .zero))
      #expect(due <= .now)
      if told.count == 2 { break }
    }
    #expect(told == [.seconds(0.5), .seconds(1)])
    _ = try await events.first { $0 == .ended }
    #expect(throws: TuttiError.self) {
      try renderer.enqueue(AudioBuffer([0, 0], format: .stereo48k, at: .seconds(2)))
    }
    await renderer.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `a flush says where enqueuing goes on`() async throws {
    let house = try TestRooms()
    let renderer = try await AudioRenderer(rooms: house.rooms)
    let events = renderer.events
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let places = await synchronizer.times(every: .milliseconds(100))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await feed(renderer, from: .zero, to: .seconds(3600)) }
      try await synchronizer.setRate(1, time: .zero)
      for await _ in places where synchronizer.currentTime > .zero {
        if try await renderer.rooms.status().enqueued > .seconds(31) { break }
      }
      group.cancelAll()
      try await group.waitForAll()
    }
    // This audio was enqueued and sent long ago, and is cut exactly there.
    let ahead = synchronizer.currentTime + .seconds(29)
    #expect(try await renderer.flush(from: ahead).frame(at: 48_000) == ahead.frame(at: 48_000))
    let now = synchronizer.currentTime
    let next = try await renderer.flush(from: now)
    #expect(next > now)
    try await feed(renderer, from: next, to: next + .seconds(1))
    renderer.finish()
    _ = try await events.first { $0 == .ended }
    // Flushed times may be enqueued again.
    let again = try await renderer.flush()
    #expect(again >= next)
    await renderer.close()
    #expect(!renderer.isReadyForMoreMediaData)
    await #expect(throws: TuttiError.closed) { try await renderer.flush() }
  }

  @Test(.timeLimit(.minutes(2)))
  func `several renderers keep one time, whatever they begin with`() async throws {
    let house = try TestRooms(2)
    let synchronizer = RenderSynchronizer()
    var renderers: [AudioRenderer] = []
    for (room, start) in zip(house.rooms, [PlaybackTime.zero, .seconds(0.25)]) {
      let renderer = try await AudioRenderer(
        rooms: [room], format: PCMFormat(sampleRate: 44_100, channelCount: 1))
      try await synchronizer.add(renderer)
      try await feed(renderer, from: start, to: start + .seconds(20))
      renderers.append(renderer)
    }
    let wish = HostTime.now + .milliseconds(700)
    let boundaries = await synchronizer.boundaries(at: [.seconds(0.5)])
    let began = try await synchronizer.setRate(1, time: .seconds(0.125), atHostTime: wish)
    #expect(began >= wish)
    #expect(synchronizer.hostTime(of: .seconds(1.125)) == began + .seconds(1))
    _ = try await boundaries.first { _ in true }
    for renderer in renderers {
      let status = try await renderer.rooms.status()
      let sounds = try #require(status.presentationTime)
      let due = PlaybackTime.seconds(0.125) + (sounds - began)
      #expect(abs((status.position - due) / .microseconds(1)) < 50)
    }
    let stopped = try await synchronizer.setRate(0)
    #expect(synchronizer.rate == 0)
    #expect(synchronizer.currentTime > .seconds(0.125))
    #expect(stopped > began)
    #expect(synchronizer.hostTime(of: .seconds(1)) == nil)
    // The instant is some tens of milliseconds ahead.
    while HostTime.now <= stopped { await Task.yield() }
    for renderer in renderers {
      let position = try await renderer.rooms.status().position
      #expect(abs((position - synchronizer.currentTime) / .microseconds(1)) < 50)
      await renderer.close()
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `its status can be asked for at any time, and who comes late hears of its rooms`()
    async throws
  {
    let house = try TestRooms()
    let renderer = try await AudioRenderer(rooms: house.rooms)
    #expect(renderer.status == .waiting)
    let first = renderer.events
    _ = try await first.first { event in
      if case .room(let room) = event { room.change == .connected } else { false }
    }
    // That was long ago.
    let connected = try await renderer.events.first { _ in true }
    guard case .room(let room) = connected else { throw TestFailure(line: "\(connected)") }
    #expect(room.change == .connected)
    #expect(room.description == "Room1: connected")
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    try await feed(renderer, from: .zero, to: .seconds(0.5))
    renderer.finish()
    try await synchronizer.setRate(1, time: .zero)
    _ = try await events.first { $0 == .started }
    #expect(renderer.status == .rendering || renderer.status == .ended)
    _ = try await renderer.events.first { $0 == .ended }
    #expect(renderer.status == .ended)
    #expect(renderer.error == nil)
    await renderer.close()
    #expect(renderer.status == .closed)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a buffer that comes after its time is told of, once`() async throws {
    let house = try TestRooms()
    let renderer = try await AudioRenderer(rooms: house.rooms)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    let places = await synchronizer.boundaries(at: [.seconds(1)])
    try await feed(renderer, from: .zero, to: .seconds(0.5))
    try await synchronizer.setRate(1, time: .zero)
    _ = try await places.first { _ in true }
    let late = (0..<3).map { PlaybackTime.seconds(0.5 + Double($0) / 10) }
    let inTime = synchronizer.currentTime + .seconds(20)
    for time in late + [inTime, late[0]] {
      let silence = [Float](repeating: 0, count: 960)
      try renderer.enqueue(AudioBuffer(silence, format: .stereo48k, at: time))
    }
    await renderer.close()
    let told = await events.reduce(into: [PlaybackTime]()) { told, event in
      guard case .late(let time, let by) = event else { return }
      #expect(by > .milliseconds(400))
      told.append(time)
    }
    #expect(told == [late[0], late[0]])
  }
}
