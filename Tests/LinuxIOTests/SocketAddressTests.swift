import Testing

@testable import LinuxIO

struct SocketAddressTests {
  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7:7770"), ("::1", "[::1]:7770"), ("[2001:db8::2]", "[2001:db8::2]:7770"),
    ("::ffff:192.0.2.7", "192.0.2.7:7770"), ("fe80::1%lo", "[fe80::1%lo]:7770"),
    ("fe80::1%1", "[fe80::1%lo]:7770"),
  ])
  func `a numeric address is read and printed`(_ text: String, _ printed: String) throws {
    let address = try #require(SocketAddress(host: text, port: 7770))
    #expect(address.description == printed)
    #expect(SocketAddress(host: address.host, port: 7770) == address)
  }

  @Test(arguments: [
    "", "kitchen", "1.2.3", "1.2.3.4.5", "fe80::1%", "fe80::1%nowhere9", "[", "[]", "::1%-1",
    "1.2.3.4\u{0}", "1:2:3:4:5:6:7:8:9", "::1%4294967296",
  ])
  func `anything else is no address`(_ text: String) {
    #expect(SocketAddress(host: text, port: 1) == nil)
  }

  @Test(arguments: [
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::9", true), ("2001:db8:1:2::", "2001:db8:1:3::", false),
    ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false),
    ("::ffff:192.0.2.7", "192.0.2.7", true),
  ])
  func `a host of IPv6 is counted with all its addresses`(
    _ one: String, _ other: String, _ isSame: Bool
  ) throws {
    let networks = try [one, other].map { try #require(SocketAddress(host: $0, port: 7)).network }
    #expect((networks[0] == networks[1]) == isSame)
  }

  @Test func `only the loopback is the loopback`() throws {
    #expect(SocketAddress.loopback(port: 1).isLoopback)
    #expect(SocketAddress.loopback6(port: 1).isLoopback)
    #expect(!SocketAddress.any(port: 1).isLoopback)
    #expect(try !#require(SocketAddress(host: "128.0.0.1", port: 1)).isLoopback)
  }
}
