import Dispatch
import SQLiteStore
import Service
import Synchronization

/// A connection of its own and a thread of its own, on which questions are answered one after the other.
final class LibraryReader: Sendable {
  /// Questions that wait. More are refused: somebody asks faster than a disk answers.
  static let waitingLimit = 256

  private let queue = DispatchQueue(label: "tutti library")
  private let database: Mutex<Database>
  private let waiting = Atomic<Int>(0)

  init(path: String) throws(SQLiteError) { database = try Mutex(Database(path: path)) }

  func answer<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(HouseProblem) -> Value {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.waitingLimit else {
      waiting.subtract(1, ordering: .relaxed)
      throw .unavailable("The library has too much to do; try again in a moment.")
    }
    let result: Result<Value, HouseProblem> = await withCheckedContinuation { continuation in
      queue.async { [self] in
        let result = database.withLock { database in Self.result { try body(database) } }
        waiting.subtract(1, ordering: .relaxed)
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  private static func result<Value>(_ body: () throws -> Value) -> Result<Value, HouseProblem> {
    do {
      return .success(try body())
    } catch let problem as HouseProblem {
      return .failure(problem)
    } catch {
      return .failure(.unavailable("The library cannot be read: \(error)."))
    }
  }
}
