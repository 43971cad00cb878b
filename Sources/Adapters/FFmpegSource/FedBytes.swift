import Glibc
package import Sender
private import Synchronization
import WireProtocol

/// The bytes of one item, which a program gives as they come. All of them are kept in an unnamed file, so that a seek can
/// read any of them again.
///
/// Given by any thread; one thread at a time reads.
package final class FedBytes: Sendable {
  /// Largest number of bytes.
  package static let limit = Spool.limit

  package enum Refusal: Error, Hashable, Sendable {
    case isOver
    /// It has `limit` bytes, or the disk is full.
    case isFull
  }

  /// Bytes at a place, or why there are none.
  enum Part {
    case bytes(ArraySlice<UInt8>)
    /// It comes later.
    case coming
    /// It never comes.
    case end
    case unreadable
  }

  private struct State {
    var spool: Spool
    var isOver = false
  }

  /// For messages; its extension helps FFmpeg to know the format.
  package let name: String
  /// Nil if the program does not know it.
  package let expectedCount: Int64?
  private let state: Mutex<State>
  /// The two ends of a pipe, in which each piece leaves a byte.
  private let readEnd: Int32
  private let writeEnd: Int32

  package init(name: String, expectedCount: Int64?) throws(MediaError) {
    // The decoding process gets it as a message.
    self.name = name.shownPlainly
    self.expectedCount = expectedCount.flatMap { $0 > 0 ? $0 : nil }
    state = Mutex(State(spool: try Spool(for: name)))
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw .unreadable(path: name, reason: String(cString: strerror(errno)))
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Number of bytes so far.
  package var count: Int64 { state.withLock { $0.spool.count } }
  package var isOver: Bool { state.withLock { $0.isOver } }

  /// Adds bytes behind the earlier ones.
  package func append(_ bytes: [UInt8]) throws(Refusal) {
    let refusal: Refusal? = state.withLock { state in
      if state.isOver { return .isOver }
      return bytes.withUnsafeBytes { state.spool.append($0) } ? nil : .isFull
    }
    if let refusal { throw refusal }
    wake()
  }

  /// No more bytes come.
  package func finish() {
    state.withLock { $0.isOver = true }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  func part(at place: Int64, atMost limit: Int) -> Part {
    state.withLock { state in
      guard place < state.spool.count else { return state.isOver ? .end : .coming }
      var block = [UInt8](repeating: 0, count: limit)
      let count = state.spool.read(into: &block, count: limit, from: place)
      return count > 0 ? .bytes(block.prefix(count)) : .unreadable
    }
  }

  /// Waits until something was added since the last call. Returns false if it was interrupted first.
  func waits(_ interruption: ReadInterruption, in era: Int) -> Bool {
    guard case .ready = interruption.waits(for: readEnd, milliseconds: -1, in: era) else {
      return false
    }
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
    return true
  }
}
