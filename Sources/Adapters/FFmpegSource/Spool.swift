import Glibc
import Sender

/// An unnamed file for loaded bytes that may be read again. It disappears with its last reader, even if that is
/// killed.
final class Spool {
  /// In bytes: longer than any single track, and no more than a small disk has to spare.
  static let limit: Int64 = 512 << 20

  private let file: Int32
  /// Number of bytes in the file.
  private(set) var count: Int64 = 0

  /// - Parameter url: for the message.
  init(for url: String) throws(MediaError) {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
    var name = Array((folder + "/tutti-XXXXXX").utf8CString)
    file = mkstemp(&name)
    guard file >= 0 else {
      throw .unreadable(
        path: url,
        reason: "no temporary file for it in \(folder): \(String(cString: strerror(errno)))")
    }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    unlink(name)
  }

  deinit { close(file) }

  /// Returns false if the disk or the file is full.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard count + Int64(bytes.count) <= Self.limit,
      pwrite(file, bytes.baseAddress, bytes.count, off_t(count)) == bytes.count
    else { return false }
    count += Int64(bytes.count)
    return true
  }

  /// Reads bytes and returns their number; 0 at the end, negative if reading failed.
  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int, from place: Int64) -> Int {
    pread(file, buffer, count, off_t(place))
  }
}
