import TestSupport
import Testing
import Tutti

@Suite struct AudioRendererTests {
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
    // Enqueued long ago, and sent: cut there and nowhere else.
    let ahead = synchronizer.currentTime + .seconds(29)
    #expect(try await renderer.flush(from: ahead).frame(at: 48_000) == ahead.frame(at: 48_000))
    let now = synchronizer.currentTime
    let next = try await renderer.flush(from: now)
    #expect(next > now)
    try await feed(renderer, from: next, to: next + .seconds(1))
    renderer.finish()
    _ = try await events.first { $0 == .ended }
    // What was forgotten may be said anew.
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
    await #expect(throws: TuttiError.self) { try await synchronizer.setRate(3) }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a renderer that was taken out joins in again with what it had enqueued`() async throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    let places = await synchronizer.boundaries(at: [.seconds(1)])
    try await feed(renderer, from: .zero, to: .seconds(5), level: Self.ramp)
    renderer.finish()
    try await synchronizer.setRate(1, time: .zero)
    _ = try await places.first { _ in true }
    try await synchronizer.remove(renderer)
    while synchronizer.currentTime < .seconds(2) { await Task.yield() }
    let asked = synchronizer.currentTime
    try await synchronizer.add(renderer)
    _ = try await events.first { $0 == .ended }
    await renderer.close()
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    let times = heard.left.map { (Double($0) - 0.1) * 10 }
    // The longest silence is while it was out.
    let gap = try #require(heard.gaps(atLeast: 480).max { $0.count < $1.count })
    let (before, after) = (times[gap.lowerBound - 500], times[gap.upperBound + 500])
    #expect(before > 1 && before < asked.seconds)
    #expect(after > asked.seconds && after < asked.seconds + 1)
    // It is where it would be if it had never been out.
    #expect(abs(after - before - Double(gap.count + 1000) / 48_000) < 0.001)
    #expect(times.max().map { abs($0 - 5) < 0.01 } ?? false)
  }

  /// Full scale is far away; a step of the recording is 5 µs.
  private static func ramp(_ time: Double) -> Float { Float(0.1 + time / 10) }
}
