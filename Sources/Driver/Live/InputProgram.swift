import Audio
import Clock
import Dispatch
import FFmpegSource
import LinuxIO
package import Sender
import Synchronization

/// The program of an input: starts it, follows what it tells, and starts it again when it has ended. All of it happens on a thread
/// of its own, with which the program ends.
package final class InputProgram: Sendable {
  /// How a program tells of its music, on its descriptor 3.
  package enum Events: String, CaseIterable, Sendable {
    /// Lines of `InputLines`. Such a program also gets orders, on its standard input.
    case json
    /// The pipe of metadata of shairport-sync.
    case shairport = "shairport-sync"
    case none
  }

  package struct Settings: Hashable, Sendable {
    /// Memory of a process, in MiB.
    package static let memories = 16...8_192
    package static let usualMemory = 1_024
    package static let usualRaw = RawFormat(
      audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)

    package var command: [String]
    package var raw: RawFormat
    package var events: Events
    /// Memory that each of its processes may map, in MiB.
    package var memoryMiB: Int

    package init(
      command: [String], raw: RawFormat, events: Events = .none, memoryMiB: Int = usualMemory
    ) {
      (self.command, self.raw, self.events) = (command, raw, events)
      self.memoryMiB = memoryMiB
    }

    /// True if the program reads orders, such as to pause.
    package var takesOrders: Bool { events == .json }
  }

  /// Orders that the program has not taken.
  static let orderLimit = 16
  /// Bytes that are kept of the last words of a program that has ended.
  static let wordLimit = 200
  /// Longest wait for the end of its thread, in milliseconds: the program is killed before.
  private static let endTimeout = InputRun.grace.count / 1_000_000 + 1_000

  private struct State {
    var metadata = ItemMetadata()
    /// The sound of the program that runs, or ran last.
    var sound: SourceProgram.PipeEnd?
    /// Why it does not run; nil while it does.
    var problem: String?
    var orders: [InputOrder] = []
    /// True if its sound has come back, which its thread has not told.
    var soundsAgain = false
    var isStopped = false
    var isStarted = false
  }

  package let name: String
  let settings: Settings
  private let state = Mutex(State())
  private let waker: Waker
  private let end = DispatchSemaphore(value: 0)

  init(_ name: String, _ settings: Settings) throws(IOError) {
    (self.name, self.settings) = (name, settings)
    waker = try Waker()
  }

  // MARK: - From any thread

  /// Starts it, once.
  ///
  /// - Parameters:
  ///   - tell: gets a line about a series of failures.
  ///   - hears: gets what it tells of its music, except titles. Both are called on its thread.
  func start(
    tell: @escaping @Sendable (String) -> Void, hears: @escaping @Sendable (InputEvent) -> Void
  ) throws(IOError) {
    let isNew = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopped
    }
    guard isNew else { return }
    try RealtimeThread.start(name: "input program", priority: nil) { [self] in
      var drive = Drive(self, tell: tell, hears: hears)
      drive.toEnd()
      end.signal()
    }.detach()
  }

  /// Begins to end it, for good.
  func stop() {
    state.withLock { $0.isStopped = true }
    waker.wake()
  }

  /// After `stop`: waits until all its processes have ended.
  func awaitEnd() {
    guard state.withLock({ $0.isStarted }) else { return }
    _ = end.wait(timeout: .now() + .milliseconds(Int(Self.endTimeout)))
  }

  package func order(_ order: InputOrder) {
    guard settings.takesOrders else { return }
    let isNew = state.withLock { state in
      guard state.orders.count < Self.orderLimit else { return false }
      state.orders.append(order)
      return true
    }
    if isNew { waker.wake() }
  }

  /// Its sound has come back. A program that has said that it pauses may not say that it plays on: shairport-sync does not, where
  /// its sender begins with the very frame that it was to flush to.
  func soundsAgain() {
    state.withLock { $0.soundsAgain = true }
    waker.wake()
  }

  private func takeReturn() -> Bool {
    state.withLock { state in
      defer { state.soundsAgain = false }
      return state.soundsAgain
    }
  }

  package var problem: String? { state.withLock { $0.problem } }
  var metadata: ItemMetadata { state.withLock { $0.metadata } }
  var sound: SourceProgram.PipeEnd? { state.withLock { $0.sound } }
}

// MARK: - Its thread

extension InputProgram {
  private enum Reader {
    case lines(InputLines)
    case shairport(ShairportMetadata)
    case none

    init(_ events: Events) {
      switch events {
      case .json: self = .lines(InputLines())
      case .shairport: self = .shairport(ShairportMetadata())
      case .none: self = .none
      }
    }

    mutating func take(_ bytes: [UInt8]) -> [InputEvent] {
      switch self {
      case .lines(var lines):
        defer { self = .lines(lines) }
        // Two owners of its buffer would copy it with each change.
        self = .none
        return lines.take(bytes)
      case .shairport(var metadata):
        defer { self = .shairport(metadata) }
        self = .none
        return metadata.take(bytes)
      case .none: return []
      }
    }
  }

  private struct Drive {
    let owner: InputProgram
    let tell: @Sendable (String) -> Void
    let hears: @Sendable (InputEvent) -> Void
    var run: InputRun
    var program: SourceProgram?
    var reader = Reader.none
    var news: InputNews
    var words: [UInt8] = []
    /// True if it has said so, and not that it plays on.
    var hasPaused = false

