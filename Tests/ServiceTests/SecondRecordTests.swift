import House
import LinuxIO
import Sender
import TestSupport
import Testing

@testable import Service

/// The record of a household with two daemons, and how that is set up.
@Suite struct SecondRecordTests {
  private static let first = SecondRecord(
    memory: .init(term: 1, leads: true, isFirst: true), address: nil, name: nil)
  private static let second = SecondRecord(
    memory: .init(term: .max, leads: false, isFirst: false),
    address: DaemonPlace(host: "music.local"), name: "Our  house ")

  // MARK: - The record

  @Test func `a record comes back from its text`() {
    var far = Self.second
    far.address = DaemonPlace(host: "fe80::1%eth0", port: 80)
    for record in [Self.first, Self.second, far] {
      #expect(SecondRecord(text: record.text) == record, "\(record.text)")
    }
    #expect(Self.first.text == "first yes\nterm 1\nleads yes\n")
  }

  @Test(arguments: ["a\nterm 99\nleads yes", "a\r\nfirst yes", "a\u{2028}b\u{85}c", "\n", "\r"])
  func `a name with line breaks changes nothing else`(name: String) throws {
    var record = Self.second
    record.name = name
    let read = try #require(SecondRecord(text: record.text))
    #expect(read.memory == record.memory && read.address == record.address)
    #expect(read.name == name.filter { !$0.isNewline })
  }

  @Test(arguments: ["", " ", "a b", "term 5", "\u{301}a", "\u{200d}b", "e\u{301}", "a\u{301}"])
  func `a name of any letters comes back`(name: String) {
    var record = Self.second
    record.name = name
    #expect(SecondRecord(text: record.text) == record)
  }

  @Test(arguments: [
    "", "\n", "second", "first yes", "first yes\nterm 1", "first yes\nterm 1\nleads",
    "first yes\nterm -1\nleads yes\n", "first yes\nterm 4294967296\nleads yes\n",
    "first yes\nterm one\nleads yes\n", "first maybe\nterm 1\nleads yes\n",
    "first yes\nterm 1\nleads true\n", "first no\nterm 1\nleads no\n",
    "first no\nterm 1\nleads no\naddress \n", "first no\nterm 1\nleads no\naddress a:0\n",
    "first yes\nterm 1\nleads yes\nmore", "\0\0\0\0",
  ])
  func `a damaged record is none`(text: String) { #expect(SecondRecord(text: text) == nil) }

  @Test func `a record of a later version may say more`() {
    #expect(SecondRecord(text: Self.first.text + "colour blue\n") == Self.first)
  }

  // MARK: - The file

  @Test func `a record is kept, and none is there at first`() throws {
    let folder = try TemporaryFolder()
    let file = SecondFile(directory: folder.path)
    #expect(try file.read() == nil)
    try file.write(Self.second)
    #expect(try file.read() == Self.second)
    #expect(try SecondFile(directory: folder.path).read() == Self.second)
  }

  @Test func `a damaged file is told, and one beyond the limit is not read`() throws {
    let folder = try TemporaryFolder()
    let file = SecondFile(directory: folder.path)
    try folder.write(Array("first yes\n".utf8), to: "second")
    let error = #expect(throws: IOError.self) { try file.read() }
    #expect(error?.description.contains("second is damaged") == true)
    let long = Self.first.text + "name " + String(repeating: "a", count: 5_000)
    try folder.write(Array(long.utf8), to: "second")
    #expect(throws: IOError.self) { try file.read() }
    try folder.write([0xff, 0xfe, 0x00], to: "second")
    #expect(throws: IOError.self) { try file.read() }
  }

  // MARK: - The place

  @Test(arguments: [
    ("music.local", DaemonPlace(host: "music.local")),
    ("music:80", DaemonPlace(host: "music", port: 80)),
    ("192.168.1.20", DaemonPlace(host: "192.168.1.20")),
    ("192.168.1.20:1", DaemonPlace(host: "192.168.1.20", port: 1)),
    ("[2001:db8::1]", DaemonPlace(host: "2001:db8::1")),
    ("[::1]:9000", DaemonPlace(host: "::1", port: 9000)),
    ("[fe80::1%eth0]:65535", DaemonPlace(host: "fe80::1%eth0", port: 65_535)),
  ])
  func `a place is a host and perhaps a port`(text: String, place: DaemonPlace) throws {
    #expect(try DaemonPlace(text) == place)
    #expect(place.text == text)
    let usual = try DaemonPlace("\(text.contains("[") ? "[::1]" : "a"):8771")
    #expect(usual.port == DaemonPlace.usualPort && !usual.text.contains("8771"))
  }

  @Test(arguments: [
    "", ":", ":80", "music:", "music:0", "music:65536", "music:-1", "music:http", "music:80:90",
    "two words", "a\nb", "::1", "2001:db8::1", "[::1]80", "[::1]x:80", "[]", "[]:80", "[::1]:",
  ])
  func `what is no place is refused`(text: String) {
    #expect(throws: Refusal.self) { try DaemonPlace(text) }
  }

  @Test func `a host has at most 255 bytes`() {
    let host = String(repeating: "a", count: 255)
    #expect(throws: Never.self) { try DaemonPlace(host) }
    #expect(throws: Refusal.self) { try DaemonPlace(host + "a") }
  }

  // MARK: - The configuration

  private static func read(_ text: String) throws(Refusal) -> HouseConfiguration {
    var configuration = HouseConfiguration()
    try configuration.read(text, from: "tutti.conf")
    return configuration
  }

  @Test func `a second daemon is waited for where the configuration says so`() throws {
    #expect(try Self.read("").second == nil)
    #expect(try Self.read("second = yes").second == 8771)
    #expect(try Self.read("second = 9000").second == 9000)
    let off = try Self.read("second = 9000\nsecond = no")
    // It stays off, though it was on before.
    #expect(off.second == nil && off.named.contains(.second))
    for wrong in ["66000", "on", "-1"] {
      #expect(throws: Refusal.invalid("tutti.conf:1: second is yes, no or a port: 0 to 65535")) {
        try Self.read("second = \(wrong)")
      }
    }
  }

  @Test func `the first daemon is where the configuration says so`() throws {
    #expect(try Self.read("").with == nil)
    #expect(try Self.read("with = music.local").with == DaemonPlace(host: "music.local"))
    #expect(try Self.read("with = [::1]:90").with == DaemonPlace(host: "::1", port: 90))
    let error = #expect(throws: Refusal.self) { try Self.read("name = a\nwith = music:no") }
    #expect(error?.description.hasPrefix("tutti.conf:2: with is a host") == true)
    #expect(throws: Refusal.self) { try Self.read("with =") }
  }

  @Test func `a change of the second daemon needs a new process`() throws {
    let plain = try Self.read("")
    for text in ["second = yes", "with = music.local"] {
      #expect(try !Self.read(text).isFollowed(after: plain), "\(text)")
    }
  }
}
