internal import Clock
internal import Sender
internal import Synchronization

extension Player {
  /// The end of a command: every command of a player returns when it is heard.
  public enum Outcome: Hashable, Sendable {
    /// All rooms sound its effect since this instant.
    case heard(HostTime)
    /// It is carried out, but nothing is heard: the player is paused, or its list is empty or at its end.
    case silent
    /// A later command took its place before it was heard.
    case superseded
    /// It was not heard within the time limit, because a room or a source is not ready. It stays in force.
    case pending
  }
}

/// Commands of a player that wait until they are heard. On the engine's thread.
struct Hearings {
  /// The kinds of commands. A later command supersedes those of its kind that are not heard yet.
  enum Kind: Hashable {
    /// Where it plays: seeks and skips.
    case place
    /// How it sounds.
    case effects
    case start
    case pause
  }

  typealias Answer = @Sendable (Result<Player.Outcome, TuttiError>) -> Void

  /// Years, in nanoseconds: sums with it do not overflow.
  static let longestWait: Int64 = 1 << 58

  private struct Waiter {
    let number: Int
    let kind: Kind
    /// The number of this command among those of its kind.
    let turn: Int
    let limit: LocalTime
    /// Where its audio begins; nil while it is not carried out.
    var place: MediaTime?
    let answer: Answer
  }

  private var waiters: [Waiter] = []
  private var turns: [Kind: Int] = [:]
  /// The next time at which one is heard, or is waited for no more.
  private(set) var deadline: LocalTime?

  /// Notes a command that was just carried out.
  mutating func began(_ kind: Kind) {
    switch kind {
    case .place, .effects: turns[kind, default: 0] += 1
    // A start supersedes a pause, and a pause a start; two of a kind are heard together.
    case .start: turns[.pause, default: 0] += 1
    case .pause: turns[.start, default: 0] += 1
    }
  }

  mutating func wait(
    _ number: Int, _ kind: Kind, until limit: LocalTime, _ answer: @escaping Answer
  ) {
    waiters.append(
      Waiter(number: number, kind: kind, turn: turns[kind] ?? 0, limit: limit, answer: answer))
  }

  mutating func stopWaiting(_ number: Int) {
    for waiter in waiters where waiter.number == number { waiter.answer(.failure(.cancelled)) }
    waiters.removeAll { $0.number == number }
  }

  mutating func close() {
    for waiter in waiters { waiter.answer(.failure(.closed)) }
    waiters = []
  }

  /// Answers those whose end has come. After each turn.
  mutating func advance(_ session: GroupSession, at now: LocalTime) {
    deadline = nil
    guard !waiters.isEmpty else { return }
    var waiting: [Waiter] = []
    for var waiter in waiters {
      if waiter.turn != turns[waiter.kind] ?? 0 {
        waiter.answer(.success(.superseded))
        continue
      }
      let hearing = Self.hearing(of: &waiter, session, at: now)
      switch hearing {
      case .silent: waiter.answer(.success(.silent))
      case .at(let time) where time <= now: waiter.answer(.success(.heard(HostTime(time))))
      case .at, .coming:
        guard now < waiter.limit else {
          waiter.answer(.success(.pending))
          continue
        }
        var next = waiter.limit
        if case .at(let time) = hearing { next = min(next, time) }
        deadline = min(deadline ?? next, next)
        waiting.append(waiter)
      }
    }
    waiters = waiting
  }

  private static func hearing(
    of waiter: inout Waiter, _ session: GroupSession, at now: LocalTime
  ) -> GroupSession.Hearing {
    switch waiter.kind {
    case .start: return session.hearingOfStart(at: now)
    case .pause: return session.standing.map { .at($0) } ?? .silent
    case .place, .effects:
      if waiter.place == nil { waiter.place = session.chosenPlace }
      guard let place = waiter.place else {
        // Nothing was cut, because it is so already.
        return session.hasChoice ? .coming : session.hearingOfStart(at: now)
      }
      return session.hearing(of: place, at: now)
    }
  }
}

extension GroupEngine {
  /// Carries out a command, and waits until it is heard.
  ///
  /// - Throws: the session's refusals; `closed`, `busy`, and `cancelled` with the task.
  func hear(
    _ kind: Hearings.Kind, within limit: Duration,
    _ command: @escaping @Sendable (GroupLoop) -> CommandReply
  ) async throws(TuttiError) -> Player.Outcome {
    let number = Self.nextNumber()
    let cancellation = Cancellation()
    let result: Result<Player.Outcome, TuttiError> = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        let obstacle = offer { loop in
          loop.hear(number, kind, within: limit, command) { answer.resume(returning: $0) }
          // A task that was cancelled before has told nobody whom it could stop.
          if cancellation.isSet { loop.hearings.stopWaiting(number) }
        }
        if let obstacle { answer.resume(returning: .failure(obstacle)) }
      }
    } onCancel: {
      cancellation.set()
      post { $0.hearings.stopWaiting(number) }
    }
    return try result.get()
  }
}

extension GroupLoop {
  fileprivate func hear(
    _ number: Int, _ kind: Hearings.Kind, within limit: Duration,
    _ command: (GroupLoop) -> CommandReply, _ answer: @escaping Hearings.Answer
  ) {
    if case .failure(let refusal) = command(self) { return answer(.failure(TuttiError(refusal))) }
    hearings.began(kind)
    let span = Nanoseconds(min(max(0, limit.wholeNanoseconds), Hearings.longestWait))
    hearings.wait(number, kind, until: now + span, answer)
  }
}

/// Tells that a waiting task was cancelled. From any thread.
final class Cancellation: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
