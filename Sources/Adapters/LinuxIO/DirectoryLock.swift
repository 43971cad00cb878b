internal import Glibc

/// Locks a directory for this process, because two programs with the same state would pass for each other. The lock
/// ends with its owner, and with the process, however that ends.
package struct DirectoryLock: ~Copyable, Sendable {
  private let file: FileDescriptor

  /// Fails with EWOULDBLOCK if another process, or another lock of this one, holds the directory, unless it `waits`.
  package init(
    directory: String, name: String = "lock", waits: Bool = false
  ) throws(IOError) {
    let path = directory + "/" + name
    let number = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw IOError(call: "open", code: errno, subject: path) }
    let file = FileDescriptor(number)
    DirectoryOwner.takes(number, in: directory)
    while flock(file.number, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      throw IOError(call: "flock", code: errno, subject: path)
    }
    self.file = file
    if !waits { sign() }
  }

  /// Writes this process's number to the file, for people who look. A failure to write does not prevent the lock.
  private func sign() {
    let number = Array("\(getpid())\n".utf8)
    if ftruncate(file.number, 0) == 0 { _ = pwrite(file.number, number, number.count, 0) }
  }

  /// Returns the process that holds a directory with a lock that does not wait, or was the last to hold it; nil if
  /// there was none.
  package static func process(holding directory: String, name: String = "lock") -> Int32? {
    let bytes = (try? StateFile(path: directory + "/" + name).read(limit: 32)) ?? nil
    return bytes.flatMap { Int32(String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self)) }
  }
}
