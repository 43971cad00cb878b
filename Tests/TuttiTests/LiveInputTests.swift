import Glibc
import Synchronization
import TestSupport
import Testing
import Tutti

/// What happens now is heard one latency later, in a room of this program.
@Suite(.timeLimit(.minutes(2))) struct LiveInputTests {
  /// Makes ten milliseconds of sound each ten milliseconds, as a card does: frame `n` has level `n` millionths.
  private final class Microphone: Sendable {
    static let block = 480
    static let step: Float = 1e-6

    /// When each block was handed over.
    private let times = Mutex<[HostTime]>([])

    /// Hands over blocks until it is cancelled.
    func run(_ give: @Sendable ([Float]) throws -> Void) async throws {
      let begin = HostTime.now
      var count = 0
      while !Task.isCancelled {
        let due = begin + .milliseconds(10 * count)
        while HostTime.now < due { try await Task.sleep(for: due - .now) }
        let first = count * Self.block
        let samples = (first..<first + Self.block).flatMap { frame in
          let level = Float(frame % 500_000) * Self.step
          return [level, level]
        }
        times.withLock { $0.append(.now) }
        try give(samples)
        count += 1
      }
    }

    /// How long after it was made each of these frames was heard; silent ones are left out.
    func delays(of frames: [(time: HostTime, level: Float)]) -> [Duration] {
      let times = times.withLock { $0 }
      return stride(from: 0, to: frames.count, by: 480).compactMap { place in
        let heard = frames[place]
        let frame = Int((heard.level / Self.step).rounded())
        guard frame > 1_000, frame / Self.block < times.count else { return nil }
        let left = Self.block - frame % Self.block
        let made = times[frame / Self.block] - .seconds(Double(left) / 48_000)
        return heard.time - made
      }
    }
  }

  private static var settings: OutputSettings {
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    return settings
  }

  /// Hands over what a microphone makes until two seconds of it are heard.
  private static func listen(
    _ ear: Ear, to microphone: Microphone, _ give: @escaping @Sendable ([Float]) throws -> Void
  ) async throws {
    let running = Task { try await microphone.run(give) }
    while ear.frames.count(where: { $0.level > 0.001 }) < 96_000 {
      try await Task.sleep(for: .milliseconds(50))
    }
    running.cancel()
    _ = await running.result
  }

  /// Blocks that were handed over late, on a busy machine, have less time until they are heard; but half of the latency is
  /// the network's and the cards', and not theirs.
  private static func check(_ delays: [Duration], against latency: Duration) {
    let usual = delays.sorted()[delays.count / 2]
    #expect(usual > latency / 2 - .milliseconds(5), "\(usual)")
    #expect(usual < latency + .milliseconds(8), "\(usual)")
  }

  @Test(arguments: [Duration.milliseconds(40), .milliseconds(200)])
  func `frames that are enqueued are heard that long after`(latency: Duration) async throws {
    let ear = Ear()
    let renderer = try await AudioRenderer(
      rooms: [ear.room], settings: Self.settings, latency: latency)
    #expect(renderer.latency == latency)
    let microphone = Microphone()
    try await Self.listen(ear, to: microphone) { samples in
      // The times do not matter.
      try renderer.enqueue(AudioBuffer(samples, format: .stereo48k, at: .zero))
    }
    #expect(renderer.status == .rendering)
    let events = renderer.events
    renderer.finish()
    _ = try await events.first { $0 == .ended }
    await renderer.close()
    Self.check(microphone.delays(of: ear.frames), against: latency)
  }

  @Test func `a renderer of what happens now has no timeline`() async throws {
    let renderer = try await AudioRenderer(settings: Self.settings, latency: .milliseconds(50))
    let synchronizer = RenderSynchronizer()
    await #expect(throws: TuttiError.self) { try await synchronizer.add(renderer) }
    await #expect(throws: TuttiError.self) { try await renderer.flush() }
    await #expect(throws: TuttiError.self) { try await renderer.flush(from: .zero) }
    let mono = try AudioBuffer([0], format: PCMFormat(channelCount: 1), at: .zero)
    #expect(throws: TuttiError.self) { try renderer.enqueue(mono) }
    for await _ in renderer.mediaDataRequests { Issue.record("it asks for audio") }
    for wrong in [Duration.milliseconds(9), .seconds(3), .seconds(-1)] {
      await #expect(throws: TuttiError.self) {
        _ = try await AudioRenderer(settings: Self.settings, latency: wrong)
      }
    }
    await renderer.close()
    #expect(try await AudioRenderer(settings: Self.settings).latency == nil)
  }

  @Test func `an input takes half a second that nobody plays, and whole frames`() throws {
    let input = try LiveInput(latency: nil)
    #expect(throws: TuttiError.self) { try input.append([0]) }
    let block = [Float](repeating: 0.1, count: 960)
    var count = 0
    #expect(throws: TuttiError.queueIsFull) {
      while count < 1_000 {
        try input.append(block)
        count += 1
      }
    }
    #expect(count > 40 && count < 200)
    #expect(input.room < 480)
    input.finish()
    #expect(throws: TuttiError.self) { try input.append(block) }
    #expect(input.room == 0)
  }

  @Test func `a player plays an input, and what follows it`() async throws {
    let ear = Ear()
    let player = try await Player(rooms: [ear.room], settings: Self.settings)
    let input = try LiveInput(name: "turntable", latency: .milliseconds(100))
    let ids = try await player.append([.live(input)])
    #expect(try await player.items().map(\.name) == ["turntable"])
    let events = player.events
    async let outcome = player.play()
    let microphone = Microphone()
    try await Self.listen(ear, to: microphone) { try input.append($0) }
    guard case .heard = try await outcome else {
      Issue.record("it is not heard")
      return
    }
    await #expect(throws: TuttiError.notSeekable) { try await player.seek(to: .seconds(1)) }
    input.finish()
    _ = try await events.first { $0 == .itemEnded(ids[0]) }
    await player.close()
    Self.check(microphone.delays(of: ear.frames), against: .milliseconds(100))
  }

  @Test func `what another program writes into a pipe is heard`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("sound.fifo")
    #expect(mkfifo(path, 0o600) == 0)
    let ear = Ear()
    let player = try await Player(rooms: [ear.room], settings: Self.settings)
    let format = try PCMFormat(sampleRate: 8_000, channelCount: 1, resolution: .int16)
    try await player.append([.pipe(path, format: format, latency: .fixed(.milliseconds(200)))])
    let writing = Task.detached {
      let writer = open(path, O_WRONLY | O_CLOEXEC)
      defer { close(writer) }
      let samples = [Int16](repeating: 8_192, count: 80)
      while !Task.isCancelled {
        _ = write(writer, samples, 160)
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    try await player.play()
    while !ear.frames.contains(where: { abs($0.level - 0.25) < 0.001 }) {
      try await Task.sleep(for: .milliseconds(50))
    }
    writing.cancel()
    await player.close()
  }

  @Test func `names that are none of cards or pipes are refused`() {
    for device in ["file:/tmp/x", "hw:1,{ }", "", "a b"] {
      #expect(throws: TuttiError.self) { _ = try Media.capture(device: device) }
    }
    for device in ["default", "hw:1", "hw:CARD=USB,DEV=0"] {
      #expect(throws: Never.self) { _ = try Media.capture(device: device) }
    }
    for path in ["sound.fifo", ""] {
      #expect(throws: TuttiError.self) { _ = try Media.pipe(path) }
    }
    #expect(throws: TuttiError.self) {
      _ = try Media.pipe("/x", latency: .fixed(.milliseconds(1)))
    }
  }
}
