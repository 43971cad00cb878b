import FFmpegSource
import House
import SQLiteStore
import Sender
import Service
import Synchronization

/// One walk through the library's folders, which puts changes since the last one into the tables. For one thread.
final class Scan {
  /// A report during a scan.
  enum News {
    case progress(HouseState.LibraryFigures.Scan)
    /// The tables have new content.
    case written
    /// A line for people.
    case report(String)
  }

  enum Outcome: Error {
    case cancelled
    case failed(String)
  }

  /// Deepest level of nested folders; deeper ones are left out.
  static let depthLimit = 32
  /// Largest number of files in a library; the rest is left out.
  static let trackLimit = 1_000_000
  /// Number of changes in one transaction.
  private static let batch = 500
  /// Largest number of lines about unreadable files.
  private static let reportLimit = 20
  /// Time for which a track without a file is remembered, in seconds.
  private static let memory: Int64 = 30 * 24 * 3_600

  private struct Known {
    var hash: Int64
    var isPresent: Bool
  }

  private let folders: LibraryFolders
  private let writer: TrackWriter
  private let pool: WorkerPool
  private let isCancelled: @Sendable () -> Bool
  /// Called for each folder before it is read, with its path and its location.
  private let watch: (String, String) -> Void
  private let tell: (News) -> Void

  private var known: [ExactName: Known] = [:]
  private var seen: Set<ExactName> = []
  /// Folders whose files may or may not exist.
  private(set) var unclear: [String] = []
  private var changed: [(path: String, count: Int)] = []
  private var fileCount = 0
  private var pending: [TrackWriter.Change] = []
  private var faultCount = 0
  private var done = 0
  private var total = 0

  init(
    _ folders: LibraryFolders, _ writer: TrackWriter, _ pool: WorkerPool,
    isCancelled: @escaping @Sendable () -> Bool, watch: @escaping (String, String) -> Void,
    tell: @escaping (News) -> Void
  ) {
    (self.folders, self.writer, self.pool) = (folders, writer, pool)
    (self.isCancelled, self.watch, self.tell) = (isCancelled, watch, tell)
  }

  /// - Parameter paths: the folders to scan, with all folders below them; nil for all.
  func run(_ paths: [String]? = nil) throws {
    try readKnown()
    for root in folders.roots where !root.isServed && paths?.contains(root.name) ?? true {
      try walk(root)
    }
    for path in paths ?? [] where LibraryPath.parent(path) != nil {
      if let location = folders.location(of: path) { try walk(path, location, depth: 1) }
    }
    try dropGone(paths)
    total = changed.reduce(0) { $0 + $1.count }
    for folder in changed { try read(folder.path) }
    try flush()
    pool.rest()
    if faultCount > Self.reportLimit {
      tell(.report("\(faultCount - Self.reportLimit) more files cannot be read"))
    }
    if paths == nil { try forgetOld() }
  }

  private func readKnown() throws(SQLiteError) {
    let all = try writer.database.prepare("SELECT path, hash, present FROM folder").all { row in
      (ExactName(row.text(0) ?? ""), Known(hash: row.int64(1) ?? 0, isPresent: row.bool(2)))
    }
    known = Dictionary(all) { $1 }
  }

  private func checkCancelled() throws(Outcome) {
    if isCancelled() { throw .cancelled }
  }

  // MARK: - Walking

  /// Walks through a library folder. An empty one is probably not mounted: its files are kept.
  private func walk(_ root: LibraryFolders.Root) throws {
    switch Result(catching: { () throws(FolderListing.Failure) in try FolderListing(root.location) }
    )
    {
    case .success(let listing) where !listing.isEmpty:
      try walk(root.name, root.location, depth: 0)
    case .success:
      unclear.append(root.name)
      tell(.report("\(root.location) is empty: is it mounted? what was in it is kept"))
    case .failure(let failure):
      unclear.append(root.name)
      tell(.report("\(root.location): \(failure.reason); what was in it is kept"))
    }
  }

  private func walk(_ path: String, _ location: String, depth: Int) throws {
    try checkCancelled()
    guard depth <= Self.depthLimit, !seen.contains(ExactName(path)) else { return }
    watch(path, location)
    let listing: FolderListing
    do throws(FolderListing.Failure) {
      listing = try FolderListing(location)
    } catch {
      guard !error.isGone else { return }
      unclear.append(path)
      return tell(.report("\(FileName.shown(location)): \(error.reason); what was in it is kept"))
    }
    if listing.isCut {
      tell(.report("\(FileName.shown(location)): only \(FolderListing.limit) entries are read"))
    }
    seen.insert(ExactName(path))
    fileCount += listing.media.count
    let before = known[ExactName(path)]
    let isSame = before.map { $0.isPresent && $0.hash == Self.mark(listing.hash) } ?? false
    if !isSame, fileCount <= Self.trackLimit { changed.append((path, listing.media.count)) }
    for name in listing.folders {
      try walk("\(path)/\(name)", "\(location)/\(name)", depth: depth + 1)
    }
  }

  /// Returns the stored hash. 0 marks a folder that was not read completely.
  private static func mark(_ hash: Int64) -> Int64 { hash == 0 ? 1 : hash }

  private func dropGone(_ paths: [String]?) throws {
    for (path, folder) in known.sorted(by: { $0.key < $1.key })
    where folder.isPresent && !seen.contains(path) {
      let isInScope = paths?.contains { LibraryPath.isInside(path.text, $0) } ?? true
      let isUnclear = unclear.contains { LibraryPath.isInside(path.text, $0) }
      if isInScope, !isUnclear, !folders.isServed(path.text) { try add(.folderGone(path.text)) }
    }
    try flush()
  }

