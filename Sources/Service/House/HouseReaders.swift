import House

/// Programs and pages that follow what changes in a household.
struct HouseReaders {
  /// Readers at a time; more than any household has surfaces.
  static let limit = 64
  /// Changes that a reader has not taken.
  static let untakenLimit = 256

  private var readers: [(id: Int, stream: AsyncStream<HouseChange>.Continuation)] = []
  private var count = 0

  /// - Parameter ended: called on any thread when the reader has gone.
  mutating func add(
    isOver: Bool, ended: @escaping @Sendable (Int) -> Void
  ) throws(Refusal) -> AsyncStream<HouseChange> {
    guard readers.count < Self.limit else {
      throw .unavailable("too many programs follow what changes; close one")
    }
    let (stream, continuation) = AsyncStream.makeStream(
      of: HouseChange.self, bufferingPolicy: .bufferingOldest(Self.untakenLimit))
    count += 1
    let id = count
    continuation.onTermination = { _ in ended(id) }
    if isOver { continuation.finish() } else { readers.append((id, continuation)) }
    return stream
  }

  mutating func remove(_ id: Int) { readers.removeAll { $0.id == id } }

  /// Ends readers that are too slow.
  mutating func tell(_ change: HouseChange) {
    readers.removeAll { reader in
      if case .enqueued = reader.stream.yield(change) { return false }
      reader.stream.finish()
      return true
    }
  }

  mutating func end() {
    for reader in readers { reader.stream.finish() }
    readers = []
  }
}
