import LinuxIO
import Synchronization

/// Asks programs that call `LibraryWorker.run`, a new one each time, one after the other: each ends with its answer, and with it
/// all that a stranger's bytes have made of it.
final class SingleUseWorker: Sendable {
  /// In milliseconds. Longer than the program's own timeout.
  private static let timeout = Int32(LibraryWorker.timeout + 5) * 1_000

  private struct State {
    var program: BackgroundProgram?
    var isClosed = false
  }

  private let command: [String]
  private let state = Mutex(State())

  init(_ command: [String]) { self.command = command }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Returns nil if the program has ended, or takes too long. Blocks.
  func ask(_ request: WorkerRequest) -> WorkerAnswer? {
    let program = state.withLock { state in
      state.program = state.isClosed ? nil : try? BackgroundProgram(command)
      return state.program
    }
    defer { state.withLock { $0.program = nil } }
    guard let program, (try? program.ask(request.bytes)) != nil else { return nil }
    return (try? program.answer(within: Self.timeout)).flatMap { WorkerAnswer($0) }
  }

  /// Ends the program that is asked, and starts no more.
  func close() {
    let program = state.withLock { state in
      state.isClosed = true
      return state.program
    }
    program?.end()
  }
}
