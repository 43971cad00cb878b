internal import Glibc

/// Owns a descriptor and closes it.
struct FileDescriptor: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}
