import Clock
import Dispatch
import Driver
import House
import LinuxIO
import SQLiteStore
import Sender
import Service
import Synchronization

/// Keeps the tables equal to the folders, on a thread of its own with low priority: it scans at the beginning, on
/// request, and when something changes.
final class LibraryScanner: Sendable {
  struct Settings: Sendable {
    var folders: LibraryFolders
    let database: String
    let worker: [String]
    /// Time without changes, in milliseconds, after which a folder is read.
    var quietTime: Int64 = 5_000
    /// Longest time, in milliseconds, for which changes may postpone reading.
    var busyTime: Int64 = 60_000
    /// Interval, in milliseconds, of reading folders that report no changes.
    var period: Int64 = 15 * 60_000
    /// Those that keep libraries beside the folders.
    var servers: [MediaServer] = []
    /// Notes since when servers do not answer.
    var away = AwayServers()
    /// Where measured loudness goes, for those who play.
    var loudness = MeasuredLoudness()
    /// Where the places go at which items were left, for those who play.
    var places = KeptPlaces()
  }

  private let settings: Settings
  private let watch: FolderWatch
  private let pool: WorkerPool
  private let readers: [ServerReader]
  private let loudness: LoudnessKeeper
  private let isEnding = Atomic<Bool>(false)
  private let isAsked = Atomic<Bool>(false)
  /// Number of changes to stations and playlists.
  private let edits = Atomic<UInt64>(0)
  private let changed: @Sendable (HouseState.LibraryFigures) -> Void
  private let report: @Sendable (String) -> Void
  private let damaged: @Sendable (SQLiteError) -> Void
  private let ended = DispatchSemaphore(value: 0)

  /// Starts at once.
  ///
  /// - Parameter damaged: called on the scanner's thread if the database file turns out to be damaged; then the scanner
  ///   stops.
  init(
    _ settings: Settings, changed: @escaping @Sendable (HouseState.LibraryFigures) -> Void,
    report: @escaping @Sendable (String) -> Void,
    damaged: @escaping @Sendable (SQLiteError) -> Void
  ) throws(IOError) {
    self.settings = settings
    (self.report, self.damaged) = (report, damaged)
    let watch = try FolderWatch()
    self.watch = watch
    pool = WorkerPool(settings.worker)
    readers = try settings.servers.map { server throws(IOError) in
      // It has little to do, each hour, and a server that waits for it at the other end.
      try ServerReader(server, command: settings.worker + [LibraryWorker.awaited]) { watch.wake() }
    }
    let loudness = try LoudnessKeeper(settings, settings.loudness, report: report)
    self.loudness = loudness
    self.changed = { figures in
      if figures.scan == nil { loudness.noteChange() }
      changed(figures)
    }
    let thread = try RealtimeThread.start(name: "library", priority: nil) { [self] in
      yieldToOthers()
      run()
      ended.signal()
    }
    thread.detach()
  }

  /// Requests a scan. From any thread.
  func ask() {
    isAsked.store(true, ordering: .relaxed)
    for reader in readers { reader.ask() }
    watch.wake()
  }

  /// Notes that a station or a playlist is new or gone. From any thread.
  func noteEdit() {
    edits.add(1, ordering: .relaxed)
    watch.wake()
  }

  /// A disk that answers no more is not waited for longer, in seconds.
  private static let endTimeout = 5.0

  /// Ends the present work at once, and waits for its end.
  func close() {
    isEnding.store(true, ordering: .relaxed)
    pool.end()
    for reader in readers { reader.close() }
    watch.wake()
    loudness.close()
    _ = ended.wait(timeout: .now() + Self.endTimeout)
  }

  private func run() {
    do throws(SQLiteError) {
      let loop = ScanLoop(
        settings, try Database(path: settings.database), watch, pool, readers,
        isEnding: { [weak self] in self?.isEnding.load(ordering: .relaxed) ?? true },
        edits: { [weak self] in self?.edits.load(ordering: .relaxed) ?? 0 },
        changed: changed, report: report)
      try loop.run { [weak self] in
        self?.isAsked.exchange(false, ordering: .relaxed) ?? false
      }
    } catch  where error.kind == .damaged {
      damaged(error)
    } catch {
      report("the library cannot be kept: \(error)")
    }
  }
}

