import Dispatch
import FFmpegSource
import Glibc
import House
import LinuxIO
import Sender
import Service
import Synchronization

/// Pictures in the sizes that pages show, made when they are first asked for, and kept as files.
final class PictureShelf: Sendable {
  /// In pixels, the larger side.
  static let sizes = [300, 1_200]
  /// Bytes of all files; the oldest go first.
  static let limit: Int64 = 256 << 20
  /// Pictures that wait to be made.
  static let waitingLimit = 512
  /// How long one who asks waits for a picture, in milliseconds.
  static let waitingTime = 500
  static let notYet = "The picture is being made; ask for it again in a second."
  /// Seconds that the program stays which makes them.
  private static let idleTime = 30
  private static let timeout = Int32(LibraryWorker.timeout + 5) * 1_000

  /// Where a picture comes from.
  struct Origin: Sendable {
    /// The path of a file, the identifier of a picture at a server, or an address.
    let location: String
    /// True for a part of a media file.
    var isInside = false
    var server: MediaServer?
    /// Where the address may lead; nil for files and servers.
    var reach: SourceReach?

    /// The question to a program that reaches others; nil for a file.
    func request(size: Int) -> WorkerRequest? {
      if let server { return .cover(server, location, size: size) }
      return reach.map { .picture(location, $0, size: size) }
    }
  }

  private enum Outcome {
    case made(ServableFile)
    case broken
    case notYet
  }

  /// One who waits for a picture, until it is made or the time is up.
  private final class Waiter: Sendable {
    private let continuation: Mutex<CheckedContinuation<Outcome, Never>?>

    init(_ continuation: CheckedContinuation<Outcome, Never>) {
      self.continuation = Mutex(continuation)
    }

    func end(_ outcome: Outcome) {
      continuation.withLock { $0.take() }?.resume(returning: outcome)
    }
  }

  private struct State {
    /// The pictures that are to be made, with those who wait.
    var making: [String: [Waiter]] = [:]
    var program: BackgroundProgram?
    var uses = 0
    /// Bytes on the shelf; nil before they were counted.
    var size: Int64?
    var isClosed = false

    enum Place { case first, further, tooMany }

    mutating func wait(_ waiter: Waiter, for name: String) -> Place {
      guard let waiters = making[name] else {
        guard making.count < PictureShelf.waitingLimit else { return .tooMany }
        making[name] = [waiter]
        return .first
      }
      guard waiters.count < PictureShelf.waitingLimit else { return .tooMany }
      making[name] = waiters + [waiter]
      return .further
    }

    mutating func made(_ name: String) -> [Waiter] { making.removeValue(forKey: name) ?? [] }
  }

  private let folder: String
  private let command: [String]
  private let queue = DispatchQueue(label: "tutti pictures")
  /// A server that hangs holds up no pictures of files.
  private let distantQueue = DispatchQueue(label: "tutti distant pictures")
  private let distantWorker: SingleUseWorker
  private let timer = DispatchQueue(label: "tutti picture timer")
  private let state = Mutex(State())

  /// The folder must exist.
  init(folder: String, command: [String]) {
    (self.folder, self.command) = (folder, command)
    distantWorker = SingleUseWorker(command)
  }

  /// Pictures that are to be made.
  var waitingCount: Int { state.withLock { $0.making.count } }

  /// The one that is kept already.
  func file(_ hash: String, _ size: Int) -> ServableFile? {
    for kind in Picture.Kind.allCases {
      let path = "\(folder)/\(hash)-\(size).\(kind.rawValue)"
      if access(path, R_OK) == 0 { return ServableFile(path: path, type: kind.mimeType) }
    }
    return nil
  }

