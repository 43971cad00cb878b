/// How many frames a renderer can take, again and again. For one iteration at a time.
public struct MediaDataRequests: AsyncSequence, Sendable {
  public typealias Element = Int
  public typealias Failure = Never

  let queue: SampleQueue

  public struct Iterator: AsyncIteratorProtocol {
    let queue: SampleQueue

    /// Nil when nothing can be enqueued any more, and when the task is cancelled.
    public mutating func next() async -> Int? { await queue.waitForRoom() }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Int? {
      await queue.waitForRoom()
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }
}
