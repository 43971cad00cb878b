internal import CAvahi
internal import Synchronization

/// A service to announce.
package struct PublishedService: Hashable, Sendable {
  /// The name for people, at most 63 bytes.
  package var name: String
  /// The type, such as `_tutti._tcp`.
  package var type: String
  package var port: UInt16
  package var text: [TextPair]

  package init(name: String, type: String, port: UInt16, text: [TextPair]) {
    self.name = name
    self.type = type
    self.port = port
    self.text = text
  }
}

/// Announces one service on all networks until it is dropped. It may start before the Avahi daemon runs, announces
/// again after a restart of the daemon, and repeats failed attempts. If another service has the name, it takes a similar
/// one, and later tries a few times to get the wanted one back.
///
/// Events come on Avahi's thread: hand them on. No call waits for the daemon.
package final class ServicePublisher {
  package enum Event: Hashable, Sendable {
    case daemonAppeared
    /// The daemon is gone, for this reason in words.
    case daemonVanished(String)
    /// Published under this name, which differs from the requested one after `renamed`.
    case published(name: String)
    /// Another service of this type has the name.
    case renamed(from: String, to: String)
    /// An attempt failed and will be repeated. Posted once for each reason.
    case failed(DiscoveryError)
  }

  private let thread: DaemonThread
  private let text: WantedText

  package init(_ service: PublishedService, onEvent: @escaping @Sendable (Event) -> Void)
    throws(DiscoveryError)
  {
    guard avahi_is_valid_service_name(service.name) != 0 else {
      throw DiscoveryError(
        description: "\"\(service.name)\" cannot be announced: a name has 1 to 63 bytes")
    }
    let text = WantedText(service.text)
    self.text = text
    thread = try DaemonThread { connection in
      Publication(service, text: text, connection: connection, onEvent: onEvent)
    }
  }

  /// Announces this text from now on, also after a restart of the daemon. If several changes come while the daemon
  /// is slow, only the last is announced. From any thread.
  package func update(text: [TextPair]) {
    self.text.pairs.withLock { $0 = text }
    thread.wake()
  }
}

private final class WantedText: Sendable {
  let pairs: Mutex<[TextPair]>

  init(_ pairs: [TextPair]) { self.pairs = Mutex(pairs) }
}

/// A publisher's work, on Avahi's thread.
private final class Publication: DaemonUser {
  /// Largest number of names to try; each is the one before with its number raised.
  static let mostNames = 100
  /// Pause after a failure; doubled with each failure that follows.
  static let firstPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(15)
  /// Number of times that the wanted name is tried again, after `firstPause`, before a similar one is taken. A service that was
  /// just started again often collides with what the daemon has not forgotten yet of the one before it.
  static let secondAttempts = 2
  /// Pauses before the wanted name is tried again later. A daemon whose network has just come up may take its own packets for those
  /// of another host, and so may one that hears a reflector; then the conflict is over at once. A service that really has
  /// the name is not disturbed by being asked.
  static let returnPauses = [Duration.seconds(5), .seconds(60), .seconds(600)]

  private struct Failure: Error {
    let code: Int32
  }

  private let connection: DaemonConnection
  private let text: WantedText
  private var service: PublishedService
  /// Nil unless the host name is established.
  private var client: OpaquePointer?
  private var group: OpaquePointer?
  /// The text that the daemon announces; nil if none.
  private var announced: [TextPair]?
  private var retry: OpaquePointer?
  private var pause = firstPause
  private let wantedName: String
  /// Collisions of the wanted name since it was last announced.
  private var collisions = 0
  private var returning: OpaquePointer?
  private var returnPauses = Publication.returnPauses[...]
  private var toldFailure: DiscoveryError?
  private let onEvent: @Sendable (ServicePublisher.Event) -> Void

  init(
    _ service: PublishedService, text: WantedText, connection: DaemonConnection,
    onEvent: @escaping @Sendable (ServicePublisher.Event) -> Void
  ) {
    self.service = service
    wantedName = service.name
    self.text = text
    self.connection = connection
    self.onEvent = onEvent
  }

  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private func tell(_ event: ServicePublisher.Event) {
    if !connection.isEnding { onEvent(event) }
  }

  func daemonAppeared(_ client: OpaquePointer) { tell(.daemonAppeared) }

  func daemonVanished(_ reason: String) {
    (client, group, announced) = (nil, nil, nil)
    succeed()
    stopReturning()
    service.name = wantedName
    (collisions, returnPauses) = (0, Self.returnPauses[...])
    tell(.daemonVanished(reason))
  }

  func hostNameLost() {
    client = nil
    announced = nil
    if let group { avahi_entry_group_reset(group) }
  }

  func hostNameEstablished(_ client: OpaquePointer) {
    self.client = client
    announced = nil
    work()
  }

  func wokenUp() { work() }

