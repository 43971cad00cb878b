internal import CAvahi
internal import Glibc
internal import Synchronization

/// Handle of Avahi's thread. Calls to the daemon go over D-Bus and block for up to 25 s if the daemon or the bus
/// hangs. Only that thread makes them, and no other thread waits for it.
final class DaemonThread: Sendable {
  private let poll: Poll

  /// Runs `makeUser` and everything it returns on the new thread.
  init(_ makeUser: @escaping @Sendable (DaemonConnection) -> any DaemonUser) throws(DiscoveryError)
  {
    guard let poll = Poll() else {
      throw DiscoveryError(description: "out of memory for service discovery")
    }
    self.poll = poll
    let body = Unmanaged.passRetained(
      Body {
        let connection = DaemonConnection(poll)
        connection.run(for: makeUser(connection))
      })
    var thread = pthread_t()
    guard pthread_create(&thread, nil, runBody, body.toOpaque()) == 0 else {
      body.release()
      throw DiscoveryError(description: "no thread can be had for service discovery")
    }
    pthread_detach(thread)
  }

  /// Ends the thread as soon as it is free, and withdraws its announcements. No more events are delivered, except one
  /// whose delivery has begun.
  deinit { poll.end() }

  /// Calls the user's `wokenUp` soon. From any thread; never waits.
  func wake() { poll.wake() }
}

private final class Body: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runBody(_ body: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let body else { return nil }
  var all = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_BLOCK, &all, nil)
  Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
  return nil
}

/// The event loop of Avahi's thread. It lives until both that thread and its owner have released it.
final class Poll: Sendable {
  /// A pointer is not `Sendable`. Only `avahi_simple_poll_wakeup` is called from other threads.
  private let address: UInt
  private let ending = Atomic<Bool>(false)

  fileprivate init?() {
    guard let poll = avahi_simple_poll_new() else { return nil }
    address = UInt(bitPattern: poll)
  }

  deinit { avahi_simple_poll_free(poll) }

  var isEnding: Bool { ending.load(ordering: .acquiring) }

  fileprivate func end() {
    ending.store(true, ordering: .releasing)
    wake()
  }

  fileprivate func wake() { avahi_simple_poll_wakeup(poll) }

  /// On Avahi's thread only.
  var api: UnsafePointer<AvahiPoll> { avahi_simple_poll_get(poll) }

  /// On Avahi's thread only: waits for an event and handles it.
  func turn() {
    // Fails if the kernel is out of memory.
    if avahi_simple_poll_iterate(poll, -1) < 0 { sleep(1) }
  }

  private var poll: OpaquePointer! { OpaquePointer(bitPattern: address) }
}
