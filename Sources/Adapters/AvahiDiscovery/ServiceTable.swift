/// Joins sightings of services, by interface and protocol, into one entry for each service.
///
/// A host with several interfaces sees a service several times. Sightings with the same name, host and identifier
/// are one service; two hosts of the same name on different networks stay apart.
struct ServiceTable {
  /// Identifies one announcement by the path on which it came.
  struct Key: Hashable {
    var interface: Int32
    var network: Int32
    var name: String
    var domain: String
  }

  struct Sighting: Hashable {
    var interface: String
    var name: String
    var hostName: String
    var address: String
    var port: UInt16
    var text: [TextPair]
    var isLocal = false
  }

  enum Change: Hashable {
    case found(DiscoveredService)
    case updated(DiscoveredService)
    case lost(DiscoveredService)
  }

  private struct Identity: Hashable {
    var name: String
    var hostName: String
    var identifier: String?
  }

  /// Largest number of watched announcements; a service has one for each interface and protocol. The daemon grants
  /// a client 1024 objects.
  static let limit = 1000

  /// The text key whose value distinguishes services that share name and host name.
  private let identifierKey: String
  /// In the order of their latest change.
  private var sightings: [(key: Key, sighting: Sighting)] = []
  private var services: [Identity: DiscoveredService] = [:]

  init(identifierKey: String) { self.identifierKey = identifierKey }

  mutating func see(_ sighting: Sighting, at key: Key) -> [Change] {
    sightings.removeAll { $0.key == key }
    guard sightings.count < Self.limit else { return [] }
    sightings.append((key, sighting))
    return update()
  }

  mutating func lose(_ key: Key) -> [Change] {
    sightings.removeAll { $0.key == key }
    return update()
  }

  mutating func loseAll() -> [Change] {
    sightings.removeAll()
    return update()
  }

  private mutating func update() -> [Change] {
    var joined: [Identity: DiscoveredService] = [:]
    var order: [Identity] = []
    for (_, sighting) in sightings {
      let identity = identity(of: sighting)
      if joined[identity] == nil { order.append(identity) }
      joined[identity] = join(joined[identity], sighting)
    }
    for identity in order {
      joined[identity]?.addresses.sort { (rank($0), $0) < (rank($1), $1) }
      joined[identity]?.interfaces.sort()
    }
    let gone = services.filter { joined[$0.key] == nil }.values.sorted { $0.name < $1.name }
    let changes = order.compactMap { change(from: services[$0], to: joined[$0]) }
    services = joined
    return gone.map(Change.lost) + changes
  }

  private func identity(of sighting: Sighting) -> Identity {
    let identifier = sighting.text.first { $0.key.lowercased() == identifierKey }?.value
    return Identity(
      name: sighting.name, hostName: sighting.hostName, identifier: identifier)
  }

  private func join(_ service: DiscoveredService?, _ sighting: Sighting) -> DiscoveredService {
    let addresses = service?.addresses ?? []
    let interfaces = service?.interfaces ?? []
    return DiscoveredService(
      name: sighting.name, hostName: sighting.hostName,
      addresses: addresses.contains(sighting.address) ? addresses : addresses + [sighting.address],
      port: sighting.port, text: sighting.text,
      interfaces: interfaces.contains(sighting.interface)
        ? interfaces : interfaces + [sighting.interface],
      isLocal: sighting.isLocal || service?.isLocal == true)
  }

  private func change(from old: DiscoveredService?, to new: DiscoveredService?) -> Change? {
    guard let new, new != old else { return nil }
    return old == nil ? .found(new) : .updated(new)
  }

  private func rank(_ address: String) -> Int {
    if address.contains("%") { return 2 }
    return address.contains(":") ? 1 : 0
  }
}
