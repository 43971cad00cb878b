internal import Dispatch
internal import FFmpegSource
internal import Sender
internal import Synchronization

/// Carries out the calls of one ``MediaReader``, which may wait for long, one after the other on a thread of their own.
final class ReadingQueue: Sendable {
  private struct Calls {
    var last = 0
    /// The one that is carried out.
    var current: Int?
    /// Those that were cancelled before their turn.
    var cancelled: Set<Int> = []
    var isClosed = false
  }

  let interruption: ReadInterruption
  private let queue = DispatchQueue(label: "tutti.reader")
  /// Only the queue's thread locks it.
  private let reading = Mutex<MediaReading?>(nil)
  private let calls = Mutex(Calls())

  init() throws(TuttiError) {
    do throws(MediaError) {
      interruption = try ReadInterruption()
    } catch {
      throw .unavailable(error.description)
    }
  }

  /// Opens the item.
  func open(
    _ media: Media, _ delivery: MediaReader.Delivery, _ opener: MediaOpener
  ) async throws(TuttiError) -> MediaReading.Facts {
    let interruption = interruption
    return try await perform { () throws(MediaError) in
      try self.reading.withLock { reading throws(MediaError) in
        var opened = try MediaReading(
          opener.open(media), delivery, name: media.name, fed: media.fed, interruption)
        let facts = opened.facts()
        reading = opened
        return facts
      }
    }
  }

  /// Changes the item, and returns what is known of it afterwards.
  func change<Value: Sendable>(
    _ body: @escaping @Sendable (inout MediaReading) throws(MediaError) -> Value
  ) async throws(TuttiError) -> (Value, MediaReading.Facts) {
    try await perform { () throws(MediaError) in
      try self.reading.withLock { reading throws(MediaError) in
        guard var opened = reading else {
          throw .broken(path: "the reader", reason: "nothing is open")
        }
        defer { reading = opened }
        let value = try body(&opened)
        return (value, opened.facts())
      }
    }
  }

  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable () throws(MediaError) -> Value
  ) async throws(TuttiError) -> Value {
    let number = calls.withLock { calls in
      calls.last += 1
      return calls.last
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        queue.async { answer.resume(returning: self.carryOut(number, body)) }
      }
    } onCancel: {
      cancel(number)
    }
    // It may have been cancelled when it was done.
    calls.withLock { _ = $0.cancelled.remove(number) }
    return try result.get()
  }

  private func carryOut<Value: Sendable>(
    _ number: Int, _ body: () throws(MediaError) -> Value
  ) -> Result<Value, TuttiError> {
    let refusal: TuttiError? = calls.withLock { calls in
      if calls.isClosed { return .closed }
      if calls.cancelled.remove(number) != nil { return .cancelled }
      interruption.readAgain()
      calls.current = number
      return nil
    }
    if let refusal { return .failure(refusal) }
    defer { calls.withLock { $0.current = nil } }
    do throws(MediaError) {
      return .success(try body())
    } catch {
      return .failure(isEnded ?? TuttiError(error))
    }
  }

  /// Why a call has failed that was ended.
  private var isEnded: TuttiError? {
    guard interruption.isInterrupted(in: interruption.era) else { return nil }
    return calls.withLock { $0.isClosed } ? .closed : .cancelled
  }

  private func cancel(_ number: Int) {
    calls.withLock { calls in
      if calls.current == number {
        interruption.abandonRead()
      } else {
        calls.cancelled.insert(number)
      }
    }
  }

  func close() {
    calls.withLock { $0.isClosed = true }
    interruption.interrupt()
  }
}

extension TuttiError {
  init(_ error: MediaError) {
    self =
      switch error {
      case .notFound: .notFound(error.description)
      case .notAudio, .unsupported: .notPlayable(error.description)
      case .unreadable, .broken, .endsEarly: .broken(error.description)
      case .notSeekable: .notSeekable
      }
  }
}
