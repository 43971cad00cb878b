import Synchronization

/// The shared part of a queue from one thread to one other thread: the numbers of elements that were ever put
/// in and ever taken out. The slots themselves belong to the user of this type.
package struct QueueCounters: ~Copyable {
  private let putCount = Atomic<Int64>(0)
  private let takenCount = Atomic<Int64>(0)

  package init() {}

  /// The consumer's view. Elements that were put before this count are visible.
  @_noLocks @_noAllocation
  package func put() -> Int64 { putCount.load(ordering: .acquiring) }

  /// The producer's view. Slots of elements before this count may be overwritten.
  @_noLocks @_noAllocation
  package func taken() -> Int64 { takenCount.load(ordering: .acquiring) }

  /// For the producer only, after it has filled the slots.
  @_noLocks @_noAllocation
  package func publish(put count: Int64) { putCount.store(count, ordering: .releasing) }

  /// For the consumer only, after it has last read the slots.
  @_noLocks @_noAllocation
  package func publish(taken count: Int64) { takenCount.store(count, ordering: .releasing) }
}
