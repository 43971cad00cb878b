import Dispatch
import Synchronization
import Testing

@testable import LinuxIO

@Suite struct NewestValueThreadTests {
  private final class Record: Sendable {
    let values = Mutex<[Int]>([])
    /// The work for each value waits for one signal of this.
    let leave = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
  }

  private let record = Record()

  private func makeThread() throws -> NewestValueThread<Int> {
    try NewestValueThread(name: "test") { [record] in
      { value in
        record.begun.signal()
        record.leave.wait()
        record.values.withLock { $0.append(value) }
        record.done.signal()
      }
    }
  }

  @Test func `of what comes while one is done the newest is done`() throws {
    let thread = try makeThread()
    thread.post(1)
    record.begun.wait()
    for value in 2...100_000 { thread.post(value) }
    #expect(!thread.finish(within: 1))
    for _ in 0..<2 { record.leave.signal() }
    #expect(thread.finish(within: 60_000))
    #expect(record.values.withLock { $0 } == [1, 100_000])
  }

  @Test func `what was posted is done though the owner has gone`() throws {
    var thread: NewestValueThread<Int>? = try makeThread()
    thread?.post(7)
    thread = nil
    record.leave.signal()
    record.done.wait()
    #expect(record.values.withLock { $0 } == [7])
  }
}
