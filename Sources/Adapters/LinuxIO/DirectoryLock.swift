internal import Glibc

/// Holds a directory for this process: two programs that keep their state in one would be taken for each other. Gone
/// with its owner, and with the process, however that ends.
package struct DirectoryLock: ~Copyable, Sendable {
  private let file: FileDescriptor

  /// Fails with EWOULDBLOCK where another process, or another lock of this one, holds the directory.
  package init(directory: String) throws(IOError) {
    let path = directory + "/lock"
    let number = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw IOError(call: "open", code: errno, subject: path) }
    let file = FileDescriptor(number)
    guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
      throw IOError(call: "flock", code: errno, subject: path)
    }
    self.file = file
  }
}
