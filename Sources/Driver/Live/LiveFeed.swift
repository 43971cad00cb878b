package import Audio
package import Clock
package import FFmpegSource
package import LinuxIO
package import Sender
import Synchronization

/// Reads a live source on a thread of its own, and keeps its recent blocks for all listeners.
///
/// It runs until `stop`. If the source is lost, such as a card that was unplugged, silence follows until it is back.
package final class LiveFeed: Sendable {
  package struct Settings: Sendable {
    /// Time from the arrival of a frame to its sound; nil if rooms buffer as much as for music.
    package var latency: Nanoseconds?
    /// The latency to move to while playing; nil if the latency is fixed.
    var goal: LatencyGoal?
    /// Format of samples without a header.
    package var raw: RawFormat?
    /// Nil if nobody waits for sound.
    package var gate: LevelGate.Configuration?

    package init(
      latency: Nanoseconds? = nil, raw: RawFormat? = nil, gate: LevelGate.Configuration? = nil
    ) {
      self.init(latency: latency, goal: nil, raw: raw, gate: gate)
    }

    init(
      latency: Nanoseconds?, goal: LatencyGoal?, raw: RawFormat?,
      gate: LevelGate.Configuration? = nil
    ) {
      self.latency = latency
      self.goal = goal
      self.raw = raw
      self.gate = gate
    }
  }

  /// Real-time priority of the threads between a live source and its rooms, if the system grants it.
  static let priority: Int32 = 20
  /// Seconds of the past that are kept: the sound that opened the gate begins there.
  static let keptSeconds = 2
  /// Pause before a lost source is opened again.
  private static let pause = Nanoseconds.seconds(2)
  /// Longest interval at which the thread checks if it is still wanted.
  private static let longestWait = Nanoseconds.milliseconds(20)
  /// Allowed lateness of frames if rooms buffer for long: less than the rooms' reserve, so that a time without audio is
  /// silence and does not stop them.
  private static let deepAllowance = Nanoseconds.milliseconds(250)

  private struct State {
    var blocks: [LiveBlock] = []
    /// Number of the first block.
    var first = 0
    /// Start of the next block.
    var nextDue: LocalTime
    /// Additional delay of the newest block, beyond `latency`.
    var delay = Nanoseconds.zero
    var isOver = false
    var level = LevelGate.silence
    var isOpen = false
    var wakers: [Int: Waker] = [:]
    var listenerCount = 0
  }

  /// The state of the thread.
  private struct Work {
    var reading: any LiveReading
    let intake: LiveIntake
    var gate: LevelGate?
    /// Time of the next attempt to open a lost source.
    var retry: LocalTime?
  }

  package let location: LiveLocation
  package let format: AudioFormat
  package let sampleType: SampleType
  package let latency: Nanoseconds?
  /// True if the feed can move to another latency while it plays.
  var adapts: Bool { settings.goal != nil }
  let blockFrames: Int
  /// The program that gives the sound; nil if something else does.
  let program: InputProgram?
  private let settings: Settings
  private let interruption: ReadInterruption
  private let report: @Sendable (SourceNotice) -> Void
  private let onGate: @Sendable (LevelGate.Change) -> Void
  private let state: Mutex<State>
  private let work: Mutex<Work>
  private let isStopped = Atomic<Bool>(false)

  /// Opens the source, waits for its header if it has one, and starts to read it.
  ///
  /// - Parameters:
  ///   - interruption: ends the wait for a header.
  ///   - onGate: called on the feed's thread.
  package convenience init(
    _ location: LiveLocation, _ settings: Settings, interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void = { _ in },
    onGate: @escaping @Sendable (LevelGate.Change) -> Void = { _ in }
  ) throws(MediaError) {
    try self.init(
      try LiveReadings.open(location, settings, interruption), location, settings,
      interruption: interruption, report: report, onGate: onGate)
  }

  /// Starts to read what this program writes, which must be samples of the `raw` format.
  package convenience init(
    _ pipe: ProgramPipe, name: String, raw: RawFormat, latency: LiveLatency?, goal: LatencyGoal?,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) throws(MediaError) {
    try self.init(
      PipeReading(PipeReader(pipe), name: name, raw: raw, keepsBacklog: false), .input(name),
      .init(latency: latency?.start, goal: goal, raw: raw), interruption: ReadInterruption(),
      report: report, onGate: { _ in })
  }

  /// Starts to read what the program of an input writes.
  convenience init(
    _ program: InputProgram, _ settings: Settings, interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void,
    onGate: @escaping @Sendable (LevelGate.Change) -> Void
  ) throws(MediaError) {
    let capacity = LiveReadings.capacity(for: program.settings.raw, settings)
    try self.init(
      ProgramReading(program, capacity: capacity), .input(program.name), settings,
      program: program, interruption: interruption, report: report, onGate: onGate)
  }

  private init(
    _ reading: sending any LiveReading, _ location: LiveLocation, _ settings: Settings,
    program: InputProgram? = nil, interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void,
    onGate: @escaping @Sendable (LevelGate.Change) -> Void
  ) throws(MediaError) {
    let blocks = settings.latency.map { $0 < .milliseconds(60) ? 400 : 200 } ?? 100
    self.location = location
    self.program = program
    self.settings = settings
    self.interruption = interruption
    self.report = report
    self.onGate = onGate
    (latency, format, sampleType) = (settings.latency, reading.format, reading.sampleType)
    // Short blocks if every millisecond counts.
    blockFrames = max(reading.format.sampleRate / blocks, 1)
    let now = HostClock.now
    let allowance = settings.latency.map(Self.allowance) ?? Self.deepAllowance
    let intake = LiveIntake(
      .init(
        format: reading.format, blockFrames: blockFrames, allowance: allowance,
        keepsBacklog: reading.keepsBacklog),
      clock: reading.clock, at: now)
    state = Mutex(State(nextDue: now))
    work = Mutex(
      Work(
        reading: reading, intake: intake,
        gate: settings.gate.map { LevelGate($0, format: reading.format) }))
    do {
      try RealtimeThread.start(name: "live source", priority: Self.priority) { [self] in run() }
        .detach()
    } catch {
      throw .unreadable(path: "\(location)", reason: error.description)
    }
  }

  /// Ends the thread, and gives no more blocks. From any thread.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Level of the last tenth of a second, in dBFS; and true if the gate is open.
  package var level: (decibels: Double, isOpen: Bool) {
    state.withLock { ($0.level, $0.isOpen) }
  }

  /// The present latency; nil if rooms buffer as much as for music.
  var heldLatency: Nanoseconds? {
    latency.map { latency in latency + state.withLock { $0.delay } }
  }
}

