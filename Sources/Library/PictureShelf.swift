import Dispatch
import FFmpegSource
import Glibc
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
  /// Seconds that the program stays which makes them.
  private static let idleTime = 30
  private static let patience = Int32(LibraryWorker.patience + 5) * 1_000

  /// Where a picture comes from.
  struct Origin: Sendable {
    let location: String
    /// Whether it is a part of a media file.
    let isInside: Bool
  }

  private struct State {
    var program: BackgroundProgram?
    var uses = 0
    /// Bytes on the shelf; nil before they were counted.
    var size: Int64?
    var isClosed = false
  }

  private let folder: String
  private let command: [String]
  private let queue = DispatchQueue(label: "tutti pictures")
  private let state = Mutex(State())
  private let waiting = Atomic<Int>(0)

  /// The folder must exist.
  init(folder: String, command: [String]) { (self.folder, self.command) = (folder, command) }

  /// The one that is kept already.
  func file(_ hash: String, _ size: Int) -> ServableFile? {
    for kind in Picture.Kind.allCases {
      let path = "\(folder)/\(hash)-\(size).\(kind.rawValue)"
      if access(path, R_OK) == 0 { return ServableFile(path: path, type: kind.mimeType) }
    }
    return nil
  }

  /// Makes it, which may take a second.
  func make(
    _ hash: String, _ size: Int, of origins: [Origin]
  ) async throws(HouseProblem) -> ServableFile {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.waitingLimit else {
      waiting.subtract(1, ordering: .relaxed)
      throw .unavailable("Too many pictures are asked for at once; try again in a moment.")
    }
    let isMade = await withCheckedContinuation { continuation in
      queue.async { [self] in
        if file(hash, size) == nil { make("\(folder)/\(hash)-\(size)", size, origins) }
        waiting.subtract(1, ordering: .relaxed)
        continuation.resume(returning: file(hash, size))
      }
    }
    guard let isMade else { throw .noSuch("The picture cannot be read any more.") }
    return isMade
  }

  private func make(_ target: String, _ size: Int, _ origins: [Origin]) {
    for origin in origins {
      let request = WorkerRequest.shrink(
        origin.location, isInside: origin.isInside, size: size, target: target)
      guard let program = program() else { return }
      let answer = (try? program.ask(request.bytes)).flatMap {
        try? program.answer(within: Self.patience)
      }
      guard let answer else {
        state.withLock { $0.program = nil }
        continue
      }
      if case .done(let ending)? = WorkerAnswer(answer) { return keep("\(target).\(ending)") }
    }
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
