internal import CAvahi

/// Events of the connection to the Avahi daemon, delivered on Avahi's thread.
protocol DaemonUser: AnyObject {
  /// The daemon runs. Its host name may not be established yet.
  func daemonAppeared(_ client: OpaquePointer)
  /// The host name is established, so services can be published. Follows `daemonAppeared`, and may repeat.
  func hostNameEstablished(_ client: OpaquePointer)
  /// The host name is in conflict; published services are withdrawn.
  func hostNameLost()
  /// All objects made with the client are about to be freed.
  func daemonVanished(_ reason: String)
  /// `DaemonThread.wake` was called, or something else has happened.
  func wokenUp()
}

/// A connection to the Avahi daemon that reconnects by itself. It can be made before the daemon or the system bus
/// runs, and survives restarts of both. It belongs to Avahi's thread.
final class DaemonConnection {
  /// A daemon that restarts is back within seconds; an attempt costs a call over the bus.
  static let retryDelay = Duration.seconds(1)
  /// Interval of looks for a daemon that does not run or hangs.
  private static let askAgainDelay = Duration.seconds(10)

  private let poll: Poll
  private var client: OpaquePointer?
  private var retry: OpaquePointer?
  private var isPresent: Bool?
  private weak var user: (any DaemonUser)?

  init(_ poll: Poll) { self.poll = poll }

  /// True once the owner has released the connection; then no more events are delivered.
  var isEnding: Bool { poll.isEnding }

  /// Runs until the owner has released the connection.
  func run(for user: any DaemonUser) {
    self.user = user
    connect()
    while !poll.isEnding {
      poll.turn()
      user.wokenUp()
    }
    self.user = nil
    if let client { avahi_client_free(client) }
  }

  /// Drops the connection. Makes a new one a little later, after the calling callback has returned.
  func reconnect(reason: String) {
    if isPresent != false { user?.daemonVanished(reason) }
    isPresent = false
    connectAgain(after: Self.retryDelay)
  }

  private func connectAgain(after delay: Duration) {
    if let retry { cancel(retry) }
    retry = after(delay, retryDue, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Calls `callback` once on Avahi's thread; the caller frees the timer with `cancel`.
  func after(
    _ delay: Duration, _ callback: @escaping AvahiTimeoutCallback,
    _ context: UnsafeMutableRawPointer
  ) -> OpaquePointer? {
    var time = timeval()
    avahi_elapse_time(&time, UInt32(delay / .milliseconds(1)), 0)
    return poll.api.pointee.timeout_new(poll.api, &time, callback, context)
  }

  func cancel(_ timer: OpaquePointer) { poll.api.pointee.timeout_free(timer) }

  fileprivate func retryIsDue() {
    if let retry { cancel(retry) }
    retry = nil
    if let client { avahi_client_free(client) }
    client = nil
    connect()
  }

  private func connect() {
    var error: Int32 = 0
    let context = Unmanaged.passUnretained(self).toOpaque()
    client = avahi_client_new(poll.api, AVAHI_CLIENT_NO_FAIL, clientChanged, context, &error)
    if client == nil {
      reconnect(reason: "service discovery needs the system bus (D-Bus): \(reason(error))")
    }
  }

  /// Also called from within `avahi_client_new`, before that has returned the client.
  fileprivate func change(_ client: OpaquePointer, _ state: AvahiClientState) {
    switch state {
    case AVAHI_CLIENT_S_RUNNING:
      appear(client)
      user?.hostNameEstablished(client)
    case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION:
      appear(client)
      user?.hostNameLost()
    case AVAHI_CLIENT_CONNECTING:
      if isPresent != false { user?.daemonVanished("the Avahi daemon is not running") }
      isPresent = false
      // The bus reports when a daemon starts, but not when one that hung continues.
      connectAgain(after: Self.askAgainDelay)
    default: reconnect(reason: lossReason(client))
    }
  }

  private func appear(_ client: OpaquePointer) {
    if let retry { cancel(retry) }
    retry = nil
    guard isPresent != true else { return }
    isPresent = true
    user?.daemonAppeared(client)
  }

  private func lossReason(_ client: OpaquePointer) -> String {
    let error = avahi_client_errno(client)
    return error == AVAHI_ERR_DISCONNECTED
      ? "the Avahi daemon is not running" : "the Avahi daemon failed: \(reason(error))"
  }
}

func reason(_ error: Int32) -> String { String(cString: avahi_strerror(error)) }

private func clientChanged(
  _ client: OpaquePointer?, _ state: AvahiClientState, _ context: UnsafeMutableRawPointer?
) {
  guard let client, let context else { return }
  Unmanaged<DaemonConnection>.fromOpaque(context).takeUnretainedValue().change(client, state)
}

private func retryDue(_ timer: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<DaemonConnection>.fromOpaque(context).takeUnretainedValue().retryIsDue()
}
