internal import CAvahi

/// A service to announce.
package struct PublishedService: Hashable, Sendable {
  /// What people see, at most 63 bytes.
  package var name: String
  /// Such as `_tutti._tcp`.
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

/// Announces one service on all networks until it is dropped. It may begin before the Avahi daemon runs, and
/// announces again when that was restarted.
///
/// For one thread. Events come on Avahi's thread, the first ones from within `init`: hand them on, and do not drop
/// the publisher there.
package final class ServicePublisher {
  package enum Event: Hashable, Sendable {
    case daemonAppeared
    /// With a reason in words.
    case daemonVanished(String)
    /// Under this name, which is another one than asked for after `renamed`.
    case published(name: String)
    /// Another service of this type has the name.
    case renamed(from: String, to: String)
    case failed(DiscoveryError)
  }

  private let publication: Publication

  package init(_ service: PublishedService, onEvent: @escaping @Sendable (Event) -> Void)
    throws(DiscoveryError)
  {
    guard avahi_is_valid_service_name(service.name) != 0 else {
      throw DiscoveryError(
        description: "\"\(service.name)\" cannot be announced: a name has 1 to 63 bytes")
    }
    publication = Publication(service, connection: try DaemonConnection(), onEvent: onEvent)
    try publication.connection.start(user: publication)
  }

  deinit { publication.connection.stop() }

  /// Announces other text from now on, also after a restart of the daemon.
  package func update(text: [TextPair]) throws(DiscoveryError) {
    let error = publication.connection.locked { publication.update(text: text) }
    if let error { throw error }
  }
}

/// What Avahi's thread knows of a publisher; see `DaemonConnection` for who may touch it.
private final class Publication: DaemonUser {
  /// Names to try before giving up; each is the one before with its number raised.
  static let mostNames = 100

  let connection: DaemonConnection
  private var service: PublishedService
  private var group: OpaquePointer?
  private let onEvent: @Sendable (ServicePublisher.Event) -> Void

  init(
    _ service: PublishedService, connection: DaemonConnection,
    onEvent: @escaping @Sendable (ServicePublisher.Event) -> Void
  ) {
    self.service = service
    self.connection = connection
    self.onEvent = onEvent
  }

  func daemonAppeared(_ client: OpaquePointer) { onEvent(.daemonAppeared) }

  func daemonVanished(_ reason: String) {
    group = nil
    onEvent(.daemonVanished(reason))
  }

  func hostNameLost() {
    if let group { avahi_entry_group_reset(group) }
  }

  func hostNameEstablished(_ client: OpaquePointer) {
    if group == nil {
      group = avahi_entry_group_new(
        client, groupChanged, Unmanaged.passUnretained(self).toOpaque())
    }
    guard let group else { return fail(avahi_client_errno(client)) }
    publish(group)
  }

  func update(text: [TextPair]) -> DiscoveryError? {
    service.text = text
    guard let group, avahi_entry_group_is_empty(group) == 0 else { return nil }
    let list = textList(text)
    defer { avahi_string_list_free(list) }
    let result = avahi_entry_group_update_service_txt_strlst(
      group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC),
      AvahiPublishFlags(0), service.name, service.type, nil, list)
    return result < 0 ? error(result) : nil
  }

  func change(_ group: OpaquePointer, _ state: AvahiEntryGroupState) {
    // A group of a connection that was given up may still have something to say.
    guard group == self.group else { return }
    switch state {
    case AVAHI_ENTRY_GROUP_ESTABLISHED: onEvent(.published(name: service.name))
    case AVAHI_ENTRY_GROUP_COLLISION:
      rename()
      publish(group)
    case AVAHI_ENTRY_GROUP_FAILURE:
      fail(avahi_client_errno(avahi_entry_group_get_client(group)))
    default: break
    }
  }

  private func publish(_ group: OpaquePointer) {
    for _ in 0..<Self.mostNames {
      avahi_entry_group_reset(group)
      let result = add(to: group)
      guard result == AVAHI_ERR_COLLISION else {
        if result < 0 { fail(result) }
        return
      }
      rename()
    }
    fail(Int32(AVAHI_ERR_COLLISION))
  }

  private func add(to group: OpaquePointer) -> Int32 {
    let list = textList(service.text)
    defer { avahi_string_list_free(list) }
    let result = avahi_entry_group_add_service_strlst(
      group, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC),
      AvahiPublishFlags(0), service.name, service.type, nil, nil, service.port, list)
    return result < 0 ? result : avahi_entry_group_commit(group)
  }

  private func rename() {
    guard let name = avahi_alternative_service_name(service.name) else { return }
    defer { avahi_free(name) }
    let old = service.name
    service.name = String(cString: name)
    onEvent(.renamed(from: old, to: service.name))
  }

  private func fail(_ code: Int32) { onEvent(.failed(error(code))) }

  private func error(_ code: Int32) -> DiscoveryError {
    DiscoveryError(description: "\(service.name) cannot be announced: \(reason(code))")
  }

  /// The list's functions put each entry in front of the others.
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
