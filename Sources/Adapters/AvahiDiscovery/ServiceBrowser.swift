internal import CAvahi
internal import Glibc

/// Finds the services of one type on all networks until it is dropped, and keeps watching each of them. It may
/// start before the Avahi daemon runs, and searches again after a restart of the daemon.
///
/// Events come on Avahi's thread: hand them on. No call waits for the daemon.
package final class ServiceBrowser {
  package enum Event: Hashable, Sendable {
    case daemonAppeared
    /// The daemon is gone, for this reason in words. All known services are reported lost before this event.
    case daemonVanished(String)
    case found(DiscoveredService)
    /// Its text, port, addresses or interfaces changed; its name, host name and identifier did not.
    case updated(DiscoveredService)
    case lost(DiscoveredService)
    /// All services that answered at once have been reported; more may come at any time.
    case settled
    case failed(DiscoveryError)
  }

  private let thread: DaemonThread

  /// `identifierKey` is the text key, in lower case, whose value distinguishes services that share name and
  /// host name.
  package init(
    type: String, identifierKey: String, onEvent: @escaping @Sendable (Event) -> Void
  ) throws(DiscoveryError) {
    thread = try DaemonThread { connection in
      Search(
        type: type, table: ServiceTable(identifierKey: identifierKey), connection: connection,
        onEvent: onEvent)
    }
  }
}

/// A browser's work, on Avahi's thread.
private final class Search: DaemonUser {
  /// Delay before asking again for a service that did not answer within the daemon's five seconds.
  static let retryDelay = Duration.seconds(2)

  private let connection: DaemonConnection
  private let type: String
  private var table: ServiceTable
  private var client: OpaquePointer?
  private var browser: OpaquePointer?
  private var resolvers: [ServiceTable.Key: OpaquePointer] = [:]
  private var unanswered: Set<ServiceTable.Key> = []
  private var retry: OpaquePointer?
  private let onEvent: @Sendable (ServiceBrowser.Event) -> Void

  init(
    type: String, table: ServiceTable, connection: DaemonConnection,
    onEvent: @escaping @Sendable (ServiceBrowser.Event) -> Void
  ) {
    self.type = type
    self.table = table
    self.connection = connection
    self.onEvent = onEvent
  }

  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private func tell(_ event: ServiceBrowser.Event) {
    if !connection.isEnding { onEvent(event) }
  }

  func daemonAppeared(_ client: OpaquePointer) {
    tell(.daemonAppeared)
    self.client = client
    browser = avahi_service_browser_new(
      client, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), type, nil,
      AvahiLookupFlags(0), browserReported, context)
    if browser == nil { fail(client) }
  }

  func hostNameEstablished(_ client: OpaquePointer) {}

  func hostNameLost() {}

  func wokenUp() {}

  func daemonVanished(_ reason: String) {
    client = nil
    browser = nil
    resolvers.removeAll()
    unanswered.removeAll()
    report(table.loseAll())
    tell(.daemonVanished(reason))
  }

  func appear(_ key: ServiceTable.Key) {
    guard let client, resolvers[key] == nil, resolvers.count < ServiceTable.limit else { return }
    resolvers[key] = avahi_service_resolver_new(
      client, key.interface, key.network, key.name, type, key.domain, key.network,
      AvahiLookupFlags(0), resolverReported, context)
    if resolvers[key] == nil { askAgain(key) }
  }

  func disappear(_ key: ServiceTable.Key) {
    unanswered.remove(key)
    if let resolver = resolvers.removeValue(forKey: key) { avahi_service_resolver_free(resolver) }
    report(table.lose(key))
  }

  func resolve(_ sighting: ServiceTable.Sighting, at key: ServiceTable.Key) {
    guard resolvers[key] != nil else { return }
    report(table.see(sighting, at: key))
  }

  func failToResolve(_ key: ServiceTable.Key) {
    guard let resolver = resolvers.removeValue(forKey: key) else { return }
    avahi_service_resolver_free(resolver)
    report(table.lose(key))
    askAgain(key)
  }

  func settle() { tell(.settled) }

  func fail() {
    if let client { fail(client) }
  }

  func retryIsDue() {
    if let retry { connection.cancel(retry) }
    retry = nil
    let keys = unanswered
    unanswered.removeAll()
    for key in keys { appear(key) }
  }

  private func askAgain(_ key: ServiceTable.Key) {
    guard unanswered.count < ServiceTable.limit else { return }
    unanswered.insert(key)
    guard retry == nil else { return }
    retry = connection.after(Self.retryDelay, retryDue, context)
  }

  private func fail(_ client: OpaquePointer) {
    let text = "cannot look for services: \(reason(avahi_client_errno(client)))"
    tell(.failed(DiscoveryError(description: text)))
    connection.reconnect(reason: text)
  }

  private func report(_ changes: [ServiceTable.Change]) {
    for change in changes {
      switch change {
      case .found(let service): tell(.found(service))
      case .updated(let service): tell(.updated(service))
      case .lost(let service): tell(.lost(service))
      }
    }
  }
}

