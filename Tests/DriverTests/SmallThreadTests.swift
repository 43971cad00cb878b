import Audio
import Clock
import Dispatch
import LinuxIO
import Testing

@testable import Driver
@testable import Sender

/// Encoders for rooms with weak links, which hold a thread up where they are made.
@Suite struct SmallThreadTests {
  private static func order(_ attempt: UInt64) -> SmallOrder {
    SmallOrder(attempt: attempt, start: .zero, pieces: [])
  }

  @Test func `the thread makes small packets, and leaves out what is obsolete`() throws {
    let reactor = try Reactor()
    let batches = Inbox<SmallBatch>(limit: SmallThread.batchLimit, waker: reactor.waker)
    let (entered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let thread = SmallThread(
      batches: batches,
      choice: SmallChoice(codec: .opus) {
        entered.signal()
        released.wait()
        return SmallEncoder(
          makeDecoder: { _ throws(CodecError) in throw .unsupported("not here") },
          makeEncoder: { _ throws(CodecError) in throw .unsupported("not here") })
      })
    thread.make(Self.order(1))
    entered.wait()
    for attempt in 2...100 as ClosedRange<UInt64> { thread.make(Self.order(attempt)) }
    released.signal()
    var taken = batches.take()
    while taken.isEmpty {
      _ = try reactor.wait(until: nil)
      taken = batches.take()
    }
    #expect(taken.map(\.attempt) == [100])
    #expect(batches.droppedCount == 0)
    thread.stop()
  }
}
