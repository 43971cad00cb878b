package import AvahiDiscovery
import LinuxIO
import WireProtocol

/// The receivers that are known: remembered from earlier, and found by discovery now.
package struct RoomDirectory {
  /// Newest knowledge first within the order of names.
  package private(set) var records: [RoomRecord]
  /// Identities that discovery has seen in this run, by the service that told.
  private var seen: [String: String] = [:]

  package init(remembered: [RoomRecord]) {
    records = remembered.map { record in
      var record = record
      record.state = "away"
      return record
    }
  }

  package var isEmpty: Bool { records.isEmpty }
  package var present: [RoomRecord] { records.filter { $0.state != "away" } }

  /// Returns the record if the service is a receiver's.
  package mutating func found(_ service: DiscoveredService) -> RoomRecord? {
    let pairs = Dictionary(service.text.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    guard let advertisement = try? ReceiverAdvertisement(textRecord: pairs) else { return nil }
    let id = advertisement.id.hex
    let known = records.first { $0.id == id }?.addresses ?? []
    let record = RoomRecord(
      id: id, name: advertisement.name, model: advertisement.model,
      state: advertisement.state.rawValue,
      addresses: service.addresses + known.filter { !service.addresses.contains($0) }.prefix(4),
      port: service.port, codecs: advertisement.codecs.map(\.name))
    seen[service.name] = id
    insert(record)
    return record
  }

  package mutating func gone(serviceNamed name: String) {
    guard let id = seen.removeValue(forKey: name) else { return }
    for index in records.indices where records[index].id == id { records[index].state = "away" }
  }

  /// Receivers of this name, or whose identity begins with what stands behind a `#`: `Kitchen#4f2a`.
  package func matches(_ wanted: String) -> [RoomRecord] {
    let parts = wanted.split(separator: "#", maxSplits: 1).map(String.init)
    return records.filter { record in
      let isNamed = parts.first.map { record.name.lowercased() == $0.lowercased() } ?? false
      guard parts.count == 2 else { return isNamed || record.id == wanted.lowercased() }
      return isNamed && record.id.hasPrefix(parts[1].lowercased())
    }
  }

  private mutating func insert(_ record: RoomRecord) {
    records.removeAll { $0.id == record.id }
    records.append(record)
    records.sort { ($0.name, $0.id) < ($1.name, $1.id) }
  }
}

/// A receiver as discovery or an earlier session knows it.
package struct RoomRecord: Codable, Hashable, Sendable {
  /// 32 hex digits.
  package var id: String
  package var name: String
  package var model: String
  /// `free`, `busy`, or `away` where it is only remembered.
  package var state: String
  /// Host parts, the likeliest first.
  package var addresses: [String]
  package var port: UInt16
  package var codecs: [String]

  package init(
    id: String, name: String, model: String, state: String, addresses: [String], port: UInt16,
    codecs: [String]
  ) {
    self.id = id
    self.name = name
    self.model = model
    self.state = state
    self.addresses = addresses
    self.port = port
    self.codecs = codecs
  }

  var socketAddresses: [SocketAddress] {
    addresses.compactMap { SocketAddress(host: $0, port: port) }
  }
}
