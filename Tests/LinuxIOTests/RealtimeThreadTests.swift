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
    // No system grants this one, not even to root.
    let thread = try RealtimeThread.start(name: "audio", priority: 1000) {
      seen.store(RealtimeThread.currentPriority)
    }
    let notice = thread.notice
    thread.join()
    #expect(notice?.description.contains("without real-time priority") == true)
    #expect(seen.runs == 1 && seen.priority == nil)
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

  @Test func `memory is locked, or the answer says how to allow it`() {
    let error = lockMemory()
    #expect(error == nil || error?.text.contains("CAP_IPC_LOCK") == true)
    munlockall()
  }
}

private final class Seen: Sendable {
  private let state = Mutex<(priority: Int32?, runs: Int)>((nil, 0))
  let name = Mutex("")

  var priority: Int32? { state.withLock { $0.priority } }
  var runs: Int { state.withLock { $0.runs } }

  func store(_ priority: Int32?) { state.withLock { $0 = (priority, $0.runs + 1) } }
}
