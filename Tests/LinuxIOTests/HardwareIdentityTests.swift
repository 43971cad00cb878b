import TestSupport
import Testing

@testable import LinuxIO

@Suite struct HardwareIdentityTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func machine(
    _ name: String, serial: String? = nil, cards: [String: String] = [:], bridges: [String] = []
  ) throws -> HardwareIdentity {
    if let serial {
      try folder.write("\(serial)\0".utf8, to: "\(name)/proc/device-tree/serial-number")
    }
    for (card, address) in cards {
      let place = "\(name)/sys/class/net/\(card)"
      try folder.write("\(address)\n".utf8, to: place + "/address")
      try folder.write("0\n".utf8, to: place + "/addr_assign_type")
      if !bridges.contains(card) { try folder.write([], to: place + "/device/uevent") }
    }
    return HardwareIdentity(root: folder.file(name))
  }

  @Test func `a copied disk is told from the machine it was copied on`() throws {
    let one = try machine(
      "one", serial: "10000000a3b2c1d0", cards: ["eth0": "b8:27:eb:01:02:03"])
    let two = try machine(
      "two", serial: "10000000a3b2c1d1", cards: ["eth0": "b8:27:eb:01:02:04"])
    #expect(one.marks.count == 2)
    #expect(one.mayBe(one.marks))
    #expect(!two.mayBe(one.marks))
  }

  @Test func `a machine that got or lost a card is still the same`() throws {
    let before = try machine("before", cards: ["eth0": "b8:27:eb:01:02:03"])
    let more = try machine(
      "more", cards: ["enx1": "00:e0:4c:11:22:33", "eth0": "b8:27:eb:01:02:03"])
    #expect(more.mayBe(before.marks))
    #expect(before.mayBe(more.marks))
  }

  @Test func `what is no hardware counts for nothing`() throws {
    let container = try machine(
      "container", serial: "0000000000000000",
      cards: ["eth0": "02:42:ac:11:00:02", "lo": "00:00:00:00:00:00"], bridges: ["eth0", "lo"])
    #expect(container.marks.isEmpty)
    let real = try machine("real", serial: "10000000a3b2c1d0")
    #expect(container.mayBe(real.marks))
    #expect(real.mayBe([]))
  }

  @Test func `a serial number cannot be read from its mark`() throws {
    let marks = try machine("one", serial: "10000000a3b2c1d0").marks
    #expect(marks.count == 1)
    #expect(marks.allSatisfy { $0.utf8.count == 16 && !$0.contains("a3b2c1d0") })
  }
}
