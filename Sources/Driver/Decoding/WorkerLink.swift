import FFmpegSource
import LinuxIO
import Sender

/// One item in a process of its own: asks it, and reads for it what it cannot reach. Used by one thread at a time.
final class WorkerLink {
  /// Time without a word from the process, while it waits for nothing, after which it counts as hung. A slow disk
  /// takes several to begin to turn.
  static let patience = Duration.seconds(20)
  /// The same, in ms, where its answer is not wanted any more.
  static let patienceAfterwards: Int32 = 500
  /// Calls that bring no bytes, in one request: a list that is waited for asks 20 times a second.
  static let idleCallLimit = 20_000

  let location: String
  private let program: ConfinedProgram
  private let workers: MediaWorkers
  private let interruption: ReadInterruption
  private let era: Int
  private let gate: NetworkGate?
  var patience = WorkerLink.patience
  /// Why it answers no more.
  private var end: MediaError?
  private var hasOpened = false

  init(
    _ location: String, workers: MediaWorkers, interruption: ReadInterruption, gate: NetworkGate?
  ) throws(MediaError) {
    program = try workers.take(for: location)
    self.location = location
    self.workers = workers
    self.interruption = interruption
    self.gate = gate
    era = interruption.era
  }

  deinit { workers.retire(program) }

  /// Whether it can be asked for more.
  var isAlive: Bool { end == nil && era == interruption.era }

  var process: Int32? { program.number }

  /// Has the process open the item.
  ///
  /// - Parameter descriptor: of a file, which stays the caller's.
  func open(_ request: MediaRequest, descriptor: Int32?) throws(MediaError) -> MediaAnswer {
    let answer = try opening { () throws(MediaError) in try ask(request, descriptor) }
    hasOpened = true
    return answer
  }

  /// What a request asks for until it is answered has the limits of an opening.
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

  /// - Throws: what the process says is wrong with the item, or that it has crashed or hangs.
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
    let deadline = ContinuousClock.now + patience
    var isUnwanted = false
    let message = program.receive(limit: DecoderMessage.limit) {
      while true {
        let left = Int32(clamping: Int((deadline - .now) / .milliseconds(1)))
        let wait: ReadInterruption.Wait =
          isUnwanted
          ? interruption.isReady(program.stream, milliseconds: Self.patienceAfterwards)
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

  /// Ends the process.
  func talksNonsense() -> MediaError { give(up: .talksNonsense) }

  private func give(up fault: Fault) -> MediaError {
    program.end()
    let reason =
      switch fault {
      case .crashed: "the program that decodes it crashed on it"
      case .hangs: "the program that decodes it gave no answer for \(Int(patience / .seconds(1))) s"
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
