import Testing

@testable import Sender

@Suite struct SourceReachTests {
  private static func v4(_ text: String) -> UInt32 {
    text.split(separator: ".").reduce(0) { $0 << 8 | (UInt32($1) ?? 0) }
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "169.254.169.254", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255",
  ])
  func `addresses of this machine and of no single host are its user's alone`(_ text: String) {
    let address = Self.v4(text)
    #expect(SourceReach.all.allows(ipv4: address))
    for reach in [SourceReach.network, .internet] {
      #expect(!reach.allows(ipv4: address))
      #expect(!reach.allows(ipv6: 0, 0xffff_0000_0000 | UInt64(address)), "mapped")
      #expect(!reach.allows(ipv6: 0, UInt64(address)), "compatible")
      #expect(!reach.allows(ipv6: 0x0064_ff9b_0000_0000, UInt64(address)), "NAT64")
      #expect(!reach.allows(ipv6: 0x0064_ff9b_0001_0000, UInt64(address)), "local NAT64")
      #expect(!reach.allows(ipv6: 0x2002_0000_0000_0000 | UInt64(address) << 16, 1), "6to4")
      #expect(!reach.allows(ipv6: 0x2001_0000_0000_0000, UInt64(~address)), "Teredo")
    }
  }

  @Test(arguments: [
    "10.0.0.1", "100.64.0.1", "100.127.255.255", "172.16.0.1", "172.31.9.9", "192.168.1.1",
    "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.9",
  ])
  func `addresses of the household's network are no guest's`(_ text: String) {
    let address = Self.v4(text)
    #expect(SourceReach.network.allows(ipv4: address))
    #expect(SourceReach.network.allows(ipv6: 0, 0xffff_0000_0000 | UInt64(address)))
    #expect(!SourceReach.internet.allows(ipv4: address))
    #expect(!SourceReach.internet.allows(ipv6: 0, 0xffff_0000_0000 | UInt64(address)))
    #expect(!SourceReach.internet.allows(ipv6: 0x2002_0000_0000_0000 | UInt64(address) << 16, 1))
  }

  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "192.169.0.1", "223.255.0.1",
  ])
  func `public addresses are everybody's`(_ text: String) {
    let address = UInt64(Self.v4(text))
    for reach in SourceReach.allCases {
      #expect(reach.allows(ipv4: Self.v4(text)))
      #expect(reach.allows(ipv6: 0, 0xffff_0000_0000 | address), "mapped")
      #expect(reach.allows(ipv6: 0, address), "compatible")
      #expect(reach.allows(ipv6: 0x0064_ff9b_0000_0000, address), "NAT64")
      #expect(reach.allows(ipv6: 0x2002_0000_0000_0000 | address << 16, 1), "6to4")
      let teredo = UInt64(~Self.v4(text))
      #expect(reach.allows(ipv6: 0x2001_0000_0000_0000, teredo), "Teredo")
      // A translator of the network itself may lead anywhere in it.
      #expect(reach.allows(ipv6: 0x0064_ff9b_0001_0000, address) == (reach != .internet))
    }
  }

  @Test func `so are those of IPv6`() {
    let own: [(UInt64, UInt64)] = [
      (0, 0), (0, 1), (0xfe80 << 48, 1), (0xfebf << 48, 1), (0xff02 << 48, 1), (0x0100 << 48, 1),
    ]
    for (high, low) in own { #expect(!SourceReach.network.allows(ipv6: high, low)) }
    for high: UInt64 in [0xfc00 << 48, 0xfd12 << 48, 0xfec0 << 48, 0x2001_0db8 << 32] {
      #expect(SourceReach.network.allows(ipv6: high, 1))
      #expect(!SourceReach.internet.allows(ipv6: high, 1))
    }
    for high: UInt64 in [0x2606_4700 << 32, 0x2a00_1450 << 32, 0x2001_4860 << 32] {
      #expect(SourceReach.internet.allows(ipv6: high, 1))
    }
  }
}
