import Glibc
import Synchronization
import Testing

@testable import LinuxIO

struct RealtimeThreadTests {
  @Test func `the body runs with the priority asked for, or a notice says why not`() throws {
    let seen = Seen()
    let thread = try RealtimeThread.start(name: "audio", priority: 5) {
      seen.store(RealtimeThread.currentPriority)
    }
    let notice = thread.notice
    thread.join()
    #expect(seen.priority == (notice == nil ? 5 : nil))
    #expect(seen.runs == 1)
  }

  @Test func `where no priority is granted the thread runs all the same`() throws {
    let seen = Seen()
    // No system grants this priority, not even to root.
    let thread = try RealtimeThread.start(name: "audio", priority: 1000) {
      seen.store(RealtimeThread.currentPriority)
    }
    let notice = thread.notice
    thread.join()
    #expect(notice?.description.contains("without real-time priority") == true)
    #expect(seen.runs == 1 && seen.priority == nil)
  }

  @Test func `a thread is urgent for a while, and those that it starts are not`() throws {
    let (urgent, child, after) = (Seen(), Seen(), Seen())
    let notice = try RealtimeThread.start(name: "audio", priority: 5) {}.notice
    try RealtimeThread.start(name: "audio", priority: nil) {
      var urgency = ThreadUrgency(priority: 5)
      urgency.follow(true)
      urgent.store(RealtimeThread.currentPriority)
      try? RealtimeThread.start(name: "child", priority: nil) {
        child.store(RealtimeThread.currentPriority)
      }.join()
      urgency.follow(false)
      after.store(RealtimeThread.currentPriority)
    }.join()
    #expect(urgent.priority == (notice == nil ? 5 : nil))
    #expect(child.runs == 1 && child.priority == nil)
    #expect(after.runs == 1 && after.priority == nil)
  }

  @Test func `its name shows, cut to what the kernel keeps`() throws {
    let seen = Seen()
    let thread = try RealtimeThread.start(name: "a-name-too-long-for-it", priority: nil) {
      let comm = try? StateFile(path: "/proc/thread-self/comm").read(limit: 100)
      seen.name.withLock { $0 = String(decoding: comm ?? [], as: UTF8.self) }
    }
    #expect(thread.notice == nil)
    thread.join()
    #expect(seen.name.withLock { $0 } == "a-name-too-long\n")
  }

  @Test func `signals are left to the thread that watches for them`() throws {
    let watched = [SIGINT, SIGTERM, SIGHUP, SIGWINCH]
    let seen = Seen()
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try RealtimeThread.start(name: "audio", priority: nil) {
      seen.signals.withLock { $0 = Self.blocked(of: watched) }
    }.join()
    #expect(seen.signals.withLock { $0 } == watched)
    #expect(Self.blocked(of: watched) == [])
  }

  /// Returns those of the signals that the calling thread blocks.
  private static func blocked(of signals: [Int32]) -> [Int32] {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    return signals.filter { sigismember(&mask, $0) == 1 }
  }

  @Test func `memory is locked, or the answer says how to allow it`() {
    let error = lockMemory()
    #expect(error == nil || error?.text.contains("CAP_IPC_LOCK") == true)
    munlockall()
  }
}

private final class Seen: Sendable {
  private let state = Mutex<(priority: Int32?, runs: Int)>((nil, 0))
  let name = Mutex("")
  let signals = Mutex<[Int32]>([])

  var priority: Int32? { state.withLock { $0.priority } }
  var runs: Int { state.withLock { $0.runs } }

  func store(_ priority: Int32?) { state.withLock { $0 = (priority, $0.runs + 1) } }
}