  func change(_ group: OpaquePointer, _ state: AvahiEntryGroupState) {
    // The group of an abandoned connection may still send events.
    guard group == self.group else { return }
    switch state {
    case AVAHI_ENTRY_GROUP_ESTABLISHED:
      tell(.published(name: service.name))
      if service.name == wantedName { collisions = 0 } else { returnLater() }
    case AVAHI_ENTRY_GROUP_COLLISION:
      announced = nil
      if awaitName() { return }
      rename()
      work()
    case AVAHI_ENTRY_GROUP_FAILURE:
      announced = nil
      fail(avahi_client_errno(avahi_entry_group_get_client(group)))
    default: break
    }
  }

  func retryIsDue() {
    if let retry { connection.cancel(retry) }
    retry = nil
    work()
  }

  // MARK: - The wanted name

  private var mayAwaitName: Bool {
    service.name == wantedName && collisions < Self.secondAttempts
  }

  /// After a collision, tries the wanted name again a little later. Returns false if that was done often enough.
  private func awaitName() -> Bool {
    guard mayAwaitName, retry == nil else { return false }
    collisions += 1
    retry = connection.after(Self.firstPause, retryDue, context)
    return true
  }

  private func returnLater() {
    guard returning == nil, let pause = returnPauses.popFirst() else { return }
    returning = connection.after(pause, returnDue, context)
  }

  func returnIsDue() {
    stopReturning()
    guard client != nil else { return }
    service.name = wantedName
    announced = nil
    work()
  }

  private func stopReturning() {
    if let returning { connection.cancel(returning) }
    returning = nil
  }

  // MARK: - Announcing

  /// Announces the wanted service; if that fails, tries again after a pause.
  private func work() {
    guard retry == nil, let client else { return }
    let wanted = text.pairs.withLock { $0 }
    guard wanted != announced else { return }
    do throws(Failure) {
      let group = try theGroup(of: client)
      service.text = wanted
      if announced == nil { try publish(group) } else { try update(group) }
      announced = wanted
      succeed()
    } catch {
      announced = nil
      if error.code != Int32(AVAHI_ERR_COLLISION) || !awaitName() { fail(error.code) }
    }
  }

  private func succeed() {
    if let retry { connection.cancel(retry) }
    retry = nil
    pause = Self.firstPause
    toldFailure = nil
  }

  private func fail(_ code: Int32) {
    let error = DiscoveryError(
      description: "\(service.name) cannot be announced: \(reason(code)); trying again")
    if toldFailure != error { tell(.failed(error)) }
    toldFailure = error
    guard retry == nil else { return }
    retry = connection.after(pause, retryDue, context)
    pause = min(pause * 2, Self.longestPause)
  }

  private func theGroup(of client: OpaquePointer) throws(Failure) -> OpaquePointer {
    if group == nil { group = avahi_entry_group_new(client, groupChanged, context) }
    guard let group else { throw Failure(code: avahi_client_errno(client)) }
    return group
  }

  private func update(_ group: OpaquePointer) throws(Failure) {
    let list = textList(service.text)
    defer { avahi_string_list_free(list) }
    try check(
      avahi_entry_group_update_service_txt_strlst(
        group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC),
        AvahiPublishFlags(0), service.name, service.type, nil, list))
  }

  private func publish(_ group: OpaquePointer) throws(Failure) {
    for _ in 0..<Self.mostNames {
      try check(avahi_entry_group_reset(group))
      let result = add(to: group)
      guard result == AVAHI_ERR_COLLISION else { return try check(result) }
      if mayAwaitName { break }
      rename()
    }
    throw Failure(code: Int32(AVAHI_ERR_COLLISION))
  }

  private func add(to group: OpaquePointer) -> Int32 {
    let list = textList(service.text)
    defer { avahi_string_list_free(list) }
    let result = avahi_entry_group_add_service_strlst(
      group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC),
      AvahiPublishFlags(0), service.name, service.type, nil, nil, service.port, list)
    return result < 0 ? result : avahi_entry_group_commit(group)
  }

  private func check(_ result: Int32) throws(Failure) {
    if result < 0 { throw Failure(code: result) }
  }

  private func rename() {
    guard let name = avahi_alternative_service_name(service.name) else { return }
    defer { avahi_free(name) }
    let old = service.name
    service.name = String(cString: name)
    tell(.renamed(from: old, to: service.name))
  }

  /// Makes the text's list. Goes backward, because the list's functions prepend entries.
  private func textList(_ text: [TextPair]) -> UnsafeMutablePointer<AvahiStringList>? {
    var list: UnsafeMutablePointer<AvahiStringList>?
    for pair in text.reversed() {
      let value = Array(pair.value.utf8)
      list = avahi_string_list_add_pair_arbitrary(list, pair.key, value, value.count)
    }
    return list
  }
}

private func groupChanged(
  _ group: OpaquePointer?, _ state: AvahiEntryGroupState, _ context: UnsafeMutableRawPointer?
) {
  guard let group, let context else { return }
  Unmanaged<Publication>.fromOpaque(context).takeUnretainedValue().change(group, state)
}

private func retryDue(_ timer: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<Publication>.fromOpaque(context).takeUnretainedValue().retryIsDue()
}

private func returnDue(_ timer: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<Publication>.fromOpaque(context).takeUnretainedValue().returnIsDue()
}
