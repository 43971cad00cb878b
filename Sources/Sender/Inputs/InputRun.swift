package import Clock

/// Decides when the program of an input is started, ended, and started again after it has ended by itself.
///
/// The pause before another start doubles from one failure to the next. One line tells of a series of failures.
package struct InputRun: Sendable {
  /// The first pause before another start, and the longest.
  package static let firstPause = Nanoseconds.seconds(1)
  package static let longestPause = Nanoseconds.seconds(60)
  /// A program that has run for so long is well: the pauses begin anew.
  package static let steadyTime = Nanoseconds.seconds(60)
  /// Time that a program has to end by itself, before it is killed.
  package static let grace = Nanoseconds.seconds(2)

  package enum End: Hashable, Sendable {
    case code(Int32)
    case signal(Int32)
    /// It could not be started, for this reason.
    case notStarted(String)

    package var reason: String {
      switch self {
      case .code(let code): "has ended with code \(code)"
      case .signal(let signal): "was ended by signal \(signal)"
      case .notStarted(let reason): "cannot be started: \(reason)"
      }
    }
  }

  package enum Output: Hashable, Sendable {
    case start
    /// Ask the whole group of processes to end (SIGTERM).
    case terminate
    /// End the whole group of processes at once.
    case kill
    /// A line for the log.
    case tell(String)
  }

  private enum State: Hashable {
    /// It is started at this time.
    case waiting(LocalTime)
    case running(since: LocalTime)
    /// It is killed at this time; nil if it was.
    case ending(LocalTime?)
    case over
  }

  private var state: State
  private var pause = Self.firstPause
  /// Why it does not run; nil while it does.
  package private(set) var problem: String?
  private var hasTold = false
  private var outputs: [Output] = []

  package init(at now: LocalTime) { state = .waiting(now) }

  package var isOver: Bool { state == .over }

  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  package var nextDeadline: LocalTime? {
    switch state {
    case .waiting(let time): time
    case .running(let since): hasTold || pause > Self.firstPause ? since + Self.steadyTime : nil
    case .ending(let time): time
    case .over: nil
    }
  }

  /// Does what is due.
  package mutating func turn(at now: LocalTime) {
    switch state {
    case .waiting(let time) where time <= now:
      state = .running(since: now)
      problem = nil
      outputs.append(.start)
    case .running(let since) where since + Self.steadyTime <= now:
      (pause, hasTold) = (Self.firstPause, false)
    case .ending(let time?) where time <= now:
      state = .ending(nil)
      outputs.append(.kill)
    case .waiting, .running, .ending, .over: break
    }
  }

  /// The program has ended, or could not be started.
  ///
  /// - Parameter words: what it said last.
  package mutating func ended(_ end: End, saying words: String = "", at now: LocalTime) {
    switch state {
    case .running(let since):
      if since + Self.steadyTime <= now { (pause, hasTold) = (Self.firstPause, false) }
      let reason = end.reason + (words.isEmpty ? "" : ": \(words)")
      problem = reason
      if !hasTold {
        let latest = Self.longestPause.count / 1_000_000_000
        outputs.append(.tell("\(reason); it is started again, at the latest every \(latest) s"))
        hasTold = true
      }
      state = .waiting(now + pause)
      pause = min(pause + pause, Self.longestPause)
    case .ending: state = .over
    case .waiting, .over: break
    }
  }

  /// Ends the program for good.
  package mutating func stop(at now: LocalTime) {
    switch state {
    case .waiting: state = .over
    case .running:
      state = .ending(now + Self.grace)
      outputs.append(.terminate)
    case .ending, .over: break
    }
  }
}