    init(
      _ owner: InputProgram, tell: @escaping @Sendable (String) -> Void,
      hears: @escaping @Sendable (InputEvent) -> Void
    ) {
      (self.owner, self.tell, self.hears) = (owner, tell, hears)
      (run, news) = (InputRun(at: HostClock.now), InputNews(at: HostClock.now))
    }

    mutating func toEnd() {
      while !run.isOver {
        if owner.state.withLock({ $0.isStopped }) { run.stop(at: HostClock.now) }
        run.turn(at: HostClock.now)
        perform()
        guard !run.isOver else { return }
        giveOrders()
        guard let program else {
          SourceProgram.pause(or: owner.waker, until: run.nextDeadline)
          continue
        }
        let deadline = [run.nextDeadline, news.deadline].compactMap(\.self).min()
        for news in program.news(or: owner.waker, until: deadline) { take(news) }
        if owner.takeReturn(), hasPaused { take(.playing) }
        perform()
        tellNews()
      }
    }

    private mutating func tellNews() {
      guard let events = news.turn(at: HostClock.now) else { return }
      let metadata = news.metadata
      owner.state.withLock { $0.metadata = metadata }
      for event in events { hears(event) }
    }

    private mutating func perform() {
      showProblem()
      while let output = run.nextOutput() {
        switch output {
        case .start: start()
        case .terminate: program?.terminate()
        case .kill: program?.kill()
        case .tell(let line): tell("\(owner.name): \(line)")
        }
        showProblem()
      }
    }

    private func showProblem() {
      let problem = run.problem
      owner.state.withLock { $0.problem = problem }
    }

    private mutating func start() {
      reader = Reader(owner.settings.events)
      words = []
      let command = owner.settings.command
      do throws(IOError) {
        let program = try SourceProgram(
          .init(
            command: command, memoryMiB: owner.settings.memoryMiB,
            hasEvents: owner.settings.events != .none, takesOrders: owner.settings.takesOrders))
        self.program = program
        owner.state.withLock { $0.sound = program.sound }
      } catch {
        run.ended(.notStarted("\(error)"), at: HostClock.now)
      }
    }

    private mutating func take(_ news: SourceProgram.News) {
      switch news {
      case .words(let bytes):
        words = Array((words + bytes).suffix(4 * InputProgram.wordLimit))
      case .events(let bytes): for event in reader.take(bytes) { take(event) }
      case .ended(let code):
        program = nil
        if self.news.metadata.artwork != nil { hears(.cover(nil)) }
        (self.news, hasPaused) = (InputNews(at: HostClock.now), false)
        owner.state.withLock { $0.metadata = ItemMetadata() }
        let end = code < 0 ? InputRun.End.signal(-code) : .code(code)
        run.ended(end, saying: lastWords, at: HostClock.now)
      }
    }

    private mutating func take(_ event: InputEvent) {
      switch event {
      case .playing: hasPaused = false
      case .paused, .stopped: hasPaused = true
      case .volume, .title, .cover: break
      }
      news.take(event)
    }

    private func giveOrders() {
      let orders = owner.state.withLock { state in
        defer { state.orders = [] }
        return state.orders
      }
      for order in orders { _ = program?.order(order.line) }
    }

    /// The last line that it said, or the last that speaks of an error.
    private var lastWords: String {
      let lines = words.split(separator: UInt8(ascii: "\n")).map {
        String(decoding: $0, as: UTF8.self)
      }
      let line = lines.last { $0.contains("error") || $0.contains("Error") } ?? lines.last ?? ""
      return ItemMetadata.shown(String(line.suffix(InputProgram.wordLimit)))
    }
  }
}

/// Samples that the program of an input writes, one program after the other.
final class ProgramReading: LiveReading {
  let format: AudioFormat
  let sampleType: SampleType
  let keepsBacklog = false
  private let program: InputProgram
  private let capacity: Int
  /// The sound of the present program; its end outlives the reading.
  private var sound: SourceProgram.PipeEnd?
  private var reading: PipeReading?
  /// Frames that have come, and when the last ones did.
  private var received: Int64 = 0
  private var receivedAt = LocalTime(nanoseconds: 0)

  /// Time without sound after which the program has paused.
  private static let pause = Nanoseconds.seconds(1)

  init(_ program: InputProgram, capacity: Int) {
    (self.program, self.capacity) = (program, capacity)
    (format, sampleType) = (program.settings.raw.audio, program.settings.raw.sampleType)
  }

  deinit {
    // It uses the descriptor to its end.
    reading = nil
  }

  var clock: SourceClock { .pipe(PipeClock(sampleRate: format.sampleRate)) }

  func read(into intake: LiveIntake, until deadline: LocalTime) throws(MediaError) -> Bool {
    let present = program.sound
    if present !== sound {
      reading = present.map { sound in
        PipeReading(
          PipeReader(descriptor: sound.number, capacity: capacity), name: program.name,
          raw: program.settings.raw, keepsBacklog: false)
      }
      sound = present
      intake.sourceChanged(to: clock)
    }
    // After its end there is silence until the next one.
    if let reading, try reading.read(into: intake, until: deadline) {
      note(intake.receivedFrames)
      return true
    }
    PipeReader.sleep(until: deadline)
    return true
  }

  private func note(_ count: Int64) {
    guard count != received else { return }
    let now = HostClock.now
    if now - receivedAt > Self.pause { program.soundsAgain() }
    (received, receivedAt) = (count, now)
  }
}
