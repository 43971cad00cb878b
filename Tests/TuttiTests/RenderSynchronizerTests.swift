import Foundation
import TestSupport
import Testing
import Tutti

@Suite struct RenderSynchronizerTests {
  /// The level of each frame encodes its time; full scale is far away. Rooms that a busy machine has connected a
  /// moment ago are off by milliseconds.
  static func ramp(_ time: Double) -> Float { Float(0.1 + time / 10) }
  static func time(_ level: Float) -> Double { (Double(level) - 0.1) * 10 }

  @Test(.timeLimit(.minutes(2)))
  func `a renderer that was taken out joins in again with what it had enqueued`() async throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    let places = await synchronizer.boundaries(at: [.seconds(1)])
    try await feed(renderer, from: .zero, to: .seconds(8), level: Self.ramp)
    renderer.finish()
    let began = try await synchronizer.setRate(1, time: .zero)
    _ = try await places.first { _ in true }
    let stopped = try await synchronizer.remove(renderer)
    while HostTime.now < stopped + .seconds(1) { await Task.yield() }
    let asked = synchronizer.currentTime
    try await synchronizer.add(renderer)
    _ = try await events.first { $0 == .ended }
    await renderer.close()
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    // A busy machine may leave short gaps.
    let gap = try #require(heard.gaps(atLeast: heard.rate / 2).first)
    let before = Self.time(heard.left[gap.lowerBound - 480])
    let after = Self.time(heard.left[gap.upperBound + 480])
    #expect(abs(before + 0.01 - (stopped - began) / .seconds(1)) < 0.05)
    #expect(after > asked.seconds && after < asked.seconds + 1)
    // The position is the same as if the renderer had never been out.
    #expect(abs(after - before - Double(gap.count + 960) / 48_000) < 0.05)
    #expect(heard.left.max().map { abs(Self.time($0) - 8) < 0.01 } ?? false)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a renderer that is taken out at a time falls silent then`() async throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    try await feed(renderer, from: .zero, to: .seconds(5), level: Self.ramp)
    let began = try await synchronizer.setRate(1, time: .zero)
    let ended = try await synchronizer.remove(renderer, at: .seconds(1.5))
    #expect(ended >= began + .seconds(1.5))
    #expect(await synchronizer.renderers.isEmpty)
    _ = try await events.first { event in
      if case .room(let room) = event {
        room.change == .changed(.paused, detail: "")
      } else {
        false
      }
    }
    await renderer.close()
    #expect(try receiver.program.stop() == 0)
    let last = try #require(try RecordedSound(folder.file("Room.wav")).left.max())
    #expect(abs(Self.time(last) - (ended - began) / .seconds(1)) < 0.05)
  }

  @Test(.timeLimit(.minutes(2)))
  func `another rate keeps the pitch, or not, and acts in the middle of what sounds`() async throws
  {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    #expect(renderer.audioTimePitchAlgorithm == .timeDomain)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    let places = await synchronizer.boundaries(at: [.seconds(2)])
    try await feed(renderer, from: .zero, to: .seconds(10)) { Float(0.5 * sin(1_000 * .pi * $0)) }
    let began = try await synchronizer.setRate(1, time: .zero)
    await #expect(throws: TuttiError.self) {
      try await synchronizer.setRate(2, atHostTime: began + .seconds(20))
    }
    renderer.finish()
    var changes: [(rate: Double, at: HostTime)] = [(1, began)]
    for (rate, time) in [(1.25, 1), (1.5, 3.5), (1, 6.5)] {
      if rate == 1.5 { renderer.setAudioTimePitchAlgorithm(.varispeed) }
      // Wait for the audio that the change is to replace.
      while try await synchronizer.currentTime + renderer.rooms.status().enqueued < .seconds(time) {
        await Task.yield()
      }
      let wish = try #require(synchronizer.hostTime(of: .seconds(time)))
      changes.append((rate, try await synchronizer.setRate(rate, atHostTime: wish)))
      #expect(synchronizer.rate == rate)
    }
    let place = try await places.first { _ in true }
    #expect(try #require(synchronizer.hostTime(of: place)) <= .now)
    let status = try await renderer.rooms.status()
    let sounds = try #require(status.presentationTime)
    let due = try #require(synchronizer.hostTime(of: status.position))
    #expect(abs((sounds - due) / .milliseconds(1)) < 1)
    _ = try await events.first { $0 == .ended }
    let ended = try #require(synchronizer.hostTime(of: .seconds(10)))
    await renderer.close()
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    // Nothing is missing, at any change.
    #expect(heard.gaps(atLeast: heard.rate / 50).isEmpty)
    #expect(abs(Double(heard.sounding.count) / 48_000 - (ended - began) / .seconds(1)) < 0.1)
    changes.append((0, ended))
    for (change, next) in zip(changes, changes.dropFirst()) {
      let frames = [change.at, next.at].map { Int(($0 - began) / .seconds(1) * 48_000) }
      let stretch = heard.sounding.dropFirst(frames[0] + 9_600).prefix(
        frames[1] - frames[0] - 19_200)
      let rises = zip(stretch, stretch.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
      let frequency = Double(rises) / Double(stretch.count) * 48_000
      #expect(abs(frequency - (change.rate == 1.5 ? 750 : 500)) < 5)
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `at another rate each time sounds when it should, also after a stop and a flush`()
    async throws
  {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    try await feed(renderer, from: .zero, to: .seconds(6), level: Self.ramp)
    while try await renderer.rooms.status().enqueued < .seconds(5.9) { await Task.yield() }
    // Replace the end of the sound.
    #expect(try await renderer.flush(from: .seconds(4.5)) == .seconds(4.5))
    try await feed(renderer, from: .seconds(4.5), to: .seconds(6)) { 1 - Self.ramp($0) }
    let began = try await synchronizer.setRate(2, time: .zero)
    #expect(synchronizer.hostTime(of: .seconds(3)) == began + .seconds(1.5))
    let stopped = try await synchronizer.setRate(0, atHostTime: began + .seconds(1.6))
    while HostTime.now < stopped + .seconds(0.5) { await Task.yield() }
    let place = synchronizer.currentTime
    #expect(abs(place.seconds - (stopped - began) / .seconds(0.5)) < 1e-6)
    let resumed = try await synchronizer.setRate(0.5)
    renderer.finish()
    _ = try await events.first { $0 == .ended }
    await renderer.close()
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    let gap = try #require(heard.gaps(atLeast: heard.rate / 4).first)
    let start = heard.sounding.startIndex
    // The tempo changes in pieces of some tens of milliseconds.
    for (seconds, time) in [(0.5, 1.0), (1, 2), (1.5, 3)] {
      let level = heard.left[start + Int(seconds * 48_000)]
      #expect(abs(Self.time(level) - time) < 0.15)
    }
    #expect(abs(Double(gap.lowerBound - start) / 48_000 - (stopped - began) / .seconds(1)) < 0.05)
    #expect(
      abs(Double(gap.count) / 48_000 - (resumed - stopped) / .seconds(1)) < 0.1)
    for after in [4.75, 5.0, 5.5] {
      let level = heard.left[gap.upperBound + Int((after - place.seconds) * 2 * 48_000)]
      #expect(abs(Self.time(1 - level) - after) < 0.15)
    }
  }

  @Test(.timeLimit(.minutes(3)))
  func `a rate that cannot be is refused`() async throws {
    let synchronizer = RenderSynchronizer()
    for rate in [-1, 0.2, 4.5, .nan] {
      await #expect(throws: TuttiError.self) { try await synchronizer.setRate(rate) }
    }
    #expect(synchronizer.rate == 0)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a renderer's volume is its own, besides that of its rooms`() async throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    let places = await synchronizer.boundaries(at: [.seconds(1), .seconds(2), .seconds(3)])
    try await feed(renderer, from: .zero, to: .seconds(4)) { _ in 0.5 }
    renderer.finish()
    #expect(renderer.volume == 1 && !renderer.isMuted)
    try await synchronizer.setRate(1, time: .zero)
    for await place in places {
      if place == .seconds(1) { try await renderer.setVolume(0.5) }
      if place == .seconds(2) { try await renderer.setMuted(true) }
      if place == .seconds(3) { break }
    }
    #expect(renderer.volume == 0.5 && renderer.isMuted)
    try await renderer.setMuted(false)
    let room = try #require(try await renderer.rooms.status().rooms.first?.settings)
    #expect(room.volume == 1 && !room.isMuted)
    _ = try await events.first { $0 == .ended }
    await renderer.close()
    #expect(try receiver.program.stop() == 0)
    // Find the level of each even stretch of a tenth of a second; equal neighbours count once.
    let recording = try RecordedSound(folder.file("Room.wav"))
    var levels: [Int] = []
    for start in stride(
      from: recording.sounding.startIndex, to: recording.sounding.endIndex - 4800, by: 4800)
    {
      let stretch = recording.left[start..<start + 4800]
      let (low, high) = (stretch.min() ?? 0, stretch.max() ?? 0)
      let level = Int((high * 10_000).rounded())
      if high - low < 0.001, levels.last != level { levels.append(level) }
    }
    #expect(levels == [5000, 859, 0, 859])
    await #expect(throws: TuttiError.self) { try await renderer.setVolume(1.5) }
  }

  @Test(.timeLimit(.minutes(2)))
  func `times asked for before there is a renderer are told once there is one`() async throws {
    let house = try TestRooms()
    let synchronizer = RenderSynchronizer()
    let places = await synchronizer.boundaries(at: [.seconds(0.5)])
    let times = await synchronizer.times()
    let renderer = try await AudioRenderer(rooms: house.rooms)
    try await synchronizer.add(renderer)
    try await feed(renderer, from: .zero, to: .seconds(1.5))
    try await synchronizer.setRate(1, time: .zero)
    #expect(try await places.first { _ in true } == .seconds(0.5))
    #expect(try await times.first { $0 > .seconds(0.5) } > .seconds(0.5))
    await renderer.close()
  }

  @Test(.timeLimit(.minutes(3)))
  func `times of a synchronizer that never had a renderer end with it`() async {
    var synchronizer: RenderSynchronizer? = RenderSynchronizer()
    let times = await synchronizer?.times()
    synchronizer = nil
    if let times { for await _ in times { Issue.record("it tells") } }
  }
}
