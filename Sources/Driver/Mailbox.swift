package import LinuxIO
import Synchronization

/// Why an event loop does not take a job.
package enum MailboxRefusal: Error, Hashable, Sendable {
  case closed
  /// `Mailbox.limit` jobs wait already.
  case busy
}

/// Jobs from other threads for that of an event loop, in order. After `close` none is taken any more.
package final class Mailbox<Context>: Sendable {
  package typealias Job = @Sendable (Context) -> Void

  /// Jobs that wait for the loop's thread. It takes all of them many times a second, so that only a program that calls
  /// from very many tasks at once gets here.
  package static var limit: Int { 1024 }

  private let state = Mutex<(jobs: [Job], isClosed: Bool)>(([], false))
  private let waker: Waker

  package init(waker: Waker) { self.waker = waker }

  /// Why the job is not taken, where it is not.
  package func offer(_ job: @escaping Job) -> MailboxRefusal? { add(job, atMost: Self.limit) }

  /// Beyond the limit, too: for ends of what was offered before, of which each comes once. False where it is closed.
  @discardableResult
  package func post(_ job: @escaping Job) -> Bool { add(job, atMost: .max) == nil }

  /// What `body` makes on the loop's thread.
  package func perform<Value: Sendable>(
    _ body: @escaping @Sendable (Context) -> Value
  ) async throws(MailboxRefusal) -> Value {
    let result: Result<Value, MailboxRefusal> = await withCheckedContinuation { answer in
      let refusal = offer { context in answer.resume(returning: .success(body(context))) }
      if let refusal { answer.resume(returning: .failure(refusal)) }
    }
    return try result.get()
  }

  /// On the loop's thread.
  package func runJobs(in context: Context) {
    for job in take(andClose: false) { job(context) }
  }

  /// The same for the last time: none is lost.
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
