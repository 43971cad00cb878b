package import LinuxIO
import Synchronization

/// Reasons why an event loop does not accept a job.
package enum MailboxRefusal: Error, Hashable, Sendable {
  case closed
  /// `Mailbox.limit` jobs wait already.
  case busy
}

/// Carries jobs from other threads to the thread of an event loop, in order. Accepts none after `close`.
package final class Mailbox<Context>: Sendable {
  package typealias Job = @Sendable (Context) -> Void

  /// Largest number of waiting jobs. The loop's thread takes all of them many times per second, so only a program that
  /// calls from very many tasks at once reaches it.
  package static var limit: Int { 1024 }

  private let state = Mutex<(jobs: [Job], isClosed: Bool)>(([], false))
  private let waker: Waker

  package init(waker: Waker) { self.waker = waker }

  /// Adds a job. Returns the reason if it is not accepted.
  package func offer(_ job: @escaping Job) -> MailboxRefusal? { add(job, atMost: Self.limit) }

  /// Adds a job and ignores the limit. Use it only for completions of accepted jobs, each of which comes once. Returns
  /// false if the mailbox is closed.
  @discardableResult
  package func post(_ job: @escaping Job) -> Bool { add(job, atMost: .max) == nil }

  /// Runs `body` on the loop's thread and returns its result.
  package func perform<Value: Sendable>(
    _ body: @escaping @Sendable (Context) -> Value
  ) async throws(MailboxRefusal) -> Value {
    let result: Result<Value, MailboxRefusal> = await withCheckedContinuation { answer in
      let refusal = offer { context in answer.resume(returning: .success(body(context))) }
      if let refusal { answer.resume(returning: .failure(refusal)) }
    }
    return try result.get()
  }

  /// Runs the waiting jobs. On the loop's thread.
  package func runJobs(in context: Context) {
    for job in take(andClose: false) { job(context) }
  }

  /// Runs the waiting jobs for the last time, and accepts no more; none is lost.
  package func close(in context: Context) {
    for job in take(andClose: true) { job(context) }
  }

  private func add(_ job: @escaping Job, atMost limit: Int) -> MailboxRefusal? {
    let refusal: MailboxRefusal? = state.withLock { state in
      if state.isClosed { return .closed }
      guard state.jobs.count < limit else { return .busy }
      state.jobs.append(job)
      return nil
    }
    if refusal == nil { waker.wake() }
    return refusal
  }

  private func take(andClose closes: Bool) -> [Job] {
    state.withLock { state in
      state.isClosed = state.isClosed || closes
      defer { state.jobs = [] }
      return state.jobs
    }
  }
}
