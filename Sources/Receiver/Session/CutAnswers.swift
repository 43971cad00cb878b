import Clock
import WireProtocol

/// Flushes that were passed on to the render thread: the sender is told where each was really made, once that
/// thread has said so. Where nothing sounds, a flush is made where it was asked for.
struct CutAnswers {
  /// A render thread that has not answered by then has no sound device any more.
  private static let patience = Nanoseconds.milliseconds(500)
  /// How often to look for the render thread's report meanwhile.
  private static let lookInterval = Nanoseconds.milliseconds(5)
  /// As many as a hand can ask for; the oldest is answered when there are more.
  static let limit = 32

  private struct Waiting {
    let asked: Flushed
    let renderGeneration: UInt32
    let giveUpAt: LocalTime
  }

  private var waiting: [Waiting] = []
  private var lastLook = LocalTime(nanoseconds: 0)
  /// The newest flush that is made.
  private(set) var newest: Flushed?

  /// What `generation` began with was never asked for: its packets came first.
  mutating func made(_ cut: Flushed) { newest = cut }

  mutating func forget() {
    waiting.removeAll()
    newest = nil
  }

  /// Something sounds, so the answer to `flush` is the render thread's, which knows the generation as
  /// `renderGeneration`.
  mutating func wait(for flush: Flush, renderGeneration: UInt32, at now: LocalTime) -> Flushed? {
    waiting.append(
      Waiting(
        asked: Flushed(generation: flush.generation, from: flush.from),
        renderGeneration: renderGeneration, giveUpAt: now + Self.patience))
    lastLook = now
    guard waiting.count > Self.limit else { return nil }
    return waiting.removeFirst().asked
  }

  /// The render thread's newest cut is of generation `renderGeneration` and began at `from`. The answers that are
  /// due, oldest first.
  mutating func rendered(renderGeneration: UInt32, from: MediaTime) -> [Flushed] {
    var answers: [Flushed] = []
    while let first = waiting.first, first.renderGeneration <= renderGeneration {
      waiting.removeFirst()
      var answer = first.asked
      // Of cuts that came together, only the newest is known.
      answer.from = max(answer.from, first.renderGeneration == renderGeneration ? from : .zero)
      answers.append(answer)
    }
    newest = answers.last ?? newest
    return answers
  }

  /// Answers that no longer wait for the render thread.
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
