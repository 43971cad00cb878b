import FFmpegSource
import LinuxIO
import Sender

/// One item in a process of its own: asks that process, and reads for it what it cannot reach, such as the network.
/// For one thread at a time.
final class WorkerLink {
  /// Time without a message from the process, while it waits for nothing, after which it counts as hung. A slow
  /// disk takes several seconds to begin to turn.
  static let timeout = Duration.seconds(20)
  /// The same, in ms, once its answer is not wanted any more.
  static let timeoutAfterwards: Int32 = 500
  /// Limit of calls without bytes in one request. A list that is waited for asks 20 times per second.
  static let idleCallLimit = 20_000

  let location: String
  private let program: ConfinedProgram
  private let workers: MediaWorkers
  private let interruption: ReadInterruption
  private let era: Int
  private let gate: (any SourceGate)?
  var timeout = WorkerLink.timeout
  /// Reason why the process answers no more.
  private var end: MediaError?
  private var hasOpened = false

  init(
    _ location: String, workers: MediaWorkers, interruption: ReadInterruption,
    gate: (any SourceGate)?
  ) throws(MediaError) {
    program = try workers.take(for: location)
    self.location = location
    self.workers = workers
    self.interruption = interruption
    self.gate = gate
    era = interruption.era
  }

  deinit { workers.retire(program) }

  /// True if the process can take requests.
  var isAlive: Bool { end == nil && era == interruption.era }

  var process: Int32? { program.number }

  /// Makes the process open the item.
  ///
  /// - Parameter descriptor: of a file; it still belongs to the caller.
  func open(_ request: MediaRequest, descriptor: Int32?) throws(MediaError) -> MediaAnswer {
    let answer = try opening { () throws(MediaError) in try ask(request, descriptor) }
    hasOpened = true
    return answer
  }

  /// Runs `body`, during which the process's network requests have the limits of an opening.
  func opening(
    _ body: () throws(MediaError) -> MediaAnswer
  ) throws(MediaError) -> MediaAnswer {
    gate?.beginOpening()
    defer { gate?.endOpening() }
    do throws(MediaError) {
      return try body()
    } catch {
      if let excess = gate?.excess { throw .unsupported(path: location, reason: excess) }
      throw error
    }
  }

  /// - Throws: the process's own error about the item, or an error if it has crashed or hangs.
  func ask(_ request: MediaRequest, _ descriptor: Int32? = nil) throws(MediaError) -> MediaAnswer {
    if let end { throw end }
    guard program.send(request.bytes, descriptor: descriptor) else { throw give(up: .crashed) }
    var idleCalls = 0
    while true {
      let message = try receive()
      guard let kind = message.first, SourceCall.kinds.contains(kind) else {
        return try answer(in: message)
      }
      guard let call = try? SourceCall(message[...]), idleCalls < Self.idleCallLimit else {
        throw give(up: .talksNonsense)
      }
      let reply = gate?.answer(call) ?? .failed(code: -1, reason: "")
      if case .bytes(let bytes, _) = reply, !bytes.isEmpty { idleCalls = 0 } else { idleCalls += 1 }
      guard program.send(reply.bytes) else { throw give(up: .crashed) }
    }
  }

  private func answer(in message: [UInt8]) throws(MediaError) -> MediaAnswer {
    guard let answer = try? MediaAnswer(message[...]) else { throw give(up: .talksNonsense) }
    if case .failed(let failure) = answer { throw failure.error(of: location) }
    return answer
  }

  private func receive() throws(MediaError) -> [UInt8] {
    var fault = Fault.crashed
    let deadline = ContinuousClock.now + timeout
    var isUnwanted = false
    let message = program.receive(limit: DecoderMessage.limit) {
      while true {
        let left = Int32(clamping: Int((deadline - .now) / .milliseconds(1)))
        let wait: ReadInterruption.Wait =
          isUnwanted
          ? interruption.isReady(program.stream, milliseconds: Self.timeoutAfterwards)
            ? .ready : .overdue
          : interruption.waits(for: program.stream, milliseconds: max(0, left), in: era)
        switch wait {
        case .ready: return true
        case .interrupted: isUnwanted = true
        case .overdue:
          fault = isUnwanted ? .isUnwanted : .hangs
          return false
        }
      }
    }
    guard let message else { throw give(up: fault) }
    return message
  }

  private enum Fault { case crashed, hangs, talksNonsense, isUnwanted }

  /// Ends the process because of a wrong answer.
  func talksNonsense() -> MediaError { give(up: .talksNonsense) }

  private func give(up fault: Fault) -> MediaError {
    program.end()
    let reason =
      switch fault {
      case .crashed: "the program that decodes it crashed on it"
      case .hangs: "the program that decodes it gave no answer for \(Int(timeout / .seconds(1))) s"
      case .talksNonsense: "the program that decodes it gave a wrong answer"
      case .isUnwanted: "it was given up"
      }
    let error: MediaError =
      hasOpened
      ? .broken(path: location, reason: reason) : .unsupported(path: location, reason: reason)
    end = error
    return error
  }
}
