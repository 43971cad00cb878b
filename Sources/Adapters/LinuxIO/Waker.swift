internal import CSys

/// Ends a `Reactor`'s wait from any thread.
package final class Waker: Sendable {
  let descriptor: FileDescriptor

  init() throws(IOError) {
    descriptor = FileDescriptor(try IOError.check("eventfd", csys_eventfd(), "event loop"))
  }

  /// The reactor reports `woken` once for all calls that came before.
  package func wake() {
    // Fails only where the counter is full, and then the wait ends anyway.
    _ = csys_eventfd_raise(descriptor.number)
  }

  func clear() { _ = csys_eventfd_clear(descriptor.number) }
}
