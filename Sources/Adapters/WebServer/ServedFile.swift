internal import Glibc
internal import NIOCore
internal import NIOPosix

/// A file that is open for one answer. Pool threads, which may wait for a disk, read it.
struct ServedFile {
  /// Number of bytes read at a time.
  static let chunk = 64 * 1_024

  private let descriptor: CInt
  private let pool: NIOThreadPool
  let size: Int
  /// Changes with the content.
  let tag: String

  /// Opens the file; nil if it is no readable regular file.
  static func open(_ path: String, on pool: NIOThreadPool) async -> ServedFile? {
    try? await pool.runIfActive {
      // A pipe of that name would make the thread wait forever.
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw Missing() }
      var facts = stat()
      guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
        Glibc.close(descriptor)
        throw Missing()
      }
      let time = facts.st_mtim.tv_sec &* 1_000_000_000 &+ facts.st_mtim.tv_nsec
      let tag = "\(String(time, radix: 36))-\(String(facts.st_size, radix: 36))"
      return ServedFile(descriptor: descriptor, pool: pool, size: Int(facts.st_size), tag: tag)
    }
  }

  private struct Missing: Error {}

  /// Returns no bytes at the end, or if the disk fails.
  func read(from start: Int, count: Int) async -> [UInt8] {
    let bytes = try? await pool.runIfActive { [descriptor] in
      [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(start)))
      }
    }
    return bytes ?? []
  }

  func close() { pool.submit { [descriptor] _ in Glibc.close(descriptor) } }
}

/// The part of a file that a request wants.
enum ByteRange: Equatable {
  case whole
  case part(Range<Int>)
  case unsatisfiable

  /// Reads a Range header. Several ranges, and unknown forms, mean the whole file, as RFC 9110
  /// allows.
  init(_ header: String?, size: Int) {
    guard let header, header.hasPrefix("bytes="), !header.contains(",") else {
      self = .whole
      return
    }
    let sides = header.dropFirst(6).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count == 2 else {
      self = .whole
      return
    }
    switch (Self.number(sides[0]), Self.number(sides[1])) {
    case (let first?, let last?) where first <= last && first < size:
      self = .part(first..<min(last + 1, size))
    case (let first?, nil) where sides[1].isEmpty && first < size: self = .part(first..<size)
    case (nil, let count?) where sides[0].isEmpty && count > 0 && size > 0:
      self = .part(max(0, size - count)..<size)
    case (let first?, let last?) where first > last: self = .whole
    case (_?, _) where sides[1].isEmpty || Self.number(sides[1]) != nil: self = .unsatisfiable
    case (nil, _?) where sides[0].isEmpty: self = .unsatisfiable
    default: self = .whole
    }
  }

  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // Larger than any file, and far from an overflow.
    return Int(text).map { min($0, Int.max / 2) } ?? Int.max / 2
  }
}