// MARK: - The thread

extension LiveFeed {
  /// No other thread takes this lock.
  private func run() {
    work.withLock { work in
      while !isStopped.load(ordering: .relaxed), turn(&work) {}
    }
    finish()
  }

  /// Does one turn. Returns false if the source has ended for good.
  private func turn(_ work: inout Work) -> Bool {
    let now = HostClock.now
    followGoal(work.intake)
    while let block = work.intake.nextBlock(at: now) { give(block, &work) }
    let deadline = min(work.intake.nextDeadline, now + Self.longestWait)
    if let retry = work.retry {
      PipeReader.sleep(until: deadline)
      if now >= retry { reopen(&work) }
      return true
    }
    do {
      if try work.reading.read(into: work.intake, until: deadline) {
        noteLongBlocks(work.intake)
        return true
      }
      playOut(&work)
      return false
    } catch {
      work.intake.sourceChanged(to: work.reading.clock)
      work.reading.close()
      work.retry = now + Self.pause
      report(.away(location: "\(location)", reason: error.reason))
      return true
    }
  }

  private func followGoal(_ intake: LiveIntake) {
    guard let latency, let goal = settings.goal?.latency else { return }
    intake.delayGoal = goal - latency
    intake.allowance = Self.allowance(latency + intake.delay)
  }

  /// Half of the latency; the network and the cards need the other half.
  private static func allowance(_ latency: Nanoseconds) -> Nanoseconds {
    Nanoseconds(latency.count / 2)
  }