// MARK: callbacks, on Avahi's thread

private func search(_ context: UnsafeMutableRawPointer?) -> Search? {
  context.map { Unmanaged<Search>.fromOpaque($0).takeUnretainedValue() }
}

private func key(
  _ interface: AvahiIfIndex, _ network: AvahiProtocol, _ name: UnsafePointer<CChar>?,
  _ domain: UnsafePointer<CChar>?
) -> ServiceTable.Key? {
  guard let name, let domain else { return nil }
  return ServiceTable.Key(
    interface: interface, network: network, name: String(cString: name),
    domain: String(cString: domain))
}

private func browserReported(
  _ browser: OpaquePointer?, _ interface: AvahiIfIndex, _ network: AvahiProtocol,
  _ event: AvahiBrowserEvent, _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?,
  _ domain: UnsafePointer<CChar>?, _ flags: AvahiLookupResultFlags,
  _ context: UnsafeMutableRawPointer?
) {
  guard let search = search(context) else { return }
  switch event {
  case AVAHI_BROWSER_NEW: key(interface, network, name, domain).map(search.appear)
  case AVAHI_BROWSER_REMOVE: key(interface, network, name, domain).map(search.disappear)
  case AVAHI_BROWSER_ALL_FOR_NOW: search.settle()
  case AVAHI_BROWSER_FAILURE: search.fail()
  default: break
  }
}

private func resolverReported(
  _ resolver: OpaquePointer?, _ interface: AvahiIfIndex, _ network: AvahiProtocol,
  _ event: AvahiResolverEvent, _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?,
  _ domain: UnsafePointer<CChar>?, _ hostName: UnsafePointer<CChar>?,
  _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16,
  _ text: UnsafeMutablePointer<AvahiStringList>?,
  _ flags: AvahiLookupResultFlags, _ context: UnsafeMutableRawPointer?
) {
  guard let search = search(context), let key = key(interface, network, name, domain) else {
    return
  }
  guard event == AVAHI_RESOLVER_FOUND, let hostName, let address else {
    return search.failToResolve(key)
  }
  let interfaceName = nameOfInterface(interface)
  search.resolve(
    ServiceTable.Sighting(
      interface: interfaceName, name: key.name, hostName: String(cString: hostName),
      address: printed(address, interface: interfaceName), port: port, text: pairs(text),
      isLocal: flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0),
    at: key)
}

private func retryDue(_ timer: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
  search(context)?.retryIsDue()
}

// MARK: reading Avahi's values

private func nameOfInterface(_ index: AvahiIfIndex) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { name in
    guard let start = name.baseAddress, index >= 0, if_indextoname(UInt32(index), start) != nil
    else { return "\(index)" }
    return String(cString: start)
  }
}

private func printed(_ address: UnsafePointer<AvahiAddress>, interface: String) -> String {
  let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
    guard let start = buffer.baseAddress,
      avahi_address_snprint(start, buffer.count, address) != nil
    else { return "" }
    return String(cString: start)
  }
  let isLinkLocal = address.pointee.proto == AVAHI_PROTO_INET6 && text.hasPrefix("fe80:")
  return isLinkLocal ? "\(text)%\(interface)" : text
}

private func pairs(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [TextPair] {
  var pairs: [TextPair] = []
  var next = list
  while let entry = next {
    let bytes = UnsafeBufferPointer(
      start: avahi_string_list_get_text(entry), count: avahi_string_list_get_size(entry))
    let parts = bytes.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    if let key = texts.first { pairs.append(TextPair(key, texts.count > 1 ? texts[1] : "")) }
    next = avahi_string_list_get_next(entry)
  }
  return pairs
}
