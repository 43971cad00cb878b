internal import CSys

/// Ends a wait for its descriptor, such as a `Reactor`'s, from any thread.
package final class Waker: Sendable {
  let descriptor: FileDescriptor

  package init() throws(IOError) {
    descriptor = FileDescriptor(try IOError.check("eventfd", csys_eventfd(), "event loop"))
  }

  /// The descriptor to wait for.
  package var number: Int32 { descriptor.number }

  /// Ends the wait. The reactor reports `woken` once for all calls before.
  package func wake() {
    // Fails only if the counter is full, and then the wait ends anyway.
    _ = csys_eventfd_raise(descriptor.number)
  }

  /// Clears the calls so far, so that the next `wake` ends a wait again.
  package func clear() { _ = csys_eventfd_clear(descriptor.number) }
}
