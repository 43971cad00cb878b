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

private final class Flag: Sendable {
  let flag = Atomic(false)
}

/// Live sources that read real pipes, in real time.
@Suite struct LiveFeedTests {
  private let folder: TemporaryFolder
  private let path: String
  private let raw = RawFormat(
    audio: AudioFormat(sampleRate: 8_000, channelCount: 1), sampleType: .int16)

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("sound.fifo")
    #expect(mkfifo(path, 0o600) == 0)
  }

  private func open(_ interruption: ReadInterruption) throws -> LiveSource {
    let feed = try LiveFeed(
      .pipe(path), .init(latency: .milliseconds(400), raw: raw), interruption: interruption)
    return try LiveSource(feed, interruption: interruption) { feed.stop() }
  }

  /// Reads this many frames.
  private func read(_ count: Int, from source: LiveSource) throws -> [Float] {
    var frames: [Float] = []
    while frames.count < count {
      let before = frames.count
      try source.read(count - frames.count, appendingTo: &frames)
      guard frames.count > before else { break }
    }
    return frames
  }

  @Test func `before a program writes there is silence, in real time`() throws {
    let begin = HostClock.now
    let source = try open(ReadInterruption())
    let frames = try read(4000, from: source)
    #expect(frames == [Float](repeating: 0, count: 4000))
    // Half a second of audio has not arrived earlier than it was due.
    #expect(HostClock.now - begin >= .milliseconds(480))
    let firstHeard = try #require(source.live?.firstHeard)
    #expect(firstHeard - begin >= .milliseconds(400))
  }

  /// Writes one value as fast as it is read, until the flag is set.
  private func write(_ level: Int16, until isOver: Flag) -> DispatchSemaphore {
    write([Int16](repeating: level, count: 400), until: isOver)
  }

  /// Writes these samples again and again.
  private func write(_ samples: [Int16], until isOver: Flag) -> DispatchSemaphore {
    let (path, done) = (path, DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      let writer = Glibc.open(path, O_WRONLY | O_CLOEXEC)
      while !isOver.flag.load(ordering: .relaxed) {
        _ = Glibc.write(writer, samples, 2 * samples.count)
      }
      close(writer)
      done.signal()
    }
    return done
  }

  /// Reads until half a block of this level has come. On a busy machine there may be silence of any length before and
  /// within it.
  private func hear(_ level: Float, from source: LiveSource) throws {
    var count = 0
    while count < 20 {
      let frames = try read(40, from: source)
      try #require(frames.count == 40)
      for frame in frames where count < 20 { count = abs(frame - level) < 1e-3 ? count + 1 : 0 }
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `what a program writes is heard, and another program after it`() throws {
    let source = try open(ReadInterruption())
    for level in [Int16(8192), -16_384] {
      let isOver = Flag()
      let done = write(level, until: isOver)
      try hear(Float(level) / 32_768, from: source)
      isOver.flag.store(true, ordering: .relaxed)
      done.wait()
    }
  }

  @Test(.timeLimit(.minutes(3)))
  func `an item that begins anew hears the pipe's present, and the pipe stays open`() throws {
    var opener = SourceOpener(interruption: try ReadInterruption()) { _ in }
    (opener.raw, opener.latency) = (raw, LiveLatency("400"))
    let item = PlayItem(id: 0, location: "pipe:" + path)
    let first = try opener.open(item)
    let isOver = Flag()
    let done = write((0..<1_000).map { Int16($0 * 32) }, until: isOver)
    var sound: [[Float]] = [[], []]
    while sound[0].count < 8_000 { try first.read(40, appendingTo: &sound[0]) }
    let second = try opener.open(item)
    #expect(first.supply == .input && second.supply == .input)
    let times = try [first, second].map { try #require($0.live).firstHeard }
    // The second begins so many frames later than the first.
    let lead = Int(((times[1] - times[0]).seconds * 8_000).rounded())
    #expect(lead >= 8_000 - 40)
    // It hears what the first hears.
    while sound[1].count(where: { abs($0) > 0.01 }) < 400 {
      try second.read(40, appendingTo: &sound[1])
      while sound[0].count < lead + sound[1].count { try first.read(40, appendingTo: &sound[0]) }
    }
    #expect(sound[0].dropFirst(lead).starts(with: sound[1]))
    isOver.flag.store(true, ordering: .relaxed)
    withExtendedLifetime((first, second)) { done.wait() }
  }

  @Test func `a read that waits ends when reading is abandoned`() throws {
    let interruption = try ReadInterruption()
    let source = try open(interruption)
    interruption.interrupt()
    // It may get what has come before. A read that waits gets frames of a later time each time.
    var (frames, before): ([Float], Int) = ([], 0)
    repeat {
      before = frames.count
      try source.read(100_000, appendingTo: &frames)
    } while frames.count > before && frames.count < 80_000
    #expect(frames.count == before)
  }

  @Test func `it goes nowhere else`() throws {
    let source = try open(ReadInterruption())
    #expect(!source.isSeekable)
    #expect(throws: MediaError.notSeekable(path: "pipe:\(path)")) { try source.seek(toFrame: 7) }
  }

  @Test func `no more blocks are kept than the limit`() throws {
    let feed = try LiveFeed(
      .pipe(path), .init(latency: .milliseconds(20), raw: raw), interruption: ReadInterruption())
    defer { feed.stop() }
    var listener = try feed.listen(fromPast: true)
    var missed = 0
    while missed == 0 {
      PipeReader.sleep(until: HostClock.now + .milliseconds(100))
      var late = try feed.listen(fromPast: true)
      if case .blocks(let blocks) = feed.take(&late) {
        #expect(blocks.count <= LiveFeed.keptSeconds * 400 * 5 / 4)
      }
      feed.leave(late)
      // The listener has taken nothing yet.
      if late.begin > listener.begin, case .missed(let count) = feed.take(&listener) {
        missed = count
      }
    }
  }

  @Test(arguments: [
    "hw:1", "default", "plughw:CARD=USB,DEV=0", "hw:CARD=C-Media.2", "loop_back", "dsnoop:1,0",
  ])
  func `a card has a name`(name: String) {
    #expect(LiveLocation("alsa:" + name) == .card(name))
  }

  /// Names that ALSA would take for more than a name: plugins that write files, configurations that load libraries.
  @Test(arguments: [
    "file:/home/me/.bashrc", "file:out,raw", "tee:hw:0,/x,raw", "{ type hw }",
    "{type x lib \"/srv/music/song.mp3\"}", "plug:SLAVE='file:/x'", "hw:1,0;x", "hw:{}", "a b",
    "hw:1\n",
    "plug:file:x", "@args", "/x", "hw:",
  ])
  func `a text that ALSA reads as more than a name is no card`(name: String) {
    #expect(LiveLocation("alsa:" + name) == nil)
  }

  @Test func `places of live sources are told from files`() {
    #expect(LiveLocation("alsa:hw:1") == .card("hw:1"))
    #expect(LiveLocation("pipe:/run/x.fifo") == .pipe("/run/x.fifo"))
    #expect(LiveLocation("input:Turntable") == .input("Turntable"))
    #expect(LiveLocation("-") == .standardInput)
    for file in ["pipe:x", "alsa:", "http://host/a", "a.flac", "alsa", "pipe://x", "/alsa:x"] {
      #expect(LiveLocation(file) == nil, "\(file)")
    }
  }
}
