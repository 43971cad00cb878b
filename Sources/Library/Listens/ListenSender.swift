import House
import SQLiteStore

/// Sends what waits for one service, and tells it what plays now.
actor ListenSender {
  /// In a pause because of a wrong key, the key is looked at so often, in seconds.
  private static let keyPeriod = 60

  nonisolated let service: ListenService
  private let store: ListenStore
  private let desk: ListenDesk
  private let report: @Sendable (String) -> Void
  private var pacing: ListenPacing
  /// Told once, and not again: only the newest matters.
  private var present: Listen?
  private var wrongKey: ListenKey?
  private let signals: AsyncStream<Void>
  private nonisolated let signal: AsyncStream<Void>.Continuation

  /// - Parameter command: a program that calls `LibraryWorker.run`.
  init(
    _ service: ListenService, _ store: ListenStore, command: [String],
    report: @escaping @Sendable (String) -> Void
  ) {
    (self.service, self.store, self.report) = (service, store, report)
    desk = ListenDesk(service, command: command)
    pacing = ListenPacing(tokenFile: service.tokenFile)
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Sends until the task is cancelled.
  func run() async {
    // People are told of a token that is not there when they have started the daemon, not after the first track.
    if case .failure(let problem) = await desk.key() {
      tell(of: pacing.take(.failed(problem.text), of: 0))
    }
    wake()
    for await _ in signals {
      while !Task.isCancelled, await sendOnce() {}
    }
  }

  /// There may be something to send.
  nonisolated func wake() { signal.yield() }

  func tell(_ listen: Listen) {
    present = listen
    wake()
  }

  nonisolated func close() {
    desk.close()
    signal.finish()
  }

  /// Returns false if there is nothing to send.
  private func sendOnce() async -> Bool {
    if let listen = present {
      present = nil
      await send([listen], isNow: true)
      return true
    }
    guard
      let waiting = try? await store.oldest(
        of: service.name, limit: min(pacing.limit, service.kind.batchLimit)),
      !waiting.isEmpty
    else { return false }
    await send(waiting.map(\.listen), isNow: false, waiting)
    return true
  }

  private func send(
    _ listens: [Listen], isNow: Bool, _ waiting: [ListenStore.Waiting] = []
  ) async {
    let (outcome, key) = await desk.send(listens, isNow: isNow)
    guard !Task.isCancelled else { return }
    // A service need not know what plays now.
    if isNow, outcome == .rejected { return }
    let verdict = pacing.take(outcome, of: waiting.count)
    wrongKey = outcome == .wrongKey ? key : nil
    if verdict.isDone { try? await store.remove(waiting) }
    tell(of: verdict)
    if verdict.pauseS > 0 { await pause(verdict.pauseS) }
  }

  private func tell(of verdict: ListenPacing.Verdict) {
    if let line = verdict.line { report("scrobbling \(service.name): \(line)") }
  }

  /// Ends early once there is another key.
  private func pause(_ seconds: Int) async {
    var rest = seconds
    while rest > 0 {
      let step = min(rest, Self.keyPeriod)
      guard (try? await Task.sleep(for: .seconds(step))) != nil else { return }
      rest -= step
      if let wrongKey, case .success(let key) = await desk.key(), key != wrongKey { return }
    }
    // It is not the present one any more, if it was told of in a long pause.
    if seconds >= Self.keyPeriod { present = nil }
  }
}
