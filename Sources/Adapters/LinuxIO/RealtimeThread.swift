internal import CSys
internal import Glibc

/// A thread of its own for work that must not wait behind a thread pool: SCHED_FIFO if the system grants it.
///
/// Its owner joins or detaches it; a dropped thread runs on by itself.
package struct RealtimeThread: ~Copyable, Sendable {
  /// In bytes: enough for Tutti's loops, and small enough to be locked into memory.
  package static let stackSize = 256 * 1024
  /// Bytes of the stack that are paged in before the body runs.
  static let touchedStack = 128 * 1024

  /// A refused request; the thread runs with normal priority.
  package enum Notice: Hashable, Sendable, CustomStringConvertible {
    case normalPriority(IOError)

    package var description: String {
      switch self {
      case .normalPriority(let error):
        """
        runs without real-time priority (\(IOError.reason(error.code))); \
        grant CAP_SYS_NICE or LimitRTPRIO for steadier timing
        """
      }
    }
  }

  package let notice: Notice?
  /// `nil` once joined.
  private var thread: pthread_t?

  /// Starts a thread. `name` shows in `top -H`; 15 bytes of it are kept. `priority` is that of SCHED_FIFO, 1 to 99;
  /// `nil` asks for the normal scheduler. Throws only if no thread can be started at all.
  package static func start(
    name: String, priority: Int32?, _ body: @escaping @Sendable () -> Void
  ) throws(IOError) -> RealtimeThread {
    let context = Unmanaged.passRetained(ThreadContext(name: name, body: body))
    var thread = pthread_t()
    var notice: Notice?
    var result = launch(&thread, context, priority: priority ?? 0)
    if result < 0, priority != nil {
      notice = .normalPriority(
        IOError(call: "pthread_create", code: -result, subject: "thread \(name)"))
      result = launch(&thread, context, priority: 0)
    }
    if result < 0 {
      context.release()
      throw IOError(call: "pthread_create", code: -result, subject: "thread \(name)")
    }
    return RealtimeThread(notice: notice, thread: thread)
  }

  private init(notice: Notice?, thread: pthread_t) {
    self.notice = notice
    self.thread = thread
  }

  /// Waits until the body has returned.
  package consuming func join() {
    if let thread { pthread_join(thread, nil) }
    thread = nil
  }

  package consuming func detach() {}

  deinit {
    if let thread { pthread_detach(thread) }
  }

  private static func launch(
    _ thread: inout pthread_t, _ context: Unmanaged<ThreadContext>, priority: Int32
  ) -> Int32 {
    csys_thread_start(&thread, threadBody, context.toOpaque(), stackSize, priority)
  }

  /// The SCHED_FIFO priority of the calling thread; `nil` under the normal scheduler.
  package static var currentPriority: Int32? {
    let priority = csys_thread_priority()
    return priority > 0 ? priority : nil
  }
}

/// Real-time priority while a thread's work is urgent. If the system does not grant it, nothing changes. For one
/// thread, which alone may call it.
package struct ThreadUrgency {
  private let priority: Int32
  private var isUrgent = false
  private var isRaised = false

  /// `priority` is that of SCHED_FIFO, 1 to 99.
  package init(priority: Int32) { self.priority = priority }

  package mutating func follow(_ isUrgent: Bool) {
    guard isUrgent != self.isUrgent else { return }
    self.isUrgent = isUrgent
    if isRaised { _ = csys_thread_prefer(0) }
    // A priority that somebody else has set stays.
    isRaised =
      isUrgent && RealtimeThread.currentPriority == nil && csys_thread_prefer(priority) == 0
  }
}

/// Locks the process into memory: its present pages, and later pages as they are touched, so that untouched stacks cost
/// nothing. Returns the system's error if it refused.
package func lockMemory() -> IOError? {
  let result = csys_lock_memory()
  guard result < 0 else { return nil }
  return IOError(
    call: "mlockall", code: -result,
    text: """
      it may be paged out (\(IOError.reason(-result))); \
      grant CAP_IPC_LOCK or LimitMEMLOCK for steadier timing
      """)
}

/// Makes freed memory go back to the system, at the cost of some time for large pieces: for programs that run for
/// months and sometimes need much memory for a moment. Call it before other threads start.
package func returnFreedMemory() { csys_return_memory() }

private final class ThreadContext: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func threadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let thread = Unmanaged<ThreadContext>.fromOpaque(context).takeRetainedValue()
  csys_thread_prepare(thread.name, RealtimeThread.touchedStack)
  thread.body()
  return nil
}
