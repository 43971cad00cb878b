internal import Clock
internal import Driver
internal import FFmpegSource
internal import LinuxIO
internal import Sender
internal import WireProtocol

/// A `GroupDriver` on a thread of its own, to which programs send jobs. The thread ends with `close`; public objects
/// close the engine when they are dropped.
final class GroupEngine: Sendable {
  struct Plan: Sendable {
    var settings: OutputSettings
    var items: [PlaylistEntry]
    var holdsAtCuts: Bool
    /// Opens an item. A source that waits for the network calls `report`.
    var open:
      @Sendable (
        PlayItem, _ report: @escaping @Sendable (SourceNotice) -> Void
      ) throws(MediaError) -> any MediaSource
    var reads: ReadControl
    /// Called on the engine's thread.
    var onEvent: @Sendable (GroupEvent, GroupLoop) -> Void
    /// Called on the engine's thread after a room was removed.
    var onRemoval: @Sendable (Room.ID) -> Void
    /// Called on the engine's thread after each of its turns.
    var onTurn: @Sendable (GroupLoop) -> Void
    /// Called on the engine's thread with the latency to which a live source is to move.
    var onLatency: @Sendable (Nanoseconds) -> Void = { _ in }
    /// Returns the time of the next turn if nothing happens before.
    var deadline: @Sendable () -> LocalTime? = { nil }
    /// Called when the thread has ended.
    var onEnd: @Sendable () -> Void
  }

  typealias Job = Mailbox<GroupLoop>.Job

  private let mailbox: Mailbox<GroupLoop>

  private init(_ mailbox: Mailbox<GroupLoop>) { self.mailbox = mailbox }

  deinit { close() }

  /// Starts the thread.
  static func start(_ plan: Plan) async throws(TuttiError) -> GroupEngine {
    let encoders = try plan.settings.encoders()
    let started: Result<GroupEngine, TuttiError> = await withCheckedContinuation { answer in
      do throws(IOError) {
        try RealtimeThread.start(name: "tutti", priority: nil) {
          Self.run(plan, encoders: encoders, answer: answer)
        }.detach()
      } catch {
        answer.resume(returning: .failure(.unavailable("\(error)")))
      }
    }
    return try started.get()
  }

  private static func run(
    _ plan: Plan, encoders: EncoderChoice,
    answer: CheckedContinuation<Result<GroupEngine, TuttiError>, Never>
  ) {
    let loop: GroupLoop
    do throws(TuttiError) {
      loop = try Self.loop(plan, encoders: encoders)
    } catch {
      plan.onEnd()
      return answer.resume(returning: .failure(error))
    }
    answer.resume(returning: .success(GroupEngine(loop.mailbox)))
    loop.run()
  }

  private static func loop(
    _ plan: Plan, encoders: EncoderChoice
  ) throws(TuttiError) -> GroupLoop {
    let key = try plan.settings.key()
    do throws(IOError) {
      return try GroupLoop(plan, encoders: encoders, key: key)
    } catch {
      throw .unavailable("\(error)")
    }
  }

  /// Runs `body` on the engine's thread.
  ///
  /// - Throws: `TuttiError.closed`; `busy` if `Mailbox.limit` calls wait already.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (GroupLoop) -> Value
  ) async throws(TuttiError) -> Value {
    do {
      return try await mailbox.perform(body)
    } catch {
      throw TuttiError(error)
    }
  }

  /// Carries out a command on the engine's thread.
  ///
  /// - Throws: the same errors, and the session's refusals.
  @discardableResult
  func carryOut(_ command: PlayerCommand) async throws(TuttiError) -> CommandOutcome {
    try await answer { $0.driver.carryOut(command) }
  }

  @discardableResult
  func answer(
    _ body: @escaping @Sendable (GroupLoop) -> CommandReply
  ) async throws(TuttiError) -> CommandOutcome {
    try await perform(body).mapError(TuttiError.init).get()
  }

  /// Adds a job without waiting, for calls that a program may repeat freely. Returns the reason if it is not accepted.
  func offer(_ body: @escaping Job) -> TuttiError? { mailbox.offer(body).map(TuttiError.init) }

  /// Adds a job without waiting, for jobs that must not be lost and are bounded elsewhere. Returns false if the engine
  /// is closed.
  @discardableResult
  func post(_ body: @escaping Job) -> Bool { mailbox.post(body) }

  /// Fades out, ends the rooms' sessions, and ends the thread.
  func close() {
    mailbox.post { $0.close() }
  }

  /// Does the same, and waits for the end of the thread.
  func closeAndWait() async {
    await withCheckedContinuation { answer in
      let isTaken = mailbox.post { loop in
        loop.whenEnded { answer.resume() }
        loop.close()
      }
      if !isTaken { answer.resume() }
    }
  }
}

extension TuttiError {
  init(_ refusal: CommandRefusal) {
    switch refusal {
    case .notSeekable, .isLive, .hasNoLive, .cannotBeginAnew: self = .notSeekable
    case .nothingPlays: self = .noSuchItem
    case .noSuchItem: self = .noSuchItem
    case .playlistIsFull: self = .playlistIsFull
    case .noSuchRoom: self = .noSuchRoom
    case .volumeLimitIsFixed, .keepsNoVolumeLimit, .keepsNoSound, .hasNoFIR:
      self = .invalid(refusal.description)
    case .finished: self = .closed
    }
  }

  init(_ refusal: MailboxRefusal) {
    switch refusal {
    case .closed: self = .closed
    case .busy: self = .busy
    }
  }
}
