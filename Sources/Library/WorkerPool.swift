import LinuxIO
import Synchronization

/// Programs that read files in parallel; one that ends or hangs is replaced. For one thread; `end` may come from any.
final class WorkerPool: Sendable {
  /// Two programs keep a disk and a processor busy, and leave the other processors of a small machine free.
  static let size = 2
  /// Limit of consecutive ends of programs without an answer; beyond it, the files are not at fault.
  private static let faultLimit = 20
  /// In milliseconds. Longer than a program's own timeout, because the program names the file as well.
  private static let timeout = Int32(LibraryWorker.timeout + 5) * 1_000

  struct Useless: Error {
    let reason: String
  }

  private struct State {
    var programs = [BackgroundProgram?](repeating: nil, count: WorkerPool.size)
    var isEnded = false
    var faultCount = 0
  }

  private let command: [String]
  private let state = Mutex(State())

  /// - Parameter command: a program that calls `LibraryWorker.run`.
  init(_ command: [String]) { self.command = command }

  /// Returns the answers to the requests, in order. After `end` they may be incomplete.
  func answers(to requests: [WorkerRequest]) throws(Useless) -> [WorkerAnswer] {
    var answers: [WorkerAnswer] = []
    for start in stride(from: 0, to: requests.count, by: Self.size) {
      let part = requests[start..<min(start + Self.size, requests.count)]
      var asked: [(BackgroundProgram, Int)] = []
      for (place, request) in part.enumerated() {
        guard let program = try program(place) else { return answers }
        // A request that cannot be sent gets no answer either.
        try? program.ask(request.bytes)
        asked.append((program, place))
      }
      for (program, place) in asked {
        guard let answer = try answer(of: program, place) else { return answers }
        answers.append(answer)
      }
    }
    return answers
  }

  /// Returns nil after `end`.
  private func program(_ place: Int) throws(Useless) -> BackgroundProgram? {
    do {
      return try state.withLock { state throws(IOError) -> BackgroundProgram? in
        if state.isEnded { return nil }
        if let program = state.programs[place] { return program }
        let program = try BackgroundProgram(command)
        state.programs[place] = program
        return program
      }
    } catch {
      throw Useless(reason: "the program that reads files does not start: \(error)")
    }
  }

  private func answer(
    of program: BackgroundProgram, _ place: Int
  ) throws(Useless) -> WorkerAnswer? {
    if let bytes = try? program.answer(within: Self.timeout), let answer = WorkerAnswer(bytes) {
      state.withLock { $0.faultCount = 0 }
      if case .useless(let reason) = answer { throw Useless(reason: reason) }
      return answer
    }
    let (isEnded, count) = state.withLock { state in
      state.programs[place] = nil
      state.faultCount += 1
      return (state.isEnded, state.faultCount)
    }
    if isEnded { return nil }
    guard count < Self.faultLimit else {
      throw Useless(reason: "the program that reads files ends at once, \(count) times by now")
    }
    return .broken("the program that read it has ended, or took too long")
  }

  /// Ends at once all waiting for answers. From any thread.
  func end() {
    let programs = state.withLock { state in
      state.isEnded = true
      return state.programs
    }
    for program in programs { program?.end() }
  }

  /// Ends the programs to free their memory; the next request starts them again.
  func rest() { state.withLock { $0.programs = Array(repeating: nil, count: Self.size) } }
}
