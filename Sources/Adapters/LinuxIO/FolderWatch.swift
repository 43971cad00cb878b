internal import CSys
internal import Glibc

/// Reports in which folders something was made, written, moved or removed. For one thread, which `wake` may wake.
package final class FolderWatch: Sendable {
  package enum News: Hashable, Sendable {
    case changed(watch: Int32)
    /// The folder is gone, and its watch with it.
    case gone(watch: Int32)
    /// The system has lost events: anything may have changed.
    case missed
  }

  /// Largest number of events read at once.
  private static let newsLimit: Int32 = 256

  private let descriptor: FileDescriptor
  private let waker: Waker

  package init() throws(IOError) {
    descriptor = FileDescriptor(
      try IOError.check("inotify_init1", csys_watch_open(), "watching folders"))
    waker = try Waker()
  }

  /// Watches a folder, and returns the watch's number. A folder that is watched already keeps its number. Fails with
  /// `ENOSPC` at the system's limit.
  ///
  /// - Parameter path: its bytes, ended by a zero.
  package func add(_ path: [CChar]) throws(IOError) -> Int32 {
    try IOError.check(
      "inotify_add_watch", csys_watch_add(descriptor.number, path),
      "a folder")
  }

  /// Ends the wait, the present or the next one. From any thread.
  package func wake() { waker.wake() }

  /// Waits for an event or `wake`, at most this long; a negative time waits for ever. Returns false if the time ran
  /// out.
  package func wait(milliseconds: Int32) -> Bool {
    var events = [
      pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
      pollfd(fd: waker.descriptor.number, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&events, 2, milliseconds)
    waker.clear()
    return count != 0
  }

  /// Returns the waiting events; empty if there are none.
  package func news() -> [News] {
    var watched = [csys_watched](repeating: csys_watched(), count: Int(Self.newsLimit))
    let count = csys_watch_read(descriptor.number, &watched, Self.newsLimit)
    guard count >= 0 else { return [.missed] }
    return watched.prefix(Int(count)).map { event in
      if event.flags & UInt32(CSYS_WATCH_OVERFLOW) != 0 { return .missed }
      return event.flags & UInt32(CSYS_WATCH_GONE) != 0
        ? .gone(watch: event.watch) : .changed(watch: event.watch)
    }
  }
}

/// True if others may change the folder without this machine noticing, as on NFS, SMB and FUSE. False if there is no
/// such folder.
///
/// - Parameter path: its bytes, ended by a zero.
package func isNetworkFolder(_ path: [CChar]) -> Bool { csys_is_network_folder(path) > 0 }
