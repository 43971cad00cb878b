internal import CSys

/// Ends a wait for its descriptor, such as a `Reactor`'s, from any thread.
package final class Waker: Sendable {
  let descriptor: FileDescriptor

  package init() throws(IOError) {
    descriptor = FileDescriptor(try IOError.check("eventfd", csys_eventfd(), "event loop"))
  }

  /// To be waited for.
  package var number: Int32 { descriptor.number }

  /// The reactor reports `woken` once for all calls that came before.
  package func wake() {
    // Fails only where the counter is full, and then the wait ends anyway.
    _ = csys_eventfd_raise(descriptor.number)
  }

  /// Waits end again with the next `wake`.
  package func clear() { _ = csys_eventfd_clear(descriptor.number) }
}