  /// Makes it. Whoever asks waits a little, and is told to ask again where that is too short: a browser has few
  /// connections, and must not have all of them wait here.
  func make(
    _ hash: String, _ size: Int, of origins: [Origin]
  ) async throws(Refusal) -> ServableFile {
    let name = "\(hash)-\(size)"
    let outcome = await withCheckedContinuation { continuation in
      let waiter = Waiter(continuation)
      switch state.withLock({ $0.wait(waiter, for: name) }) {
      case .tooMany: return waiter.end(.notYet)
      case .first:
        let isDistant = origins.contains { $0.request(size: size) != nil }
        let queue = isDistant ? distantQueue : queue
        queue.async { [self] in
          if file(hash, size) == nil { make("\(folder)/\(name)", size, origins) }
          let outcome = file(hash, size).map(Outcome.made) ?? .broken
          for waiter in state.withLock({ $0.made(name) }) { waiter.end(outcome) }
        }
      case .further: break
      }
      timer.asyncAfter(deadline: .now() + .milliseconds(Self.waitingTime)) { waiter.end(.notYet) }
    }
    switch outcome {
    case .made(let file): return file
    case .broken: throw .noSuch("The picture cannot be read any more.")
    case .notYet: throw .notYet(Self.notYet)
    }
  }

  private func make(_ target: String, _ size: Int, _ origins: [Origin]) {
    for origin in origins {
      if let request = origin.request(size: size) {
        guard case .picture(let picture)? = distantWorker.ask(request) else { continue }
        let path = "\(target).\(picture.kind.rawValue)"
        guard (try? StateFile(path: path).show(picture.bytes)) != nil else { continue }
        return keep(path)
      }
      let request = WorkerRequest.shrink(
        origin.location, isInside: origin.isInside, size: size, target: target)
      if case .done(let ending)? = ask(request) { return keep("\(target).\(ending)") }
    }
  }

  /// Asks the same program, after the pictures that wait.
  func answer(to request: WorkerRequest) async -> WorkerAnswer? {
    await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: ask(request)) }
    }
  }

  /// Nil where the program has ended, or does not start.
  private func ask(_ request: WorkerRequest) -> WorkerAnswer? {
    guard let program = program() else { return nil }
    let answer = (try? program.ask(request.bytes)).flatMap {
      try? program.answer(within: Self.timeout)
    }
    guard let answer else {
      state.withLock { $0.program = nil }
      return nil
    }
    return WorkerAnswer(answer)
  }

  private func program() -> BackgroundProgram? {
    let (program, use) = state.withLock { state in
      if state.program == nil, !state.isClosed {
        state.program = try? BackgroundProgram(command)
      }
      state.uses += 1
      return (state.program, state.uses)
    }
    queue.asyncAfter(deadline: .now() + .seconds(Self.idleTime)) { [weak self] in
      self?.state.withLock { state in
        if state.uses == use { state.program = nil }
      }
    }
    return program
  }

  func close() {
    let program = state.withLock { state in
      state.isClosed = true
      return state.program.take()
    }
    program?.end()
    distantWorker.close()
  }

  // MARK: - Room

  private func keep(_ path: String) {
    let size = state.withLock { state in
      let size = (state.size ?? files().reduce(0) { $0 + $1.size }) + Self.size(path)
      state.size = size
      return size
    }
    if size > Self.limit { clear() }
  }

  /// Down to three quarters.
  private func clear() {
    var left = files().sorted { $0.mtime < $1.mtime }[...]
    var size = left.reduce(0) { $0 + $1.size }
    while size > Self.limit / 4 * 3, let oldest = left.popFirst() {
      unlink("\(folder)/\(oldest.name)")
      size -= oldest.size
    }
    state.withLock { $0.size = size }
  }

  private func files() -> [(name: String, size: Int64, mtime: Int)] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var found: [(name: String, size: Int64, mtime: Int)] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var status = stat()
      guard !name.hasPrefix("."), stat("\(folder)/\(name)", &status) == 0 else { continue }
      found.append((name, Int64(status.st_size), status.st_mtim.tv_sec))
    }
    return found
  }

  private static func size(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
