import Dispatch
package import LinuxIO
import Sender
import Synchronization

/// The decoding processes. One waits, so that an item starts as fast as if this process decoded it.
package final class MediaWorkers: Sendable {
  /// The decoding processes of this process. Without a program, it decodes sources itself.
  package static let shared = MediaWorkers()

  /// Timeout of an item that waits for a process, in seconds.
  private static let timeout = 5

  private struct State {
    var command: [String] = []
    var spare: ConfinedProgram?
    var retired: [ConfinedProgram] = []
    var failure: IOError?
  }

  private let state = Mutex(State())
  private let wanted = DispatchSemaphore(value: 0)
  private let ready = DispatchSemaphore(value: 0)

  package init() {}

  /// From now on, decodes sources with this program.
  ///
  /// - Parameter command: its path and arguments.
  package func start(_ command: [String]) throws(IOError) {
    let isFirst = state.withLock { state in
      defer { state.command = command }
      return state.command.isEmpty
    }
    guard isFirst else { return }
    // The programs end with the thread that started them; this thread lives as long as the process.
    let thread = try RealtimeThread.start(name: "decoders", priority: nil) { [self] in keep() }
    thread.detach()
    wanted.signal()
  }

  package var isStarted: Bool { state.withLock { !$0.command.isEmpty } }

  private func keep() {
    while true {
      let (command, retired) = state.withLock { state in
        defer { state.retired = [] }
        return (state.spare == nil ? state.command : [], state.retired)
      }
      // This ends the programs, and waits for them.
      _ = consume retired
      if !command.isEmpty { startSpare(command) }
      wanted.wait()
    }
  }

  private func startSpare(_ command: [String]) {
    do throws(IOError) {
      let program = try ConfinedProgram(command)
      state.withLock { $0.spare = program }
    } catch {
      state.withLock { $0.failure = error }
    }
    ready.signal()
  }

  /// Returns a process for a new item, which gives it back with `retire`.
  func take(for location: String) throws(MediaError) -> ConfinedProgram {
    let deadline = DispatchTime.now() + .seconds(Self.timeout)
    while true {
      let spare = state.withLock { state in
        defer { state.spare = nil }
        return state.spare
      }
      wanted.signal()
      if let spare, spare.number != nil { return spare }
      let isLate = ready.wait(timeout: deadline) == .timedOut
      let failure = state.withLock { state in
        defer { state.failure = nil }
        return state.failure
      }
      if let failure { throw Self.absent(location, "\(failure)") }
      if isLate { throw Self.absent(location, "it took more than \(Self.timeout) s") }
    }
  }

  private static func absent(_ location: String, _ reason: String) -> MediaError {
    .unsupported(path: location, reason: "the program that decodes it does not start: \(reason)")
  }

  func retire(_ program: ConfinedProgram) {
    program.end()
    state.withLock { $0.retired.append(program) }
    wanted.signal()
  }
}