/// The work of the scanner's thread, with the state that only it uses.
private final class ScanLoop {
  /// Shortest interval, in nanoseconds, of reporting new figures.
  private static let tellingPeriod: Int64 = 500_000_000

  private let settings: LibraryScanner.Settings
  private let database: Database
  private let watch: FolderWatch
  private let pool: WorkerPool
  private let served: ServedShelves
  private let isEnding: @Sendable () -> Bool
  private let edits: @Sendable () -> UInt64
  private let changed: (HouseState.LibraryFigures) -> Void
  private let report: (String) -> Void

  private var paths: [Int32: String] = [:]
  private var dirty: Set<String> = []
  /// True if anything may have changed.
  private var hasMissed = true
  /// Times in milliseconds.
  private var firstNews: Int64 = 0
  private var lastNews: Int64 = 0
  private var lastScan: Int64 = 0
  private var isFull = false
  private var hasNetwork = false
  /// Folders that were not there at the last scan of all.
  private var unclear: [String] = []
  private var figures = HouseState.LibraryFigures()
  /// Starts above the revisions of earlier processes, so that a page that has seen one loads again.
  private var revision = UInt64(HostClock.now.nanoseconds / 1_000_000)
  /// Begins with the first figures.
  private lazy var songsRevision: UInt64 = revision
  private var knownEdits: UInt64 = 0
  private var lastTold: Int64 = 0

  init(
    _ settings: LibraryScanner.Settings, _ database: Database, _ watch: FolderWatch,
    _ pool: WorkerPool, _ readers: [ServerReader], isEnding: @escaping @Sendable () -> Bool,
    edits: @escaping @Sendable () -> UInt64,
    changed: @escaping (HouseState.LibraryFigures) -> Void, report: @escaping (String) -> Void
  ) {
    (self.settings, self.database, self.watch, self.pool) = (settings, database, watch, pool)
    (self.isEnding, self.edits) = (isEnding, edits)
    (self.changed, self.report) = (changed, report)
    served = ServedShelves(
      readers, database, settings.folders, away: settings.away, report: report)
  }

  /// - Throws: `SQLiteError` if the database file is damaged.
  func run(_ isAsked: () -> Bool) throws(SQLiteError) {
    try refreshFigures()
    tell()
    while !isEnding() {
      takeNews()
      takeEdits()
      if try takeServed() { continue }
      if isAsked() {
        hasMissed = true
        // Who has asked sees that it has begun, however short it is.
        figures.scan = HouseState.LibraryFigures.Scan(
          done: 0, total: figures.trackCount, folder: figures.folders.first ?? "")
        tell()
      }
      let wait = timeLeft()
      if wait > 0 || wait < 0 {
        _ = watch.wait(milliseconds: Int32(clamping: wait))
        continue
      }
      let what = hasMissed || isTimerOver ? nil : outermost(dirty)
      (dirty, hasMissed, firstNews) = ([], false, 0)
      try scan(what)
    }
  }

  /// Returns true if a server has told something.
  private func takeServed() throws(SQLiteError) -> Bool {
    guard let hasChanged = try served.take() else { return false }
    if hasChanged { noteSongs() }
    let isLate = HostClock.now.nanoseconds >= lastTold + Self.tellingPeriod
    guard isLate || !served.isListing else { return true }
    try refreshFigures()
    tell()
    return true
  }

  private func noteSongs() {
    revision += 1
    songsRevision = revision
  }

  private func takeEdits() {
    let edits = edits()
    guard edits != knownEdits else { return }
    knownEdits = edits
    revision += 1
    try? refreshFigures()
    tell()
  }

