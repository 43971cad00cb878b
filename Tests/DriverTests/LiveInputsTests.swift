import Audio
import Clock
import FFmpegSource
import Foundation
import Glibc
import LinuxIO
import Synchronization
import TestSupport
import Testing

@testable import Driver
@testable import Sender

/// Inputs that have names, over real pipes.
@Suite struct LiveInputsTests {
  private let folder: TemporaryFolder
  private let path: String
  private let inputs: LiveInputs

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("sound.fifo")
    #expect(mkfifo(path, 0o600) == 0)
    let raw = RawFormat(
      audio: AudioFormat(sampleRate: 8_000, channelCount: 1), sampleType: .int16)
    inputs = LiveInputs([.init(name: "Turntable", source: .pipe(path), raw: raw)])
  }

  private func open() throws -> LiveSource {
    try inputs.open("Turntable", interruption: ReadInterruption()) { _ in }
  }

  @Test func `all who play an input hear the same, and it is closed after the last of them`()
    throws
  {
    var first: LiveSource? = try open()
    var second: LiveSource? = try open()
    #expect(first?.metadata.title == "Turntable")
    #expect(first?.format.sampleRate == 8_000)
    #expect(inputs.level("Turntable") != nil)
    for source in [first, second] {
      var frames: [Float] = []
      while frames.count < 800 { try source?.read(800, appendingTo: &frames) }
    }
    first = nil
    #expect(inputs.level("Turntable") != nil)
    second = nil
    #expect(inputs.level("Turntable") == nil)
    // Open it a second time.
    _ = try open()
    #expect(inputs.level("Turntable") == nil)
  }

  @Test(.timeLimit(.minutes(3)))
  func `a program that writes into a pipe outlives whoever plays it`() throws {
    var source: LiveSource? = try open()
    let writer = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(writer >= 0)
    defer { close(writer) }
    let samples = [UInt8](repeating: 0, count: 4_096)
    let before = Glibc.signal(SIGPIPE, SIG_IGN)
    defer { _ = Glibc.signal(SIGPIPE, before) }
    #expect(write(writer, samples, samples.count) > 0)
    var frames: [Float] = []
    while frames.isEmpty { try source?.read(80, appendingTo: &frames) }
    source = nil
    #expect(inputs.level("Turntable") == nil)
    // It is full in the end: a program that may wait for room waits.
    var written = 0
    repeat { written = write(writer, samples, samples.count) } while written > 0
    let reason = errno
    #expect(reason == EAGAIN, "\(String(cString: strerror(reason)))")
    // Whoever plays it next hears what comes from then on.
    source = try open()
    frames = []
    while frames.isEmpty { try source?.read(80, appendingTo: &frames) }
    repeat { written = write(writer, samples, samples.count) } while written < 0 && errno == EAGAIN
    #expect(written > 0)
    inputs.stop()
  }

  @Test func `an input with a latency is live for all who play it`() throws {
    let inputs = LiveInputs([
      .init(name: "Game", source: .pipe(path), latency: LiveLatency("40"))
    ])
    let first = try inputs.open("Game", interruption: ReadInterruption()) { _ in }
    var frames: [Float] = []
    while frames.isEmpty { try first.read(480, appendingTo: &frames) }
    let second = try inputs.open("Game", interruption: ReadInterruption()) { _ in }
    let times = try [first, second].map { try #require($0.live) }
    #expect(times.allSatisfy { $0.latency == .milliseconds(40) && !$0.adapts })
    // Each source begins with new audio: the second one behind all that the first one has got.
    let heard = frames.count / first.format.channelCount * 1_000_000 / first.format.sampleRate
    #expect(times[1].firstHeard - times[0].firstHeard >= .microseconds(Int64(heard) - 1))
    inputs.stop()
  }

  @Test(.timeLimit(.minutes(3)))
  func `a latency that is chosen is the longest that a group wishes which plays`() throws {
    let inputs = LiveInputs([
      .init(name: "Game", source: .pipe(path), latency: LiveLatency("auto"))
    ])
    let (kitchen, bath) = (LatencyWish(), LatencyWish())
    let sources = try [kitchen, bath].map { wish in
      try inputs.open("Game", wish: wish, interruption: ReadInterruption()) { _ in }
    }
    #expect(sources.allSatisfy { $0.live?.adapts == true })
    func held(_ milliseconds: Int64) throws {
      // The source gets silence at once.
      var frames: [Float] = []
      while sources[0].heldLatency != .milliseconds(milliseconds) {
        frames.removeAll()
        try sources[0].read(400, appendingTo: &frames)
        try #require(!frames.isEmpty)
      }
    }
    kitchen.hold(.milliseconds(80))
    bath.hold(.milliseconds(120))
    let writer = try Writer(path)
    try held(120)
    kitchen.hold(.milliseconds(150))
    try held(150)
    writer.stop()
    inputs.stop()
  }

  @Test func `a group that plays an input no more wishes nothing of it`() {
    let goal = LatencyGoal(.milliseconds(100))
    let (kitchen, bath) = (LatencyWish(), LatencyWish())
    kitchen.hold(.milliseconds(200))
    #expect(goal.latency == .milliseconds(100))
    for wish in [kitchen, bath] { wish.begin(goal) }
    kitchen.hold(.milliseconds(65))
    bath.hold(.milliseconds(80))
    #expect(goal.latency == .milliseconds(80))
    bath.end(goal)
    #expect(goal.latency == .milliseconds(65))
    bath.hold(.milliseconds(120))
    #expect(goal.latency == .milliseconds(65))
  }

  @Test func `a group whose item begins anew wishes as before`() {
    let goal = LatencyGoal(.milliseconds(100))
    let kitchen = LatencyWish()
    kitchen.begin(goal)
    kitchen.hold(.milliseconds(65))
    // The item listens again before the one before it ends.
    kitchen.begin(goal)
    kitchen.end(goal)
    #expect(goal.latency == .milliseconds(65))
    kitchen.hold(.milliseconds(80))
    #expect(goal.latency == .milliseconds(80))
    kitchen.end(goal)
    #expect(goal.latency == .milliseconds(100))
  }

  /// Writes silence as fast as it is read.
  private final class Writer: Sendable {
    private let isOver = Flag()
    private let done = DispatchSemaphore(value: 0)

    init(_ path: String) throws {
      Thread.detachNewThread { [isOver, done] in
        let writer = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        let samples = [Int16](repeating: 0, count: 480)
        while !isOver.flag.load(ordering: .relaxed) { _ = Glibc.write(writer, samples, 960) }
        close(writer)
        done.signal()
      }
    }

    func stop() {
      isOver.flag.store(true, ordering: .relaxed)
      done.wait()
    }
  }

  @Test func `a name that is not there is refused with a sentence`() throws {
    let expected = MediaError.unreadable(
      path: "Radio", reason: "the daemon's configuration has no such input")
    #expect(throws: expected) {
      try inputs.open("Radio", interruption: ReadInterruption()) { _ in }
    }
  }

  @Test func `an input that begins to sound is heard while nobody plays it`() throws {
    let opened = DispatchSemaphore(value: 0)
    inputs.watch(
      "Turntable", tell: { Issue.record("\($0)") },
      onGate: { if $0 == .opened { opened.signal() } })
    let (path, flag, done) = (path, Flag(), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      let writer = Glibc.open(path, O_WRONLY | O_CLOEXEC)
      // 1 kHz.
      let period: [Int16] = [0, 11_585, 16_384, 11_585, 0, -11_585, -16_384, -11_585]
      let samples = (0..<400).map { period[$0 % 8] }
      while !flag.flag.load(ordering: .relaxed) { _ = Glibc.write(writer, samples, 800) }
      close(writer)
      done.signal()
    }
    #expect(opened.wait(timeout: .now() + 60) == .success)
    #expect((inputs.level("Turntable") ?? -120) > -20)
    flag.flag.store(true, ordering: .relaxed)
    done.wait()
    inputs.stop()
    #expect(inputs.level("Turntable") == nil)
    #expect(throws: MediaError.self) { try open() }
  }

  private final class Flag: Sendable {
    let flag = Atomic(false)
  }
}
