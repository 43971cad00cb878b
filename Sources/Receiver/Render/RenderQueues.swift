import Audio

/// Carries plain values between the render thread and one other thread: one producer, one consumer, memory
/// allocated once. The render thread uses `RenderCommandReader` and `RenderReportWriter`, because the compiler
/// accepts no generic code there; `send` and `receive` are for the other thread.
///
/// Unchecked because the compiler cannot see the rule that makes it safe: slots between the two counters belong
/// to the consumer, the others to the producer, and the counters are atomic.
@safe
package final class RenderQueue<Element: Sendable>: @unchecked Sendable {
  let slots: UnsafeMutablePointer<Element>
  let counters: UnsafeMutablePointer<QueueCounters>
  let capacity: Int64

  init(capacity: Int, filledWith element: Element) {
    self.capacity = Int64(capacity)
    unsafe slots = .allocate(capacity: capacity)
    unsafe slots.initialize(repeating: element, count: capacity)
    unsafe counters = .allocate(capacity: 1)
    unsafe counters.initialize(to: QueueCounters())
  }

  deinit {
    unsafe slots.deinitialize(count: Int(capacity))
    unsafe slots.deallocate()
    unsafe counters.deinitialize(count: 1)
    unsafe counters.deallocate()
  }

  /// Adds an element. Returns false, without adding it, if the queue is full. Producer only.
  package func send(_ element: Element) -> Bool {
    let put = unsafe counters.pointee.put()
    guard unsafe put - counters.pointee.taken() < capacity else { return false }
    unsafe slots[Int(put % capacity)] = element
    unsafe counters.pointee.publish(put: put + 1)
    return true
  }

  /// Removes and returns the oldest element. Consumer only.
  package func receive() -> Element? {
    let taken = unsafe counters.pointee.taken()
    guard unsafe taken < counters.pointee.put() else { return nil }
    let element = unsafe slots[Int(taken % capacity)]
    unsafe counters.pointee.publish(taken: taken + 1)
    return element
  }
}

extension RenderQueue where Element == RenderCommand {
  /// Makes a queue of 64: a listener who skips ten times a second causes thirty commands, and the render thread
  /// is called for them. If it is full, the render thread does not run; keep the command
  /// and send it later.
  package static func commands() -> RenderQueue<RenderCommand> {
    RenderQueue(capacity: 64, filledWith: .forgetSchedule)
  }
}

extension RenderQueue where Element == RenderReport {
  /// Makes a queue of 64, three seconds of reports. While it is full, new ones are dropped and counted.
  package static func reports() -> RenderQueue<RenderReport> {
    RenderQueue(capacity: 64, filledWith: RenderReport())
  }
}

/// The render thread's end of the command queue.
@safe
struct RenderCommandReader: ~Copyable {
  private let queue: RenderQueue<RenderCommand>
  private let slots: UnsafeMutablePointer<RenderCommand>
  private let counters: UnsafeMutablePointer<QueueCounters>
  private let capacity: Int64

  init(_ queue: RenderQueue<RenderCommand>) {
    self.queue = queue
    unsafe slots = queue.slots
    unsafe counters = queue.counters
    capacity = queue.capacity
  }

  @_noLocks @_noAllocation
  func next() -> RenderCommand? {
    let taken = unsafe counters.pointee.taken()
    guard unsafe taken < counters.pointee.put() else { return nil }
    let command = unsafe slots[Int(taken % capacity)]
    unsafe counters.pointee.publish(taken: taken + 1)
    return command
  }
}

/// The render thread's end of the report queue.
@safe
struct RenderReportWriter: ~Copyable {
  private let queue: RenderQueue<RenderReport>
  private let slots: UnsafeMutablePointer<RenderReport>
  private let counters: UnsafeMutablePointer<QueueCounters>
  private let capacity: Int64

  init(_ queue: RenderQueue<RenderReport>) {
    self.queue = queue
    unsafe slots = queue.slots
    unsafe counters = queue.counters
    capacity = queue.capacity
  }

  /// Returns false if the queue is full.
  @_noLocks @_noAllocation
  func send(_ report: RenderReport) -> Bool {
    let put = unsafe counters.pointee.put()
    guard unsafe put - counters.pointee.taken() < capacity else { return false }
    unsafe slots[Int(put % capacity)] = report
    unsafe counters.pointee.publish(put: put + 1)
    return true
  }
}
