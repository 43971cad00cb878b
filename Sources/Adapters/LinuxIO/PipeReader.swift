internal import CSys
package import Clock
internal import Glibc

/// Reads a pipe without waiting: an inherited one, such as standard input, or a named one that programs open and leave.
/// One thread at a time.
package final class PipeReader {
  package enum Answer: Hashable, Sendable {
    /// The first number of bytes was appended; the second was in the pipe before.
    case read(Int, waiting: Int)
    case nothing
    /// The writer has gone. A named pipe is open for the next one.
    case ended
  }

  /// Bytes read at once: more than the pipes that this class sizes hold.
  private static let chunk = 64 * 1024

  /// The descriptor to poll; changes when a writer of a named pipe has gone.
  package private(set) var descriptor: Int32
  /// Bytes that the pipe holds; nil for a file or anything else that is no pipe.
  package private(set) var capacity: Int?
  private let path: String?
  private let wantedCapacity: Int
  private let before: Int32
  /// Keeps the descriptor open; nil if the caller does.
  private let pipe: ProgramPipe?
  /// True if the present writer has written something.
  private var hasRead = false
  private var buffer = [UInt8](repeating: 0, count: chunk)

  /// Reads a descriptor that the caller has opened and will close.
  ///
  /// - Parameter capacity: the most bytes that wait in the pipe. Less means less latency if the writer does not know
  ///   the time. The kernel gives no less than a page.
  package init(descriptor: Int32, capacity: Int) {
    self.descriptor = descriptor
    (path, pipe) = (nil, nil)
    wantedCapacity = capacity
    before = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, before | O_NONBLOCK)
    resize()
  }

  /// - Throws: `IOError` if there is no named pipe at `path`, or it may not be read.
  package init(path: String, capacity: Int) throws(IOError) {
    self.path = path
    pipe = nil
    wantedCapacity = capacity
    before = 0
    descriptor = try Self.open(path)
    resize()
  }

  /// Reads what this program writes.
  package init(_ pipe: ProgramPipe) {
    self.pipe = pipe
    (descriptor, capacity, wantedCapacity) = (pipe.reading, pipe.capacity, pipe.capacity)
    path = nil
    before = fcntl(descriptor, F_GETFL)
  }

  deinit {
    if path == nil { _ = fcntl(descriptor, F_SETFL, before) } else { close(descriptor) }
  }

  fileprivate static func open(_ path: String) throws(IOError) -> Int32 {
    // Does not wait for a writer.
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw IOError(call: "open", code: errno, subject: path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      close(descriptor)
      throw IOError(
        call: "open", code: EINVAL, text: "\(path) is no named pipe; make one with: mkfifo \(path)")
    }
    return descriptor
  }

  private func resize() {
    let size = csys_pipe_resize(descriptor, Int32(clamping: wantedCapacity))
    capacity = size > 0 ? Int(size) : nil
  }

  /// Appends the waiting bytes, up to `limit`.
  package func read(atMost limit: Int, appendingTo bytes: inout [UInt8]) throws(IOError) -> Answer {
    guard limit > 0 else { return .nothing }
    defer { pipe?.wasRead() }
    let waiting = Int(csys_waiting(descriptor))
    var total = 0
    while total < limit {
      let count = Glibc.read(descriptor, &buffer, min(limit - total, buffer.count))
      if count > 0 {
        bytes += buffer.prefix(count)
        total += count
        hasRead = true
        // With a program that writes as fast as this reads, the loop would never end.
        if total >= max(waiting, 1) { break }
        continue
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno != EAGAIN {
        throw IOError(call: "read", code: errno, subject: path ?? "standard input")
      }
      if total > 0 { break }
      if count < 0 { return .nothing }
      guard path != nil else { return .ended }
      try reopen()
      defer { hasRead = false }
      return hasRead ? .ended : .nothing
    }
    return .read(total, waiting: max(waiting, total))
  }

  /// Opens the pipe again, because the old descriptor would report the end for ever.
  private func reopen() throws(IOError) {
    guard let path else { return }
    let next = try Self.open(path)
    close(descriptor)
    descriptor = next
    resize()
  }
}

/// Holds a named pipe open for reading, and reads nothing: a program that writes into it waits. Without a reader, SIGPIPE would
/// end it. From any thread.
package final class HeldPipe: Sendable {
  private let descriptor: FileDescriptor

  /// - Throws: `IOError` if there is no named pipe at `path`, or it may not be read.
  package init(path: String) throws(IOError) {
    descriptor = FileDescriptor(try PipeReader.open(path))
  }
}

extension PipeReader {
  /// True for a named pipe, which one writer after the other may open.
  package var isNamed: Bool { path != nil }

  /// Waits until there is something to read, or until the deadline.
  package func wait(until deadline: LocalTime) { Self.wait(for: descriptor, until: deadline) }

  package static func sleep(until deadline: LocalTime) { wait(for: -1, until: deadline) }

  private static func wait(for descriptor: Int32, until deadline: LocalTime) {
    csys_wait(descriptor, max((deadline - HostClock.now).count, 0))
  }
}
