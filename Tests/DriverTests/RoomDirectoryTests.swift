import AvahiDiscovery
import LinuxIO
import Pairing
import Sender
import Testing
import WireProtocol

@testable import Driver

/// Tests of discovery, in which anybody on the network can write anything.
@Suite struct RoomDirectoryTests {
  private static func service(
    _ name: String, id: Int, at addresses: String..., port: UInt16 = 7770
  ) -> DiscoveredService {
    DiscoveredService(
      name: name, hostName: "\(name).local", addresses: addresses, port: port,
      text: [
        TextPair("id", Self.id(id)), TextPair("name", name), TextPair("version", "1"),
        TextPair("state", "free"), TextPair("codecs", "pcm"),
      ], interfaces: [])
  }

  private static func id(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  @Test func `two receivers with one identity are told, and the first stays`() {
    var directory = RoomDirectory(remembered: [])
    _ = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.1"))
    let copy = directory.found(Self.service("Bath", id: 1, at: "10.0.0.2"))
    #expect(copy == nil)
    #expect(directory.records.map(\.name) == ["Kitchen"])
    #expect(directory.records.map(\.addresses) == [["10.0.0.1"]])
    let warnings = directory.takeWarnings()
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("Kitchen at 10.0.0.1:7770 and Bath at 10.0.0.2:7770") == true)
    _ = directory.found(Self.service("Bath", id: 1, at: "10.0.0.2"))
    #expect(directory.takeWarnings().isEmpty)
  }

  @Test func `nobody else is taken for a receiver that this machine is paired with`() throws {
    let kitchen = try #require(Identifier(hex: Self.id(1)))
    var directory = RoomDirectory(
      remembered: [], paired: Pairings([.init(id: kitchen, name: "Kitchen")]))
    let foundImpostor = directory.found(Self.service("kitchen", id: 2, at: "10.0.0.2"))
    let impostor = try #require(foundImpostor)
    #expect(directory.matches("Kitchen").isEmpty)
    #expect(directory.isImpostor(impostor))
    #expect(directory.matches("kitchen#0000") == [impostor])
    #expect(directory.takeWarnings().count == 1)
    _ = directory.found(Self.service("kitchen", id: 2, at: "10.0.0.2"))
    #expect(directory.takeWarnings().isEmpty)
    let foundGenuine = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.1"))
    let genuine = try #require(foundGenuine)
    #expect(directory.matches("kitchen") == [genuine])
    let foundBath = directory.found(Self.service("Bath", id: 3, at: "10.0.0.3"))
    let bath = try #require(foundBath)
    #expect(directory.matches("Bath") == [bath])
    #expect(directory.takeWarnings().isEmpty)
  }

  @Test func `when the first of two with one identity goes, the other is there`() {
    var directory = RoomDirectory(remembered: [])
    _ = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.1"))
    _ = directory.found(Self.service("Bath", id: 1, at: "10.0.0.2"))
    directory.gone(serviceNamed: "Kitchen")
    #expect(directory.present.map(\.name) == ["Bath"])
    directory.gone(serviceNamed: "Bath")
    #expect(directory.present.isEmpty)
  }

  @Test func `a receiver that gives itself another name is no twin`() {
    var directory = RoomDirectory(remembered: [])
    _ = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.1"))
    let renamed = directory.found(Self.service("Bath", id: 1, at: "10.0.0.1"))
    #expect(renamed?.name == "Bath")
    #expect(directory.takeWarnings().isEmpty)
  }

  @Test func `addresses of another port are not mixed in`() {
    var directory = RoomDirectory(remembered: [])
    _ = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.1"))
    let moved = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.9"))
    #expect(moved?.addresses == ["10.0.0.9", "10.0.0.1"])
    let other = directory.found(Self.service("Kitchen", id: 1, at: "10.0.0.7", port: 7771))
    #expect(other?.addresses == ["10.0.0.7"])
  }

  @Test func `a flood of records is cut off, and told once`() {
    var directory = RoomDirectory(remembered: [])
    for number in 0..<1000 {
      _ = directory.found(Self.service("room \(number)", id: number, at: "10.0.0.1"))
    }
    #expect(directory.records.count == RoomDirectory.mostServices)
    #expect(directory.takeWarnings().count == 1)
  }

  @Test func `receivers that come and go are forgotten, those that were played in last`() {
    var directory = RoomDirectory(remembered: [])
    _ = directory.found(Self.service("Kitchen", id: 9999, at: "10.0.0.9"))
    directory.met(Self.id(9999))
    directory.gone(serviceNamed: "Kitchen")
    for number in 0..<1000 {
      _ = directory.found(Self.service("room \(number)", id: number, at: "10.0.0.1"))
      directory.gone(serviceNamed: "room \(number)")
    }
    #expect(directory.records.count == RoomDirectory.limit)
    #expect(RoomDirectory.limit == RoomRecord.limit)
    #expect(directory.matches("Kitchen").count == 1)
  }

  @Test func `rooms that were played in are remembered before those that were only announced`() {
    let old = (1...10).map { number in
      RoomRecord(
        id: Self.id(number), name: "old \(number)", model: "", state: .free,
        addresses: ["10.0.0.1"], port: 7770, codecs: [])
    }
    var directory = RoomDirectory(remembered: old)
    for number in 100..<300 {
      _ = directory.found(Self.service("forged \(number)", id: number, at: "10.0.0.1"))
    }
    directory.met(Self.id(250))
    let kept = directory.toRemember
    #expect(kept.count == RoomDirectory.mostRemembered)
    #expect(kept.first?.id == Self.id(250))
    #expect(kept.dropFirst().prefix(10).map(\.id) == old.map(\.id))
  }
}
