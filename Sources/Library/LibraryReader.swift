import Dispatch
import Driver
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
  private let folders: @Sendable () -> LibraryFolders
  private let places: KeptPlaces

  /// - Parameters:
  ///   - folders: those of the library by now.
  ///   - places: where the places go at which items were left.
  ///   - damaged: called on the reader's thread where the file turns out to be.
  init(
    path: String, folders: @escaping @Sendable () -> LibraryFolders = { LibraryFolders([]) },
    places: KeptPlaces = KeptPlaces(), damaged: @escaping @Sendable (SQLiteError) -> Void
  ) throws(SQLiteError) {
    // Edits of users are made here: those are kept over a power cut, while a scan can be repeated.
    let database = try Database(path: path, survivesPowerCuts: true)
    places.replace(with: try Places.ofTurns(folders(), database))
    self.database = Mutex(database)
    (self.folders, self.places, self.damaged) = (folders, places, damaged)
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
        let result = database.withLock { database in
          self.result { try self.answer(body, database.open) }
        }
        waiting.subtract(1, ordering: .relaxed)
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  /// Those who play know what an edit has done to places before it is answered.
  private func answer<Value>(
    _ body: (Database) throws -> Value, _ database: Database
  ) throws -> Value {
    let before = database.totalChanges
    defer {
      if database.totalChanges != before, let now = try? Places.ofTurns(folders(), database) {
        places.replace(with: now)
      }
    }
    return try body(database)
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