  private var now: Int64 { HostClock.now.nanoseconds / 1_000_000 }
  private var needsTimer: Bool { hasNetwork || isFull || !unclear.isEmpty }
  private var isTimerOver: Bool { needsTimer && now >= lastScan + settings.period }

  /// Returns the time until the next scan, in milliseconds; negative if none is planned.
  private func timeLeft() -> Int64 {
    if hasMissed { return 0 }
    var end: Int64?
    if needsTimer { end = lastScan + settings.period }
    if !dirty.isEmpty {
      let quiet = min(lastNews + settings.quietTime, firstNews + settings.busyTime)
      end = min(end ?? .max, quiet)
    }
    return end.map { max(0, $0 - now) } ?? -1
  }

  private func takeNews() {
    while case let news = watch.news(), !news.isEmpty {
      lastNews = now
      if dirty.isEmpty { firstNews = lastNews }
      for event in news {
        switch event {
        case .missed: hasMissed = true
        case .changed(let number): if let path = paths[number] { dirty.insert(path) }
        case .gone(let number):
          if let path = paths.removeValue(forKey: number) {
            dirty.insert(LibraryPath.parent(path) ?? path)
          }
        }
      }
    }
  }

  /// Returns the paths that do not lie inside others of them.
  private func outermost(_ paths: Set<String>) -> [String] {
    paths.sorted().filter { path in
      !paths.contains { $0 != path && LibraryPath.isInside(path, $0) }
    }
  }

  private func scan(_ what: [String]?) throws(SQLiteError) {
    let isFirst = figures.trackCount == 0
    let writer = TrackWriter(database, settings.folders, isFirstScan: isFirst)
    let scan = Scan(
      settings.folders, writer, pool, isCancelled: isEnding,
      watch: { [self] path, location in follow(path, location) },
      tell: { [self] news in take(news) })
    do {
      try scan.run(what)
    } catch Scan.Outcome.cancelled {
    } catch Scan.Outcome.failed(let reason) {
      report("the scan of the library did not finish: \(reason)")
    } catch let error as SQLiteError where error.kind == .damaged {
      throw error
    } catch {
      report("the scan of the library did not finish: \(error)")
    }
    if what == nil {
      lastScan = now
      // A folder that is mounted later reports no change either.
      unclear = scan.unclear
      hasNetwork = settings.folders.roots.contains {
        !$0.isServed && isNetworkFolder(FileName.bytes(of: $0.location))
      }
    }
    figures.scan = nil
    try refreshFigures()
    tell()
  }

  private func take(_ news: Scan.News) {
    switch news {
    case .report(let line): report(line)
    case .progress(let progress): figures.scan = progress
    case .written: noteSongs()
    }
    takeEdits()
    // Damage is found by the scan itself.
    _ = try? takeServed()
    guard HostClock.now.nanoseconds >= lastTold + Self.tellingPeriod else { return }
    try? refreshFigures()
    tell()
  }

  /// - Throws: `SQLiteError` if the file is damaged.
  private func refreshFigures() throws(SQLiteError) {
    do {
      var fresh = try LibraryQueries.figures(database)
      (fresh.scan, fresh.revision) = (figures.scan, revision)
      fresh.songsRevision = songsRevision
      fresh.folders = settings.folders.roots.map(\.name)
      fresh.awayFolders = fresh.folders.filter((unclear + served.away).contains)
      figures = fresh
    } catch  where error.kind == .damaged {
      throw error
    } catch {}
  }

  private func tell() {
    lastTold = HostClock.now.nanoseconds
    changed(figures)
  }

  private func follow(_ path: String, _ location: String) {
    do {
      paths[try watch.add(FileName.bytes(of: location))] = path
    } catch {
      // Any error but the system's limit shows when the folder is read.
      guard error.isLimit, !isFull else { return }
      isFull = true
      let period = settings.period / 60_000
      report(
        "only \(paths.count) folders can be watched, the others are read every \(period) minutes; "
          + "raise it with: sysctl fs.inotify.max_user_watches=\(paths.count * 4 + 8_192)")
    }
  }
}
