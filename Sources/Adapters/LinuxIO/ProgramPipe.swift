internal import CSys
internal import Glibc
internal import Synchronization

/// A pipe within this program. Any thread may write; one thread reads, with a `PipeReader`.
package final class ProgramPipe: Sendable {
  /// Bytes that a pipe takes beyond those that wait in it, lest a write fills no whole page.
  private static let page = 4_096

  /// The end to read from.
  package let reading: Int32
  /// Bytes that the pipe holds.
  package let capacity: Int
  private let writing: Mutex<Writer>

  private struct Writer {
    /// Nil once it is finished.
    var descriptor: Int32?
    /// Bytes that the pipe had no room for.
    var rest: ArraySlice<UInt8> = []
    /// Those who wait for room, by number.
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var waiterCount = 0
  }

  /// - Parameter capacity: bytes; the kernel may give more, or no more than its limit, usually a MiB.
  package init(capacity: Int) throws(IOError) {
    var ends: [Int32] = [0, 0]
    let failure = csys_pipe(&ends)
    guard failure == 0 else { throw IOError(call: "pipe2", code: -failure, subject: "a pipe") }
    let given = Int(csys_pipe_resize(ends[0], Int32(clamping: capacity)))
    (reading, self.capacity) = (ends[0], given > 0 ? given : 64 << 10)
    writing = Mutex(Writer(descriptor: ends[1]))
  }

  deinit {
    finish()
    close(reading)
  }

  /// Bytes that can be written now; 0 after `finish`.
  package var room: Int { writing.withLock { room(for: $0) } }

  package var isFinished: Bool { writing.withLock { $0.descriptor == nil } }

  private func room(for writer: Writer) -> Int {
    guard writer.descriptor != nil else { return 0 }
    return max(0, capacity - Int(csys_waiting(reading)) - writer.rest.count - Self.page)
  }

  /// Writes all bytes, or none if there is not enough room. Does not wait.
  package func write(_ bytes: [UInt8]) -> Bool {
    writing.withLock { writer in
      guard let descriptor = writer.descriptor, bytes.count <= room(for: writer) else {
        return false
      }
      writer.rest += bytes
      while !writer.rest.isEmpty {
        let count = writer.rest.withUnsafeBytes {
          Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        if count > 0 { writer.rest = writer.rest.dropFirst(count) } else if errno != EINTR { break }
      }
      return true
    }
  }

  /// Lets the reader find the end behind what was written.
  package func finish() {
    writing.withLock { writer in
      if let descriptor = writer.descriptor { close(descriptor) }
      (writer.descriptor, writer.rest) = (nil, [])
      wake(&writer)
    }
  }

  // MARK: - Waiting for room

  /// Waits until half of it is free: whoever waited for less would wait again for the next bytes at once. Returns false after
  /// `finish`, and where the task is cancelled.
  package func waitForRoom() async -> Bool {
    while !Task.isCancelled, !isFinished {
      if writing.withLock({ isHalfFree($0) }) { return true }
      await waitForChange()
    }
    return false
  }

  /// The reader has taken something.
  func wasRead() { writing.withLock { wake(&$0) } }

  private func isHalfFree(_ writer: Writer) -> Bool {
    room(for: writer) >= (capacity - Self.page) / 2
  }

  private func waitForChange() async {
    let number = writing.withLock { writer in
      writer.waiterCount += 1
      return writer.waiterCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = writing.withLock { writer in
          guard writer.descriptor != nil, !isHalfFree(writer), !Task.isCancelled else {
            return true
          }
          writer.waiters[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      writing.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }

  private func wake(_ writer: inout Writer) {
    guard !writer.waiters.isEmpty, writer.descriptor == nil || isHalfFree(writer) else { return }
    for waiter in writer.waiters.values { waiter.resume() }
    writer.waiters = [:]
  }
}
