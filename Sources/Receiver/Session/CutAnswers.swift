import Clock
import WireProtocol

/// Flushes that were passed to the render thread. Once that has reported a cut, the session tells the sender
/// where it was really made. While nothing sounds, a flush is made where it was requested.
struct CutAnswers {
  /// Timeout of the render thread's answer: a thread that has not answered by then has lost its sound device.
  private static let timeout = Nanoseconds.milliseconds(500)
  /// Polling interval for the render thread's report.
  private static let lookInterval = Nanoseconds.milliseconds(5)
  /// More than a user can request; beyond it, the oldest flush is answered as requested.
  static let limit = 32

  private struct Waiting {
    let asked: Flushed
    let renderGeneration: UInt32
    let giveUpAt: LocalTime
  }

  private var waiting: [Waiting] = []
  private var lastLook = LocalTime(nanoseconds: 0)
  /// The newest flush that was made.
  private(set) var newest: Flushed?

  /// Notes a cut that was made without a render thread's answer.
  mutating func made(_ cut: Flushed) { newest = cut }

  mutating func forget() {
    waiting.removeAll()
    newest = nil
  }

  /// Waits for the render thread, which knows the flush as `renderGeneration`, because something sounds. Returns
  /// the oldest flush if there are too many.
  mutating func wait(for flush: Flush, renderGeneration: UInt32, at now: LocalTime) -> Flushed? {
    waiting.append(
      Waiting(
        asked: Flushed(generation: flush.generation, from: flush.from),
        renderGeneration: renderGeneration, giveUpAt: now + Self.timeout))
    lastLook = now
    guard waiting.count > Self.limit else { return nil }
    return waiting.removeFirst().asked
  }

  /// Takes a report: the render thread's newest cut is of generation `renderGeneration` and began at `from`.
  /// Returns the answers that are due, oldest first.
  mutating func rendered(renderGeneration: UInt32, from: MediaTime) -> [Flushed] {
    var answers: [Flushed] = []
    while let first = waiting.first, first.renderGeneration <= renderGeneration {
      waiting.removeFirst()
      var answer = first.asked
      // If several cuts were made together, only the newest is known.
      answer.from = max(answer.from, first.renderGeneration == renderGeneration ? from : .zero)
      answers.append(answer)
    }
    newest = answers.last ?? newest
    return answers
  }

  /// Returns the answers that no longer wait for the render thread.
  mutating func overdue(at now: LocalTime) -> [Flushed] {
    lastLook = now
    var answers: [Flushed] = []
    while let first = waiting.first, first.giveUpAt <= now {
      answers.append(first.asked)
      waiting.removeFirst()
    }
    newest = answers.last ?? newest
    return answers
  }

  var nextDeadline: LocalTime? { waiting.isEmpty ? nil : lastLook + Self.lookInterval }
}
