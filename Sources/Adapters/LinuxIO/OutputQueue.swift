/// Bytes that wait to be sent, in order.
struct OutputQueue {
  /// Size up to which small chunks are joined, in bytes: a thousand answers of a few bytes would otherwise take
  /// several times their size.
  static let joinedSize = 4096

  private var chunks: [[UInt8]] = []
  /// Chunks before `first` are gone, and so are the bytes of that chunk before `offset`.
  private var first = 0
  private var offset = 0

  /// Number of waiting bytes.
  private(set) var count = 0
  var chunkCount: Int { chunks.count - first }

  var isEmpty: Bool { count == 0 }

  mutating func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    if let last = chunks.indices.last, last >= first,
      chunks[last].count + bytes.count <= Self.joinedSize
    {
      chunks[last] += bytes
    } else {
      chunks.append(bytes)
    }
  }

  /// Copies as many of the first bytes as fit. Returns their number.
  func copyPrefix(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var filled = 0
    var start = offset
    for chunk in chunks[first...] {
      let part = chunk[start...].prefix(buffer.count - filled)
      part.withUnsafeBytes { buffer[filled...].copyBytes(from: $0) }
      filled += part.count
      start = 0
      if filled == buffer.count { break }
    }
    return filled
  }

  mutating func removePrefix(_ removed: Int) {
    precondition(removed <= count)
    count -= removed
    offset += removed
    while first < chunks.count, offset >= chunks[first].count {
      offset -= chunks[first].count
      chunks[first] = []
      first += 1
    }
    if first == chunks.count {
      chunks.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 64, first >= chunks.count / 2 {
      chunks.removeFirst(first)
      first = 0
    }
  }

  mutating func removeAll() { self = OutputQueue() }
}
