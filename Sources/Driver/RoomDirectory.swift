package import AvahiDiscovery
import LinuxIO
package import Pairing
package import Sender
import WireProtocol

/// The known receivers: remembered from earlier runs, and found by discovery now.
package struct RoomDirectory {
  /// Largest number of services: more than any home has, and few for a forger.
  static let mostServices = 256
  /// Largest number of receivers stored for the next run.
  static let mostRemembered = 64

  /// Largest number of known receivers. Beyond it, one that is gone is forgotten.
  package static let limit = mostServices + mostRemembered

  /// Sorted by name, then by identity; at most one record for each identity.
  package private(set) var records: [RoomRecord]
  /// The services found by discovery, in order of arrival.
  private var sightings: [(service: String, record: RoomRecord)] = []
  /// Identities in the order in which they were remembered.
  private let remembered: [String]
  /// The paired receivers. No other receiver passes for one of them, whatever its name.
  package var paired: Pairings
  private var met: [String] = []
  /// Warnings that were not reported yet.
  private var warnings: [String] = []
  private var warned: Set<String> = []

  package init(remembered: [RoomRecord], paired: Pairings = Pairings()) {
    self.paired = paired
    records = remembered.prefix(Self.mostRemembered).map { record in
      var record = record
      record.state = .away
      return record
    }
    self.remembered = records.map(\.id)
  }

  package var isEmpty: Bool { records.isEmpty }

  /// True if this machine is paired with the receiver.
  package func isPaired(_ id: String) -> Bool { paired.all.contains { $0.id.hex == id } }

  package var present: [RoomRecord] { records.filter { $0.state != .away } }

  /// Records for the next run, the most useful first: rooms of this run's sessions, then those known before.
  package var toRemember: [RoomRecord] {
    var seen: Set<String> = []
    let order = (met + remembered + records.map(\.id)).filter { seen.insert($0).inserted }
    return order.prefix(Self.mostRemembered).compactMap { id in records.first { $0.id == id } }
  }

  /// Takes a found service. Returns its record, or nil if it is no receiver, or has the identity of another one.
  package mutating func found(_ service: DiscoveredService) -> RoomRecord? {
    let pairs = Dictionary(service.text.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    guard let advertisement = try? ReceiverAdvertisement(textRecord: pairs) else { return nil }
    let record = RoomRecord(
      id: advertisement.id.hex, name: advertisement.name, model: advertisement.model,
      state: .init(advertisement.state),
      addresses: Array(service.addresses.prefix(RoomDial.addressLimit)), port: service.port,
      codecs: advertisement.codecs.map(\.name), access: advertisement.access)
    if let index = sightings.firstIndex(where: { $0.service == service.name }) {
      sightings[index].record = record
    } else if sightings.count < Self.mostServices {
      sightings.append((service.name, record))
    } else {
      warn("more than \(Self.mostServices) receivers are announced; the others are ignored")
      return nil
    }
    guard let first = sightings.first(where: { $0.record.id == record.id }) else { return nil }
    if isImpostor(record) { warnOfImpostor(record) }
    if first.service != service.name {
      guard first.record.shares(anAddressWith: record) else {
        warnOfTwins(first.record, record)
        return nil
      }
    }
    insert(record)
    return records.first { $0.id == record.id }
  }

  package mutating func gone(serviceNamed name: String) {
    guard let index = sightings.firstIndex(where: { $0.service == name }) else { return }
    let id = sightings.remove(at: index).record.id
    if let other = sightings.first(where: { $0.record.id == id }) { return insert(other.record) }
    for index in records.indices where records[index].id == id { records[index].state = .away }
  }

  /// Adds a receiver that something else has found, unless it is known already.
  mutating func know(_ record: RoomRecord) {
    if !records.contains(where: { $0.id == record.id }) { insert(record) }
  }

  /// Handles a restart of discovery: all services are gone.
  mutating func allGone() {
    for sighting in sightings { gone(serviceNamed: sighting.service) }
  }

  /// Notes that a session was held with this receiver.
  mutating func met(_ id: String) {
    if !met.contains(id) { met.append(id) }
  }

  /// Returns the new warnings. Each is reported once.
  package mutating func takeWarnings() -> [String] {
    defer { warnings = [] }
    return warnings
  }

  /// True if the receiver has the name of one that this machine is paired with, but is none of these.
  package func isImpostor(_ record: RoomRecord) -> Bool {
    let name = record.name.lowercased()
    return paired.all.contains { $0.name.lowercased() == name }
      && !paired.all.contains { $0.id.hex == record.id }
  }

  /// Returns the receivers of this name, or, for `Kitchen#4f2a`, those whose identity also begins with the digits after
  /// the `#`. A name alone does not lead to an impostor.
  package func matches(_ wanted: String) -> [RoomRecord] {
    let parts = wanted.split(separator: "#", maxSplits: 1).map(String.init)
    return records.filter { record in
      let isNamed = parts.first.map { record.name.lowercased() == $0.lowercased() } ?? false
      guard parts.count == 2 else {
        return isNamed && !isImpostor(record) || record.id == wanted.lowercased()
      }
      return isNamed && record.id.hasPrefix(parts[1].lowercased())
    }
  }

  /// Inserts a record. Keeps earlier addresses too, in case only the address has changed.
  private mutating func insert(_ record: RoomRecord) {
    var record = record
    let before = records.first { $0.id == record.id && $0.port == record.port }?.addresses ?? []
    record.addresses += before.filter { !record.addresses.contains($0) }.prefix(4)
    records.removeAll { $0.id == record.id }
    if records.count >= Self.limit { forgetOne() }
    records.append(record)
    records.sort { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  /// Forgets one receiver that is away, preferably one without a session.
  private mutating func forgetOne() {
    let away = records.indices.filter { records[$0].state == .away }
    let known = Set(met + remembered)
    let strange = away.first { !known.contains(records[$0].id) }
    if let index = strange ?? away.first { records.remove(at: index) }
  }

  private mutating func warnOfTwins(_ first: RoomRecord, _ second: RoomRecord) {
    warn(
      "two receivers have one identity: \(first.whereabouts) and \(second.whereabouts); "
        + "only the first is used. Where one is a copy of the other, delete receiver-key.pem "
        + "in its state directory and start it again")
  }

  private mutating func warnOfImpostor(_ record: RoomRecord) {
    let name = "\(record.name)#\(record.id.prefix(4))".asShellWord
    warn(
      "the \(record.name.shownPlainly) at \(record.addresses.first ?? "no address"):\(record.port) "
        + "is not the one that this machine is paired with, and is left out. If it was set up anew: "
        + "tutti unpair \(record.name.asShellWord), then tutti pair \(name)")
  }

  private mutating func warn(_ line: String) {
    guard warned.count < 64, warned.insert(line).inserted else { return }
    warnings.append(line)
  }
}

extension RoomRecord {
  var socketAddresses: [SocketAddress] {
    addresses.compactMap { SocketAddress(host: $0, port: port) }
  }

  /// True if one machine was announced twice, under two names.
  fileprivate func shares(anAddressWith other: RoomRecord) -> Bool {
    addresses.contains(where: other.addresses.contains)
  }

  fileprivate var whereabouts: String {
    "\(name) at \(addresses.first ?? "no address"):\(port)"
  }
}

extension RoomRecord.State {
  fileprivate init(_ state: ReceiverAdvertisement.State) {
    self = state == .free ? .free : .busy
  }
}
