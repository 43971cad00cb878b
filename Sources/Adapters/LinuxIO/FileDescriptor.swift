internal import Glibc

/// The one owner of a descriptor, which it closes.
struct FileDescriptor: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}