  // MARK: - Reading

  private struct Stored {
    var number: Int64
    var size: Int64
    var mtime: Int64
    var isMissing: Bool
  }

  private func read(_ path: String) throws {
    guard let location = folders.location(of: path),
      let listing = try? FolderListing(location)
    else { return }
    // A file found elsewhere may have come from here.
    if known[ExactName(path)] != nil { try flush() }
    try add(.folder(path))
    let stored = try stored(in: path)
    let faults = try faults(in: path)
    let names = Set(listing.media.map { ExactName($0.name) })
    for (name, track) in stored.sorted(by: { $0.value.number < $1.value.number })
    where !track.isMissing && !names.contains(name) {
      try add(.missing(track: track.number))
    }
    var fresh: [FolderListing.File] = []
    for file in listing.media {
      let name = ExactName(file.name)
      if let track = stored[name], track.size == file.size, track.mtime == file.mtime {
        if track.isMissing { try add(.returned(track: track.number)) }
      } else if let fault = faults[name], fault.size == file.size, fault.mtime == file.mtime {
        continue
      } else {
        fresh.append(file)
      }
    }
    done += listing.media.count - fresh.count
    let isWhole = try read(fresh, in: path, location)
    try add(.playlists(folder: path, lists(in: listing, location)))
    let image = try image(in: listing, location)
    try add(.read(folder: path, hash: isWhole ? Self.mark(listing.hash) : 0, image: image))
  }

  private func stored(in path: String) throws(SQLiteError) -> [ExactName: Stored] {
    var stored: [ExactName: Stored] = [:]
    try writer.database.prepare(
      """
      SELECT t.name, t.id, t.size, t.mtime, t.missing IS NOT NULL
      FROM track t JOIN folder f ON f.id = t.folder WHERE f.path = ?
      """
    ).forEach([SQLiteValue(path)]) { row in
      stored[ExactName(row.text(0) ?? "")] = Stored(
        number: row.int64(1) ?? 0, size: row.int64(2) ?? 0, mtime: row.int64(3) ?? 0,
        isMissing: row.bool(4))
    }
    return stored
  }

  private func faults(
    in path: String
  ) throws(SQLiteError) -> [ExactName: (size: Int64, mtime: Int64)] {
    var faults: [ExactName: (size: Int64, mtime: Int64)] = [:]
    try writer.database.prepare(
      "SELECT x.name, x.size, x.mtime FROM fault x JOIN folder f ON f.id = x.folder WHERE f.path = ?"
    ).forEach([SQLiteValue(path)]) { row in
      faults[ExactName(row.text(0) ?? "")] = (row.int64(1) ?? 0, row.int64(2) ?? 0)
    }
    return faults
  }

  /// Reads files. Returns false if some of them could not be read now, but may be readable later.
  private func read(
    _ files: [FolderListing.File], in path: String, _ location: String
  ) throws -> Bool {
    var isWhole = true
    for start in stride(from: 0, to: files.count, by: WorkerPool.size) {
      let part = files[start..<min(start + WorkerPool.size, files.count)]
      let answers = try answers(to: part.map { .tags("\(location)/\($0.name)") })
      for (file, answer) in zip(part, answers) {
        switch answer {
        case .tags(let tags): try add(.track(folder: path, file, tags))
        case .unreadable(let reason):
          isWhole = false
          reportFault(reason)
        case .broken(let reason):
          let reason = reason.holds(location) ? reason : "\(location)/\(file.name): \(reason)"
          try add(.fault(folder: path, file, reason: reason))
          reportFault(reason)
        case .gone, .done, .loudness, .feed, .songs, .shelf, .picture, .answered, .useless:
          isWhole = false
        }
      }
      done += part.count
      tell(.progress(.init(done: done, total: max(done, total), folder: FileName.shown(path))))
    }
    return isWhole
  }

  private func answers(to requests: [WorkerRequest]) throws(Outcome) -> [WorkerAnswer] {
    try checkCancelled()
    let answers: [WorkerAnswer]
    do throws(WorkerPool.Useless) {
      answers = try pool.answers(to: requests)
    } catch {
      throw .failed(error.reason)
    }
    guard answers.count == requests.count else { throw .cancelled }
    return answers
  }

  private func reportFault(_ reason: String) {
    faultCount += 1
    if faultCount <= Self.reportLimit { tell(.report("left out: \(FileName.shown(reason))")) }
  }

  private func image(
    in listing: FolderListing, _ location: String
  ) throws -> (hash: String, name: String)? {
    guard let image = listing.image,
      case .done(let hash)? = try answers(to: [.image("\(location)/\(image.name)")]).first
    else { return nil }
    return (hash, image.name)
  }

  private func lists(in listing: FolderListing, _ location: String) -> [TrackWriter.FoundList] {
    listing.lists.compactMap { file in
      FolderLists.read("\(location)/\(file.name)", file.name, in: folders)
    }
  }

  // MARK: - Writing

  private func add(_ change: TrackWriter.Change) throws {
    pending.append(change)
    if pending.count >= Self.batch { try flush() }
  }

  private func flush() throws {
    guard !pending.isEmpty else { return }
    try writer.write(pending)
    pending = []
    tell(.written)
  }

  private func forgetOld() throws(SQLiteError) {
    try writer.forget(missingFor: Self.memory)
  }
}
