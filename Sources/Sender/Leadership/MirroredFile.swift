/// A file as the other daemon has it, so that only what has changed is sent; and the same on its side.
package struct MirroredFile: Hashable, Sendable {
  package private(set) var bytes: [UInt8] = []
  /// True once all of it is there.
  package private(set) var isWhole = false

  package init() {}

  /// Bytes that are compared at a time: SQLite's pages have as many.
  private static let block = 4 << 10

  /// Returns what makes the other's file equal to `next`, and takes that over; nothing if it is. Files beyond the limit are
  /// left out.
  package mutating func messages(to next: [UInt8], file: UInt8) -> [DaemonMessage] {
    guard next != bytes || !isWhole, next.count <= DaemonMessage.fileLimit else { return [] }
    var messages: [DaemonMessage] = []
    for start in stride(from: 0, to: next.count, by: Self.block) {
      let end = min(start + Self.block, next.count)
      if end > bytes.count || next[start..<end] != bytes[start..<end] {
        messages.append(.piece(file: file, offset: start, Array(next[start..<end])))
      }
    }
    (bytes, isWhole) = (next, true)
    return messages + [.end(file: file, size: next.count)]
  }

  /// Takes a piece. False where it leaves a gap, or is too long.
  package mutating func take(_ piece: [UInt8], at offset: Int) -> Bool {
    let end = offset + piece.count
    guard offset <= bytes.count, end <= DaemonMessage.fileLimit else { return false }
    bytes.replaceSubrange(offset..<min(end, bytes.count), with: piece)
    isWhole = false
    return true
  }

  /// All of it was sent. False where bytes are missing.
  package mutating func end(size: Int) -> Bool {
    guard size <= bytes.count else { return false }
    bytes.removeSubrange(size...)
    isWhole = true
    return true
  }
}
