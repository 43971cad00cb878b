/// A sequence of the numbers of frames that a renderer can accept. For one iteration at a time.
public struct MediaDataRequests: AsyncSequence, Sendable {
  public typealias Element = Int
  public typealias Failure = Never

  let queue: SampleQueue

  public struct Iterator: AsyncIteratorProtocol {
    let queue: SampleQueue

    /// Waits for space and returns the number of frames; nil if nothing can be enqueued any more,
    /// or the task is cancelled.
    public mutating func next() async -> Int? { await queue.waitForRoom() }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Int? {
      await queue.waitForRoom()
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }
}