  private func reopen(_ work: inout Work) {
    work.retry = HostClock.now + Self.pause
    guard let reading = try? LiveReadings.open(location, settings, interruption),
      reading.format == format
    else { return }
    work.reading = reading
    work.intake.sourceChanged(to: reading.clock)
    work.retry = nil
    report(.back(location: "\(location)"))
  }

  private func noteLongBlocks(_ intake: LiveIntake) {
    guard let length = intake.takeLongBlocks() else { return }
    report(
      .longBlocks(
        location: "\(location)", milliseconds: Int(length.count / 1_000_000),
        latency: Int(intake.allowance.count / 500_000)))
  }

  /// Gives the blocks that have arrived and are not heard yet.
  private func playOut(_ work: inout Work) {
    let end = work.intake.end()
    while work.intake.position < end, !isStopped.load(ordering: .relaxed) {
      guard let block = work.intake.nextBlock(at: HostClock.now) else {
        PipeReader.sleep(until: min(work.intake.nextDeadline, HostClock.now + .milliseconds(2)))
        continue
      }
      if block.hasHole { return }
      give(block, &work)
    }
  }

  private func give(_ block: LiveBlock, _ work: inout Work) {
    let change = work.gate?.take(block.frames)
    let level = work.gate?.level ?? LevelGate.silence
    let isOpen = work.gate?.isOpen ?? true
    let limit = Self.keptSeconds * format.sampleRate / blockFrames
    let delay = work.intake.delay
    let wakers = state.withLock { state in
      (state.level, state.isOpen, state.delay) = (level, isOpen, delay)
      state.blocks.append(block)
      state.nextDue = block.due + span(ofBlocks: 1)
      // Moved seldom, because a removal moves all kept blocks.
      if state.blocks.count > limit + limit / 4 {
        let surplus = state.blocks.count - limit
        state.blocks.removeFirst(surplus)
        state.first += surplus
      }
      return Array(state.wakers.values)
    }
    for waker in wakers { waker.wake() }
    if let change { onGate(change) }
  }

  private func finish() {
    let wakers = state.withLock { state in
      state.isOver = true
      return Array(state.wakers.values)
    }
    for waker in wakers { waker.wake() }
  }

  private func span(ofBlocks count: Int) -> Nanoseconds {
    Nanoseconds(Int64(count * blockFrames) * 1_000_000_000 / Int64(format.sampleRate))
  }
}

// MARK: - Listeners

extension LiveFeed {
  /// A listener, which takes each block once.
  struct Listener: Sendable {
    fileprivate let id: Int
    let waker: Waker
    fileprivate var next: Int
    /// Time of the first frame.
    let begin: LocalTime
  }

  enum Answer {
    case blocks([LiveBlock])
    /// This many blocks were dropped before they were taken.
    case missed(Int)
    case nothing
    case over
  }

  /// Starts listening: with the next block, or with the oldest that is kept.
  func listen(fromPast: Bool) throws(MediaError) -> Listener {
    let waker: Waker
    do { waker = try Waker() } catch {
      throw .unreadable(path: "\(location)", reason: error.description)
    }
    return state.withLock { state in
      state.listenerCount += 1
      state.wakers[state.listenerCount] = waker
      let past = fromPast ? state.blocks.first : nil
      return Listener(
        id: state.listenerCount, waker: waker,
        next: state.first + (past == nil ? state.blocks.count : 0),
        begin: past?.due ?? state.nextDue)
    }
  }

  func take(_ listener: inout Listener) -> Answer {
    listener.waker.clear()
    return state.withLock { state in
      if listener.next < state.first {
        defer { listener.next = state.first }
        return .missed(state.first - listener.next)
      }
      let blocks = state.blocks.dropFirst(listener.next - state.first)
      if blocks.isEmpty { return state.isOver ? .over : .nothing }
      listener.next += blocks.count
      return .blocks(Array(blocks))
    }
  }

  func leave(_ listener: Listener) {
    state.withLock { state in _ = state.wakers.removeValue(forKey: listener.id) }
  }
}
