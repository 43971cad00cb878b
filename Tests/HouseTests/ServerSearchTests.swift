import Clock
import Sender
import Testing

@testable import House

/// Tests of answers to a search of the network for media servers.
@Suite struct ServerSearchTests {
  private static let sender: UInt32 = 0xC0A8_0105

  private func answer(
    status: String = "HTTP/1.1 200 OK",
    st: String = "ST: urn:schemas-upnp-org:device:MediaServer:1",
    location: String = "LOCATION: http://192.168.1.5:8200/rootDesc.xml"
  ) -> [UInt8] {
    Array(
      [status, "EXT:", "CACHE-CONTROL: max-age=1800", st, location, "", ""]
        .joined(separator: "\r\n").utf8)
  }

  private func place(
    _ answer: [UInt8], from sender: UInt32 = Self.sender, reach: SourceReach = .network
  ) -> String? {
    ServerSearch.answer(in: answer, from: sender, reach: reach)?.address.text
  }

  @Test func `a media server tells which one it is`() {
    func device(_ usn: String) -> String? {
      ServerSearch.answer(in: answer(st: usn), from: Self.sender, reach: .network)?.device
    }
    let st = "ST: urn:schemas-upnp-org:device:MediaServer:1"
    #expect(device("\(st)\r\nUSN: uuid:4d69::urn:x:1") == "uuid:4d69::urn:x:1")
    #expect(device(st) == nil)
  }

  @Test func `a media server tells where its description is`() {
    let address = "http://192.168.1.5:8200/rootDesc.xml"
    #expect(place(answer()) == address)
    #expect(place(answer(location: "Location:\(address)  ")) == address)
    #expect(place(answer(status: "HTTP/1.0 200 OK", location: "location:\t\(address)")) == address)
    #expect(place(answer(st: "st: urn:schemas-upnp-org:device:MediaServer:2")) == address)
    #expect(place(answer(location: "LOCATION: http://192.168.1.5")) == "http://192.168.1.5/")
    #expect(
      String(decoding: ServerSearch.question, as: UTF8.self)
        == "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\n"
        + "MX: 1\r\nST: urn:schemas-upnp-org:device:MediaServer:1\r\n\r\n")
  }

  @Test(arguments: [
    "https://192.168.1.5/a", "http://192.168.1.6/a", "http://router/a", "http://[::1]/a",
    "http://192.168.1.05/a", "http://3232235781/a", "http://192.168.1.5.example/a",
    "http://192.168.1.5@10.0.0.1/a", "http://192.168.1.5/a?b", "http://192.168.1.5/a b",
    "http://192.168.1.5:0/", "file:///etc/passwd", "",
  ])
  func `an address of anybody but the sender itself is none`(location: String) {
    #expect(place(answer(location: "LOCATION: \(location)")) == nil)
  }

  @Test func `what is no answer of a media server is none, and has no more bytes than the limit`() {
    #expect(place(answer(status: "NOTIFY * HTTP/1.1")) == nil)
    #expect(place(answer(status: "HTTP/1.1 404 Not Found")) == nil)
    #expect(place(answer(status: "HTTP/1.1")) == nil)
    #expect(place(answer(st: "ST: urn:schemas-upnp-org:device:MediaRenderer:1")) == nil)
    #expect(place(answer(st: "X: urn:schemas-upnp-org:device:MediaServer:1")) == nil)
    #expect(place(answer(st: "ST: urn:schemas-upnp-org:device:MediaServer:1 é")) == nil)
    #expect(place([]) == nil)
    let rest = [UInt8](repeating: 120, count: ServerSearch.byteLimit - answer().count)
    #expect(place(answer() + rest) != nil)
    #expect(place(answer() + rest + [120]) == nil)
  }

  @Test(
    arguments: [(0x7f00_0001, "127.0.0.1"), (0xa9fe_0102, "169.254.1.2")] as [(UInt32, String)])
  func `this machine itself is no server that is found`(sender: UInt32, host: String) {
    let bytes = answer(location: "LOCATION: http://\(host):8200/a")
    #expect(place(bytes, from: sender) == nil)
    #expect(place(bytes, from: sender, reach: .all) == "http://\(host):8200/a")
  }

  @Test func `a server that is found has a name that a library may have`() throws {
    let address = try #require(ListenAddress("http://192.168.1.5:8200/a"))
    func name(_ said: String) -> String { FoundServer(called: said, at: address).name }
    #expect(name("Loft") == "Loft")
    #expect(name(" A/B\u{0}\n\u{7f} c ") == "A B c")
    for none in ["", "..", "/", "\n"] { #expect(name(none) == "192.168.1.5") }
    let long = name(String(repeating: "é ", count: 500))
    #expect(MediaServer.isName(long) && long.utf8.count > 60 && long.last == "é")
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `no bytes of the network break the search`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var bytes = answer()
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      let found = ServerSearch.answer(in: bytes, from: Self.sender, reach: .network)?.address
      #expect(found?.host ?? "192.168.1.5" == "192.168.1.5" && found?.isSecure != true)
    }
  }
}
