import Dispatch
import Driver
import FFmpegSource
import LinuxIO
import SQLiteStore
import Sender
import Synchronization

/// Reads the levels that are known, and measures the tracks whose tags do not give their loudness once somebody wishes for
/// one. The track that plays comes first, and its album with it. It has a thread of its own, whose priority is low once the
/// levels are read.
final class LoudnessKeeper: Sendable {
  /// In milliseconds. Longer than the program's own timeout, because the program names the file as well.
  private static let timeout = Int32(LibraryWorker.decodingTimeout + 5) * 1_000
  /// A disk that answers no more is not waited for longer, in seconds.
  private static let endTimeout = 5.0

  private let settings: LibraryScanner.Settings
  private let book: MeasuredLoudness
  private let report: @Sendable (String) -> Void
  private let news = DispatchSemaphore(value: 0)
  private let isEnding = Atomic<Bool>(false)
  private let hasChanged = Atomic<Bool>(false)
  private let program = Mutex<BackgroundProgram?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  init(
    _ settings: LibraryScanner.Settings, _ book: MeasuredLoudness,
    report: @escaping @Sendable (String) -> Void
  ) throws(IOError) {
    (self.settings, self.book, self.report) = (settings, book, report)
    book.beginLoading()
    do throws(IOError) {
      let thread = try RealtimeThread.start(name: "loudness", priority: nil) { [self] in
        run()
        ended.signal()
      }
      thread.detach()
    } catch {
      book.endLoading()
      throw error
    }
    book.whenWanted { [news] in news.signal() }
  }

  /// Notes that a scan has changed the tables. From any thread.
  func noteChange() {
    hasChanged.store(true, ordering: .relaxed)
    news.signal()
  }

  /// Ends the present work at once, and waits for its end.
  func close() {
    isEnding.store(true, ordering: .relaxed)
    book.whenWanted {}
    program.withLock { $0?.end() }
    news.signal()
    _ = ended.wait(timeout: .now() + Self.endTimeout)
  }

  private func run() {
    defer { book.endLoading() }
    do {
      let table = LoudnessTable(try Database(path: settings.database), settings.folders)
      // Music may wait for this; nothing waits for the rest.
      book.replace(with: try table.all())
      yieldToOthers()
      try table.forgetFailures()
      var isMeasuring = false
      while !isEnding.load(ordering: .relaxed) {
        if hasChanged.exchange(false, ordering: .relaxed) { book.replace(with: try table.all()) }
        guard book.isWanted, let track = try table.next(wish: book.takeWish()) else {
          if isMeasuring { report("the loudness of all tracks is measured") }
          isMeasuring = false
          program.withLock { $0 = nil }
          news.wait()
          continue
        }
        if !isMeasuring {
          report("measuring the loudness of \(try table.waitingCount()) tracks, with low priority")
        }
        isMeasuring = true
        guard let answer = try answer(to: .loudness(track.location)) else { continue }
        try table.write(answer, of: track)
        book.set(try table.tracks(besides: track))
      }
    } catch let useless as WorkerPool.Useless {
      report("the loudness of tracks cannot be measured: \(useless.reason)")
    } catch {
      report("the loudness of tracks is not measured any more: \(error)")
    }
  }

  /// Nil at the end.
  private func answer(to request: WorkerRequest) throws -> WorkerAnswer? {
    let program = try program.withLock { program in
      let made = try program ?? BackgroundProgram(settings.worker + [LibraryWorker.decoding])
      program = made
      return made
    }
    try? program.ask(request.bytes)
    let answer = (try? program.answer(within: Self.timeout)).flatMap { WorkerAnswer($0) }
    if case .useless(let reason)? = answer { throw WorkerPool.Useless(reason: reason) }
    if isEnding.load(ordering: .relaxed) { return nil }
    guard let answer else {
      self.program.withLock { $0 = nil }
      // That need not be the file's fault, so the next process tries it again.
      return .unreadable("the program that decoded it has ended, or took too long")
    }
    return answer
  }
}
