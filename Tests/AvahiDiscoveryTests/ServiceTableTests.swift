import Testing

@testable import AvahiDiscovery

struct ServiceTableTests {
  private var table = ServiceTable(identifierKey: "id")

  @Test mutating func `one service on two interfaces and protocols is one`() {
    let first = table.see(sighting(on: "wlan0", address: "fe80::1%wlan0"), at: key(3, 1))
    #expect(first == [.found(service(["fe80::1%wlan0"], on: ["wlan0"]))])
    let second = table.see(sighting(on: "eth0", address: "192.0.2.1"), at: key(2, 0))
    let both = service(["192.0.2.1", "fe80::1%wlan0"], on: ["eth0", "wlan0"])
    #expect(second == [.updated(both)])
    #expect(table.see(sighting(on: "eth0", address: "192.0.2.1"), at: key(2, 0)).isEmpty)
    #expect(table.lose(key(3, 1)) == [.updated(service(["192.0.2.1"], on: ["eth0"]))])
    #expect(table.lose(key(2, 0)) == [.lost(service(["192.0.2.1"], on: ["eth0"]))])
    #expect(table.lose(key(2, 0)).isEmpty)
  }

  @Test mutating func `two hosts with one name stay apart`() {
    var other = sighting(on: "eth1", address: "198.51.100.1")
    other.hostName = "other.local"
    #expect(table.see(sighting(on: "eth0", address: "192.0.2.1"), at: key(2, 0)).count == 1)
    let changes = table.see(other, at: key(3, 0))
    guard case .found(let found)? = changes.first else {
      Issue.record("\(changes)")
      return
    }
    #expect(found.addresses == ["198.51.100.1"] && found.hostName == "other.local")
  }

  @Test mutating func `hosts of one name are told apart by the identifier`() {
    var other = sighting(on: "eth1", address: "198.51.100.1")
    other.text = [TextPair("ID", "b")]
    #expect(table.see(sighting(on: "eth0", address: "192.0.2.1"), at: key(2, 0)).count == 1)
    #expect(table.see(other, at: key(3, 0)).count == 1)
    #expect(table.loseAll().count == 2)
  }

  @Test mutating func `the latest text holds`() {
    _ = table.see(sighting(on: "eth0", address: "192.0.2.1"), at: key(2, 0))
    _ = table.see(sighting(on: "eth0", address: "2001:db8::1"), at: key(2, 1))
    var newer = sighting(on: "eth0", address: "192.0.2.1")
    newer.text.append(TextPair("busy", "1"))
    guard case .updated(let service)? = table.see(newer, at: key(2, 0)).first else {
      Issue.record("not updated")
      return
    }
    #expect(service["busy"] == "1")
    #expect(service.addresses == ["192.0.2.1", "2001:db8::1"])
  }

  @Test mutating func `announcements beyond the limit are not looked at`() {
    for number in 0..<1100 {
      var sighting = sighting(on: "eth0", address: "192.0.2.1")
      sighting.hostName = "\(number).local"
      #expect(table.see(sighting, at: key(Int32(number), 0)).count == (number < 1000 ? 1 : 0))
    }
    #expect(table.loseAll().count == ServiceTable.limit)
  }

  private func key(_ interface: Int32, _ network: Int32) -> ServiceTable.Key {
    ServiceTable.Key(interface: interface, network: network, name: "Kitchen", domain: "local")
  }

  private func sighting(on interface: String, address: String) -> ServiceTable.Sighting {
    ServiceTable.Sighting(
      interface: interface, name: "Kitchen", hostName: "pi.local", address: address, port: 7770,
      text: [TextPair("id", "a")])
  }

  private func service(_ addresses: [String], on interfaces: [String]) -> DiscoveredService {
    DiscoveredService(
      name: "Kitchen", hostName: "pi.local", addresses: addresses, port: 7770,
      text: [TextPair("id", "a")], interfaces: interfaces)
  }
}
