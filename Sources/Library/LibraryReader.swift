import Dispatch
import House
import SQLiteStore
import Service
import Synchronization

/// A connection of its own and a thread of its own, on which questions are answered one after the other.
final class LibraryReader: Sendable {
  /// Questions that wait. More are refused: somebody asks faster than a disk answers.
  static let waitingLimit = 256

  private let queue = DispatchQueue(label: "tutti library")
  /// Nil once it is closed.
  private let database: Mutex<Database?>
  private let waiting = Atomic<Int>(0)
  private let damaged: @Sendable (SQLiteError) -> Void

  /// - Parameter damaged: called on the reader's thread where the file turns out to be.
  init(
    path: String, damaged: @escaping @Sendable (SQLiteError) -> Void
  ) throws(SQLiteError) {
    // Edits of users are made here: those are kept over a power cut, while a scan can be repeated.
    database = try Mutex(Database(path: path, survivesPowerCuts: true))
    self.damaged = damaged
  }

  /// Waits for the question that is being answered; those that wait are told to ask again.
  func close() {
    queue.sync { database.withLock { $0 = nil } }
  }

  func answer<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(Refusal) -> Value {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.waitingLimit else {
      waiting.subtract(1, ordering: .relaxed)
      throw .unavailable("The library has too much to do; try again in a moment.")
    }
    let result: Result<Value, Refusal> = await withCheckedContinuation { continuation in
      queue.async { [self] in
        let result = database.withLock { database in self.result { try body(database.open) } }
        waiting.subtract(1, ordering: .relaxed)
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  static let renewing = Refusal.notYet(
    "The library's file was damaged and is made anew; try again in a moment.")

  private func result<Value>(_ body: () throws -> Value) -> Result<Value, Refusal> {
    do {
      return .success(try body())
    } catch let problem as Refusal {
      return .failure(problem)
    } catch let error as SQLiteError where error.kind == .damaged {
      damaged(error)
      return .failure(Self.renewing)
    } catch let error as SQLiteError where error.isFullDisk {
      return .failure(.notKept(error))
    } catch {
      return .failure(.unavailable("The library cannot be read: \(error)."))
    }
  }
}

extension Database? {
  fileprivate var open: Database {
    get throws {
      guard let database = self else { throw LibraryReader.renewing }
      return database
    }
  }
}
