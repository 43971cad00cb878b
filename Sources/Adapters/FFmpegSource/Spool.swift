import Glibc
import Sender

/// An unnamed file for loaded bytes that may be read again. It disappears with its last reader, even if that is
/// killed.
final class Spool {
  /// In bytes: longer than any single track, and no more than a small disk has to spare.
  static let limit: Int64 = 512 << 20

  private let file: RingFile
  /// Number of bytes in the file.
  private(set) var count: Int64 = 0

  /// - Parameter url: for the message.
  init(for url: String) throws(MediaError) { file = try RingFile(for: url, size: Self.limit) }

  /// Returns false if the disk or the file is full.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard count + Int64(bytes.count) <= Self.limit, file.write(bytes, at: count) else {
      return false
    }
    count += Int64(bytes.count)
    return true
  }

  /// Reads bytes and returns their number; 0 at the end, negative if reading failed.
  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int, from place: Int64) -> Int {
    file.read(into: buffer, count: Int(min(Int64(count), self.count - place)), at: place)
  }
}

/// An unnamed file that holds the newest bytes of a stream, each at its number modulo the size.
final class RingFile: Sendable {
  private let file: Int32
  private let size: Int64

  /// - Parameter file: belongs to the new object.
  init(_ file: Int32, size: Int64) { (self.file, self.size) = (file, size) }

  /// - Parameter url: for the message.
  convenience init(for url: String, size: Int64) throws(MediaError) {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
    var name = Array((folder + "/tutti-XXXXXX").utf8CString)
    let file = mkstemp(&name)
    guard file >= 0 else {
      throw .unreadable(
        path: url,
        reason: "no temporary file for it in \(folder): \(String(cString: strerror(errno)))")
    }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    unlink(name)
    self.init(file, size: size)
  }

  deinit { close(file) }

  /// Returns false if the disk is full or fails.
  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) -> Bool {
    let first = Int(min(Int64(bytes.count), size - place % size))
    let rest = bytes.count - first
    return pwrite(file, bytes.baseAddress, first, off_t(place % size)) == first
      && (rest == 0 || pwrite(file, bytes.baseAddress.map { $0 + first }, rest, 0) == rest)
  }

  /// Reads at most `count` bytes, and fewer at the file's end, where the stream goes on at its beginning. Returns their
  /// number; negative if reading failed.
  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int, at place: Int64) -> Int {
    pread(file, buffer, Int(min(Int64(count), size - place % size)), off_t(place % size))
  }
}
