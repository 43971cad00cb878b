import Glibc
package import Sender
private import Synchronization

/// Ends reads that wait for a pipe or the network, from any thread: those of now, or all for good.
package final class ReadInterruption: Sendable {
  /// The two ends of a pipe; a byte in it means that reading is over.
  private let readEnd: Int32
  private let writeEnd: Int32
  private let isOver = Atomic<Bool>(false)
  private let isObsolete = Atomic<Bool>(false)

  package init() throws(MediaError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw .unreadable(path: "pipe", reason: String(cString: strerror(errno)))
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Ends reading for good.
  package func interrupt() {
    isOver.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Ends the read under way, which nobody waits for any more, and those that follow until `readAgain`.
  package func abandonRead() {
    isObsolete.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Reads are wanted again, unless it is over for good.
  package func readAgain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
    isObsolete.store(false, ordering: .sequentiallyConsistent)
    if isOver.load(ordering: .sequentiallyConsistent) { wake() }
  }

  var isInterrupted: Bool {
    isOver.load(ordering: .relaxed) || isObsolete.load(ordering: .relaxed)
  }

  private func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Waits until there is something to read from `descriptor`. False where the interruption came first.
  func waits(for descriptor: Int32) -> Bool {
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&waiting, 2, -1) < 0 {
      guard errno == EINTR else { return true }
    }
    return waiting[1].revents == 0
  }

  /// Lets time pass. False where the interruption came first.
  func waits(milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
    _ = poll(&waiting, 1, milliseconds)
    return !isInterrupted
  }
}
