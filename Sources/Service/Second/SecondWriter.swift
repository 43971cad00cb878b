import Clock
import LinuxIO
import Synchronization

/// Writes a follower's files on a thread of its own, of each the newest: a disk that is slow, full or hangs holds up no word.
final class SecondWriter: Sendable {
  typealias Kind = SecondFiles.Kind
  /// Replaces a file; without bytes, removes it.
  typealias Write = @Sendable (Kind, [UInt8]?) throws(IOError) -> Void

  /// Time for all that waits, after which the disk counts as one that does not answer.
  static let patience = Nanoseconds.seconds(10)
  /// Time from one try of what has failed to the next.
  private static let interval = Nanoseconds.seconds(5)
  static let hangs = "the disk does not answer"

  private let pending: Pending
  private let thread: NewestValueThread<Void>

  init(_ write: @escaping Write) throws(IOError) {
    let pending = Pending()
    self.pending = pending
    thread = try NewestValueThread(name: "second files") { { _ in pending.write(by: write) } }
  }

  /// Replaces what waits to be written to this file.
  func post(_ kind: Kind, _ bytes: [UInt8]?, at now: LocalTime) {
    pending.state.withLock { state in
      state.waiting.updateValue(bytes, forKey: kind)
      state.since = state.since ?? now
    }
    thread.post(())
  }

  /// Calls this once all that waits was tried, on the thread. What has failed is given up then.
  func finish(_ done: @escaping @Sendable () -> Void) {
    pending.state.withLock { $0.done = done }
    thread.post(())
  }

  /// Says why not all is written; nil if it is, or may be in a moment. What has failed is tried again.
  func obstacle(at now: LocalTime) -> String? {
    let (problem, since, isDue) = pending.state.withLock { state in
      let isDue = state.problem != nil && state.nextTry <= now
      if isDue { state.nextTry = now + Self.interval }
      return (state.problem, state.since, isDue)
    }
    if isDue { thread.post(()) }
    if let problem { return "\(problem)" }
    return since.map { $0 + Self.patience <= now } == true ? Self.hangs : nil
  }
}

/// The files that wait, for both threads.
private final class Pending: Sendable {
  struct State {
    var waiting: [SecondWriter.Kind: [UInt8]?] = [:]
    /// Since when something waits, or is being written; later where files were written meanwhile.
    var since: LocalTime?
    /// Why the last try has left something.
    var problem: IOError?
    var nextTry = LocalTime(nanoseconds: 0)
    var done: (@Sendable () -> Void)?
  }

  let state = Mutex(State())

  func write(by write: SecondWriter.Write) {
    var failed: [SecondWriter.Kind: [UInt8]?] = [:]
    var problem: IOError?
    while let (kind, bytes) = state.withLock({ $0.waiting.popFirst() }) {
      do throws(IOError) {
        try write(kind, bytes)
      } catch {
        failed.updateValue(bytes, forKey: kind)
        problem = error
      }
    }
    end(failed, problem)?()
  }

  private func end(
    _ failed: [SecondWriter.Kind: [UInt8]?], _ problem: IOError?
  ) -> (@Sendable () -> Void)? {
    state.withLock { state in
      // The next call writes those that came meanwhile.
      guard state.waiting.isEmpty else {
        state.waiting.merge(failed) { newer, _ in newer }
        state.since = HostClock.now
        return nil
      }
      state.problem = problem
      guard let done = state.done else {
        state.waiting = failed
        if failed.isEmpty { state.since = nil }
        return nil
      }
      state = State()
      return done
    }
  }
}
