import Glibc
package import Sender

/// An open and checked file: a regular file that is not empty. Any number of readers may read it, each from its own
/// place.
package final class MediaFile {
  let path: String
  package let descriptor: Int32

  /// - Throws: `MediaError.notFound`, `unreadable` or `notAudio`, with the reason.
  package convenience init(path: String) throws(MediaError) {
    // Opening a pipe would wait for its other end.
    let file = open(FileName.bytes(of: path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw Self.missing(path) }
    try self.init(path: path, descriptor: file)
  }

  /// - Parameter descriptor: will be closed, even if this throws.
  package init(path: String, descriptor: Int32) throws(MediaError) {
    (self.path, self.descriptor) = (path, descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.missing(path) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unreadable(path: path, reason: "it is a folder")
    default: throw .unreadable(path: path, reason: "it is not a file; pipe it in instead")
    }
    guard status.st_size > 0 else { throw .notAudio(path: path, reason: "the file is empty") }
  }

  /// Wraps a file that another process has opened and checked.
  package init(received descriptor: Int32, name: String) {
    (path, self.descriptor) = (name, descriptor)
  }

  deinit { close(descriptor) }

  private static func missing(_ path: String) -> MediaError {
    errno == ENOENT || errno == ENOTDIR
      ? .notFound(path: path)
      : .unreadable(path: path, reason: String(cString: strerror(errno)))
  }

  /// Size in bytes; the file may grow while it is read.
  var size: Int64 { Int64(lseek(descriptor, 0, SEEK_END)) }

  /// Reads bytes and returns their number; 0 at the end, negative if reading failed.
  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int, from place: Int64) -> Int {
    while true {
      let size = pread(descriptor, buffer, count, off_t(place))
      if size < 0, errno == EINTR { continue }
      return size
    }
  }
}
