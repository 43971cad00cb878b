package import Clock
internal import Glibc
internal import Synchronization

/// A file to which lines are added, and whose end is written anew each time. A thread of its own writes, so that a slow disk
/// makes nobody wait; after the first error nothing more is written.
package final class GrowingFile: Sendable {
  private struct State {
    /// Where the next lines go.
    var offset: Int
    var lines: [UInt8] = []
    var end: [UInt8] = []
    var hasFailed = false
  }

  /// Shared by the thread and its owner.
  private final class Shared: Sendable {
    let state = Mutex(State(offset: 0))
    let file: FileDescriptor
    let path: String

    init(_ file: consuming FileDescriptor, path: String) {
      self.path = path
      self.file = file
    }
  }

  /// The bytes that it had, and the time since they were written, by the clock on the wall. Nil if it was made now.
  package let found: (content: [UInt8], age: Nanoseconds)?
  private let shared: Shared
  private let writer: NewestValueThread<Void>

  /// Makes the file if there is none; only this user may read it then. Refuses what is no regular file, and one with more than
  /// `limit` bytes.
  ///
  /// - Parameter failed: called on the writer's thread with the first error.
  package init(
    path: String, limit: Int, failed: @escaping @Sendable (IOError) -> Void
  ) throws(IOError) {
    let file = StateFile(path: path)
    let changed = file.stamp?.changed
    if let content = try file.read(limit: limit) {
      let age = changed.map { HostClock.read(CLOCK_REALTIME) &- $0 } ?? 0
      found = (content, Nanoseconds(age))
    } else {
      found = nil
    }
    let number = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard number >= 0 else { throw IOError(call: "open", code: errno, subject: path) }
    let shared = Shared(FileDescriptor(number), path: path)
    self.shared = shared
    writer = try NewestValueThread(name: "record") {
      { _ in
        if let error = Self.write(shared) { failed(error) }
      }
    }
  }

  /// Adds lines after the first `offset` bytes from now on.
  package func begin(at offset: Int) { shared.state.withLock { $0.offset = offset } }

  /// Adds the lines, and writes `end` after them, in the place of the one before. Never waits.
  package func add(_ lines: [UInt8], end: [UInt8]) {
    shared.state.withLock { state in
      guard !state.hasFailed else { return }
      state.lines += lines
      state.end = end
    }
    writer.post(())
  }

  /// False where the disk takes longer.
  package func finish(within milliseconds: Int32) -> Bool { writer.finish(within: milliseconds) }

  // MARK: - The thread

  private static func write(_ shared: Shared) -> IOError? {
    let (offset, bytes) = shared.state.withLock { state in
      defer {
        state.offset += state.lines.count
        state.lines = []
      }
      return (state.offset, state.hasFailed ? [] : state.lines + state.end)
    }
    guard !bytes.isEmpty else { return nil }
    guard let call = failedCall(bytes, at: offset, shared.file.number) else { return nil }
    let error = IOError(call: call, code: errno, subject: shared.path)
    shared.state.withLock { $0.hasFailed = true }
    // Whole lines are left.
    _ = ftruncate(shared.file.number, off_t(offset))
    return error
  }

  /// Nil if all is written.
  private static func failedCall(_ bytes: [UInt8], at offset: Int, _ file: Int32) -> String? {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        pwrite(file, $0.baseAddress, $0.count, off_t(offset + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return "write" }
      written += count
    }
    return ftruncate(file, off_t(offset + bytes.count)) == 0 ? nil : "truncate"
  }
}
