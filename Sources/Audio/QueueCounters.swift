import Synchronization

/// The shared part of a queue from one thread to one other thread: how many elements were ever put in and ever
/// taken out. The slots themselves belong to whoever uses this.
package struct QueueCounters: ~Copyable {
  private let putCount = Atomic<Int64>(0)
  private let takenCount = Atomic<Int64>(0)

  package init() {}

  /// Consumer's view; what was put before this count is visible.
  @_noLocks @_noAllocation
  package func put() -> Int64 { putCount.load(ordering: .acquiring) }

  /// Producer's view; slots of elements before this count may be overwritten.
  @_noLocks @_noAllocation
  package func taken() -> Int64 { takenCount.load(ordering: .acquiring) }

  /// Producer only, after the slots are filled.
  @_noLocks @_noAllocation
  package func publish(put count: Int64) { putCount.store(count, ordering: .releasing) }

  /// Consumer only, after it last read the slots.
  @_noLocks @_noAllocation
  package func publish(taken count: Int64) { takenCount.store(count, ordering: .releasing) }
}
