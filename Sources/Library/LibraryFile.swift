import Dispatch
import House
import SQLiteStore
import Service
import Synchronization

/// The file of the tables, with the threads that read and write it. One that turns out damaged is set aside and made anew
/// by a scan; stations and playlists are saved as far as they can be read. From any thread.
final class LibraryFile: Sendable {
  /// A disk that damages more files than this is not used any more.
  static let renewalLimit = 3

  private struct Parts: Sendable {
    let reader: LibraryReader
    let scanner: LibraryScanner
    /// How often the file was made anew before.
    let number: Int
  }

  private enum State: Sendable {
    case open(Parts)
    case renewing
    case lost(String)
    /// Questions are answered, and nothing is written any more.
    case closed(LibraryReader)
  }

  private let settings: Mutex<LibraryScanner.Settings>
  private let changed: @Sendable (HouseState.LibraryFigures) -> Void
  private let report: @Sendable (String) -> Void
  private let state = Mutex(State.renewing)
  /// Where files are made anew: it waits for the other threads.
  private let renewal = DispatchQueue(label: "tutti library file")

  init(
    _ settings: LibraryScanner.Settings,
    changed: @escaping @Sendable (HouseState.LibraryFigures) -> Void,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    self.settings = Mutex(settings)
    (self.changed, self.report) = (changed, report)
    do {
      try open(number: 0)
    } catch let error as SQLiteError {
      try renew(after: error, number: 1)
    }
  }

  /// Call it once.
  func close() {
    renewal.sync {
      guard let parts = take() else { return }
      parts.scanner.close()
      state.withLock { $0 = .closed(parts.reader) }
    }
  }

  var isLost: Bool { if case .lost = state.withLock({ $0 }) { true } else { false } }

  func answer<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(Refusal) -> Value {
    switch state.withLock({ $0 }) {
    case .open(let parts): try await parts.reader.answer(body)
    case .closed(let reader): try await reader.answer(body)
    case .renewing: throw LibraryReader.renewing
    case .lost(let reason): throw .unavailable("The library cannot be used: \(reason).")
    }
  }

  /// As `answer`, for what changes stations, playlists and favourites: whoever shows them is told.
  func edit<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(Refusal) -> Value {
    defer { if case .open(let parts) = state.withLock({ $0 }) { parts.scanner.noteEdit() } }
    return try await answer(body)
  }

  func scan() {
    if case .open(let parts) = state.withLock({ $0 }) { parts.scanner.ask() }
  }

  /// Takes the open parts out: nobody uses them from here on.
  private func take() -> Parts? {
    state.withLock { state in
      guard case .open(let parts) = state else { return nil }
      state = .renewing
      return parts
    }
  }

  /// Scans other folders, and asks other servers, from now on. The present scan ends; questions are answered all the time.
  func set(_ folders: LibraryFolders, _ servers: [MediaServer]) {
    renewal.async { [self] in
      settings.withLock { ($0.folders, $0.servers) = (folders, servers) }
      guard case .open(let parts) = state.withLock({ $0 }) else { return }
      parts.scanner.close()
      do {
        try state.withLock { state in
          let scanner = try scanner(number: parts.number)
          state = .open(Parts(reader: parts.reader, scanner: scanner, number: parts.number))
        }
      } catch {
        report("the library cannot be scanned: \(error)")
      }
    }
  }

  private func scanner(number: Int) throws -> LibraryScanner {
    try LibraryScanner(
      settings.withLock { $0 }, changed: changed, report: report,
      damaged: { [weak self] error in self?.turnedOut(error, number: number) })
  }

  // MARK: - Making it

  private func open(number: Int) throws {
    let path = settings.withLock { $0.database }
    let database = try Database(path: path)
    guard try LibrarySchema.prepare(database) else {
      throw MediaLibrary.Failure(
        description: "\(path) is of a newer version of tutti; update tutti")
    }
    let damaged: @Sendable (SQLiteError) -> Void = { [weak self] error in
      self?.turnedOut(error, number: number)
    }
    let reader = try LibraryReader(
      path: path,
      folders: { [weak self] in self?.settings.withLock { $0.folders } ?? LibraryFolders([]) },
      places: settings.withLock { $0.places }, damaged: damaged)
    // A scanner that finds damage at once must find the others there.
    try state.withLock { state in
      let scanner = try scanner(number: number)
      state = .open(Parts(reader: reader, scanner: scanner, number: number))
    }
  }

  /// Nothing of the file may be open.
  private func renew(after error: SQLiteError, number: Int) throws {
    let path = settings.withLock { $0.database }
    let aside = try StoreFile.setAside(path, because: error)
    let saved = UserLists(rescuedFrom: aside)
    var line = "\(error); it was set aside as \(aside), and the library is made anew by a scan"
    if !saved.isEmpty { line += "; \(saved.sentence) kept" }
    report(line)
    let database = try Database(path: path)
    guard try LibrarySchema.prepare(database) else { return }
    try saved.write(to: database)
    try open(number: number)
  }

  private func turnedOut(_ error: SQLiteError, number: Int) {
    renewal.async { [self] in
      guard case .open(let parts) = state.withLock({ $0 }), parts.number == number else { return }
      _ = take()
      parts.scanner.close()
      parts.reader.close()
      do {
        guard number < Self.renewalLimit else { throw error }
        try renew(after: error, number: number + 1)
      } catch {
        state.withLock { $0 = .lost("\(error)") }
        report("the library cannot be used: \(error); music plays on without it")
      }
    }
  }
}
