internal import Glibc

/// Reports which files of a directory were written, moved into it, or deleted. For one thread.
package final class DirectoryWatch {
  private let file: FileDescriptor

  package init(_ path: String) throws(IOError) {
    let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard number >= 0 else { throw IOError(call: "inotify_init", code: errno, subject: path) }
    file = FileDescriptor(number)
    let changes = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE)
    guard inotify_add_watch(file.number, path, changes) >= 0 else {
      throw IOError(call: "inotify_add_watch", code: errno, subject: path)
    }
  }

  /// Readable when names wait; see `Reactor.watch(descriptor:)`.
  package var descriptor: Int32 { file.number }

  /// Returns the names since the last call, in the order of their events. Never waits.
  package func takeNames() -> [String] {
    var names: [String] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(file.number, &buffer, buffer.count)
      guard count > 0 else { return names }
      names += Self.names(buffer[..<count])
    }
  }

  /// Returns the names of events. Each event is a header with the length of the name at its end,
  /// then the name, padded with zeros.
  private static func names(_ bytes: ArraySlice<UInt8>) -> [String] {
    let head = MemoryLayout<inotify_event>.size
    var names: [String] = []
    var rest = bytes
    while rest.count >= head {
      let length = rest.withUnsafeBytes {
        Int($0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
      }
      let name = rest.dropFirst(head).prefix(length).prefix { $0 != 0 }
      names.append(String(decoding: name, as: UTF8.self))
      rest = rest.dropFirst(head + length)
    }
    return names
  }
}
