import Glibc
package import Sender
private import Synchronization

/// Ends reads that wait for a pipe or the network, from any thread: the current ones, or all for good.
///
/// Calls that cannot be ended, such as a name look-up of the C library, can be disowned together with the thread that
/// waits in them. Each source belongs to the era in which it was opened, and reads of an earlier era end as soon as
/// they notice.
package final class ReadInterruption: Sendable {
  /// The two ends of a pipe; a byte in it means that reading is over.
  private let readEnd: Int32
  private let writeEnd: Int32
  private let isOver = Atomic<Bool>(false)
  private let isObsolete = Atomic<Bool>(false)
  private let currentEra = Atomic<Int>(0)
  /// Era of the source that waits for the network; -1 while none does.
  private let waitingEra = Atomic<Int>(-1)

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

  /// Ends the current read, and all that follow until `readAgain`.
  package func abandonRead() {
    isObsolete.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Allows reads again, unless reading was ended for good.
  package func readAgain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
    isObsolete.store(false, ordering: .sequentiallyConsistent)
    if isOver.load(ordering: .sequentiallyConsistent) { wake() }
  }

  /// Disowns all open sources and the thread that reads them; another thread reads from now on.
  package func disown() {
    currentEra.wrappingAdd(1, ordering: .sequentiallyConsistent)
    wake()
  }

  /// True if a source that is not disowned waits for the network.
  package var isWaiting: Bool { waitingEra.load(ordering: .relaxed) == era }

  /// Era of the sources that are opened now.
  package var era: Int { currentEra.load(ordering: .relaxed) }

  package func isInterrupted(in era: Int) -> Bool {
    isOver.load(ordering: .relaxed) || isObsolete.load(ordering: .relaxed) || era != self.era
  }

  func beginWaiting(in era: Int) {
    if era == self.era { waitingEra.store(era, ordering: .relaxed) }
  }

  func endWaiting(in era: Int) {
    _ = waitingEra.compareExchange(expected: era, desired: -1, ordering: .relaxed)
  }

  private func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Waits until `descriptor` can be read. Returns false if it was interrupted first.
  package func waits(for descriptor: Int32) -> Bool {
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&waiting, 2, -1) < 0 {
      guard errno == EINTR else { return true }
    }
    return waiting[1].revents == 0
  }

  package enum Wait: Hashable, Sendable { case ready, interrupted, overdue }

  /// Waits until `descriptor` can be read, at most `milliseconds`.
  package func waits(for descriptor: Int32, milliseconds: Int32, in era: Int) -> Wait {
    if isInterrupted(in: era) { return .interrupted }
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&waiting, 2, milliseconds)
    if waiting[0].revents != 0 { return .ready }
    if count < 0, errno == EINTR {
      return waits(for: descriptor, milliseconds: milliseconds, in: era)
    }
    return count == 0 ? .overdue : .interrupted
  }

  /// Waits in the same way, but cannot be interrupted. Returns true if `descriptor` can be read.
  package func isReady(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, milliseconds) > 0
  }

  /// Waits. Returns false if it was interrupted.
  func waits(milliseconds: Int32, in era: Int) -> Bool {
    var waiting = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
    _ = poll(&waiting, 1, milliseconds)
    return !isInterrupted(in: era)
  }
}
