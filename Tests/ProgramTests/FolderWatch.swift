import Glibc
import Testing

/// Waits for changes of the files of a folder.
final class FolderWatch {
  /// Milliseconds, longer than any change takes.
  private static let never: Int32 = 120_000

  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = inotify_init1(Int32(IN_NONBLOCK))
    let changes = UInt32(IN_MOVED_TO | IN_DELETE | IN_MODIFY)
    try #require(descriptor >= 0 && inotify_add_watch(descriptor, path, changes) >= 0)
  }

  deinit { close(descriptor) }

  /// Returns once `isSo` returns true, now or after a change.
  func wait(until isSo: () throws -> Bool) throws {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while try !isSo() {
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&event, 1, Self.never) > 0, "nothing has changed")
      _ = read(descriptor, &buffer, buffer.count)
    }
  }
}
