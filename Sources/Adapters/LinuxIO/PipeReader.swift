internal import CSys
package import Clock
internal import Glibc

/// Reads a pipe without ever waiting: one that was handed over, such as standard input, or a named one that programs come
/// to and leave. One thread at a time.
package final class PipeReader {
  package enum Answer: Hashable, Sendable {
    /// So many bytes were appended; so many had been there.
    case read(Int, waiting: Int)
    case nothing
    /// Whoever has written has gone. A named pipe is open for the next one.
    case ended
  }

  /// Read at once: more than any pipe of ours holds.
  private static let chunk = 64 * 1024

  /// To be polled; changes where a writer of a named pipe has gone.
  package private(set) var descriptor: Int32
  /// Bytes that the pipe holds; nil for what is no pipe, such as a file.
  package private(set) var capacity: Int?
  private let path: String?
  private let wantedCapacity: Int
  private let before: Int32
  /// Whether something came from the writer that is there.
  private var hasRead = false
  private var buffer = [UInt8](repeating: 0, count: chunk)

  /// What somebody else has opened and closes.
  ///
  /// - Parameter capacity: how much may wait in the pipe, in bytes: less is less latency where the writer does not know
  ///   what the time is. The kernel gives no less than a page.
  package init(descriptor: Int32, capacity: Int) {
    self.descriptor = descriptor
    path = nil
    wantedCapacity = capacity
    before = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, before | O_NONBLOCK)
    resize()
  }

  /// - Throws: where there is no named pipe at `path`, or it may not be read.
  package init(path: String, capacity: Int) throws(IOError) {
    self.path = path
    wantedCapacity = capacity
    before = 0
    descriptor = try Self.open(path)
    resize()
  }

  deinit {
    if path == nil { _ = fcntl(descriptor, F_SETFL, before) } else { close(descriptor) }
  }

  private static func open(_ path: String) throws(IOError) -> Int32 {
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

  /// Appends what is there, up to `limit` bytes.
  package func read(atMost limit: Int, appendingTo bytes: inout [UInt8]) throws(IOError) -> Answer {
    guard limit > 0 else { return .nothing }
    let waiting = Int(csys_waiting(descriptor))
    var total = 0
    while total < limit {
      let count = Glibc.read(descriptor, &buffer, min(limit - total, buffer.count))
      if count > 0 {
        bytes += buffer.prefix(count)
        total += count
        hasRead = true
        // A program that writes as fast as this reads would never be done.
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

  /// After a writer has gone, the old descriptor would report that for ever.
  private func reopen() throws(IOError) {
    guard let path else { return }
    let next = try Self.open(path)
    close(descriptor)
    descriptor = next
    resize()
  }
}

extension PipeReader {
  /// Whether it is a named pipe, which one writer after the other may open.
  package var isNamed: Bool { path != nil }

  /// Until there is something to read, or the time has come.
  package func wait(until deadline: LocalTime) { Self.wait(for: descriptor, until: deadline) }

  package static func sleep(until deadline: LocalTime) { wait(for: -1, until: deadline) }

  private static func wait(for descriptor: Int32, until deadline: LocalTime) {
    csys_wait(descriptor, max((deadline - HostClock.now).count, 0))
  }
}
