import Clock
import Disturbances
import TestSupport
import Testing

@Suite struct DisturbanceRecordTests {
  private static let house = """
    tutti record 1
    program 0.1.0
    began 2026-11-29 12:00:00 UTC
    group 0 is Ground floor
    room 0 is Kitchen
    0 s: room 0 joins
    group 1 is Bath
    room 1 is Bath
    1 s: room 1 joins in group 1
    # somebody may write this

    7 s: somebody pauses in group 1
    9 s: somebody pauses
    20 s: room 1 leaves in group 1
    20 s: room 1 joins
    room 2 is 127.0.0.1:7770
    room 2 is Attic
    21 s: room 2 joins in group 1
    18.5 s: room 1 has no network for 1.2 s
    22 s: room 2 has no sound card for 2 s
    30 s: the sender is killed, and starts again after 4 s
    40 s: running

    """

  private func read(_ text: String) throws(RecordError) -> DisturbanceRecord {
    try DisturbanceRecord(parsing: Array(text.utf8))
  }

  @Test func `a record is read`() throws {
    let record = try read(Self.house)
    #expect(record.groups == ["Ground floor", "Bath"])
    #expect(record.rooms == ["Kitchen", "Bath", "Attic"])
    #expect(record.program == "0.1.0" && record.began == "2026-11-29 12:00:00 UTC")
    #expect(record.disturbances.count == 10 && record.end == 40 && record.roomCount == 3)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `a record is read as it was written`(seed: UInt64) throws {
    var record = DisturbanceRecord()
    record.simulated = .init(scenario: "swarm", seed: .max, roomCount: 64, cards: ["fine", "usb"])
    record.groups = ["Ground floor", "1"]
    record.rooms = ["Küche", "is"]
    record.disturbances = DrawnDisturbances.all(seed)
    record.end = 40_000
    #expect(try read(record.text) == record)
  }

  @Test func `what cannot be read in a head is left out`() throws {
    let record = try read("tutti record 1\nbegan " + String(repeating: "\0", count: 300) + "x\n")
    #expect(record.text == "tutti record 1\n")
    let simulated = try read("tutti record 1\nscenario wired\ncards \0,fine\n").text
    #expect(simulated == "tutti record 1\nscenario wired\nseed 0\ncards fine\n")
    #expect(try read(simulated).text == simulated)
  }

  @Test func `one group has its rooms, in their order, and what happened to the sender`() throws {
    let bath = try read(Self.house).only(group: 1)
    #expect(bath.rooms == ["Bath", "Attic"])
    #expect(
      bath.disturbances.map(\.description) == [
        "1 s: room 0 joins", "7 s: somebody pauses", "18.5 s: room 0 has no network for 1.2 s",
        "20 s: room 0 leaves", "21 s: room 1 joins", "22 s: room 1 has no sound card for 2 s",
        "30 s: the sender is killed, and starts again after 4 s",
      ])
    let ground = try read(Self.house).only(group: 0)
    #expect(ground.rooms == ["Kitchen", "Bath"])
    #expect(ground.disturbances.filter { $0.kind == .join(1) }.map(\.at) == [20])
  }

  @Test func `without lines about groups, all rooms are in the group`() throws {
    let record = try read("tutti record 1\n5 s: room 3 sleeps for 2 s\n2 s: somebody pauses\n")
    let only = record.only(group: 0)
    #expect(only.roomCount == 4)
    #expect(only.disturbances.map(\.at) == [2, 5])
  }

  @Test(arguments: [
    ("", 1, "it is no record"), ("5 s: somebody pauses\n", 1, "it is no record"),
    ("tutti record 2\n", 1, "it is of another version"),
    (
      "tutti record 1\n\n5 s: somebody sleeps\n", 3, "line 3: nobody knows this line: 5 s: somebody"
    ),
    ("tutti record 1\nroom 1 is Kitchen\n", 2, "line 2: rooms and groups are named in the order"),
    ("tutti record 1\nroom Kitchen\n", 2, "line 2: nobody knows"),
    ("tutti record 1\n5 s: room 64 joins\n", 2, "line 2: there are at most 64 rooms"),
    ("tutti record 1\n5 s: somebody pauses in group 64\n", 2, "line 2: there are at most 64 rooms"),
    ("tutti record 1\nscenario swarm\nrooms 65\n", 3, "line 3: there are at most 64"),
    ("tutti record 1\nseed 7\n", 2, "line 2: nobody knows"),
    (
      "tutti record 1\n5 s: somebody pauses\u{7}\u{1b}[2J\n", 2,
      "line 2: nobody knows this line: 5 s: somebody pauses  [2J;"
    ),
  ])
  func `what is no record is refused with its line`(text: String, line: Int, reason: String) {
    do {
      _ = try read(text)
      Issue.record("it was read: \(text)")
    } catch {
      #expect(error.line == line && error.description.hasPrefix(reason), "\(error)")
    }
  }

  @Test func `a record with more bytes than the limit is not read`() throws {
    let full = "tutti record 1\n#" + String(repeating: "x", count: DisturbanceRecord.byteLimit - 17)
    #expect(try read(full + "\n").disturbances.isEmpty)
    #expect(throws: RecordError(line: 0, problem: .tooLarge)) { try read(full + "x\n") }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `random bytes are a record or refused`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var bytes = Array(Self.house.utf8)
    for _ in 0..<(1 + random.next() % 6) {
      bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
    }
    if let record = try? DisturbanceRecord(parsing: bytes) {
      for group in 0..<3 { _ = record.only(group: group).text }
    }
    _ = try? DisturbanceRecord.continued(bytes)
  }

  @Test func `a name of marks that nobody sees is read again as it is written`() throws {
    let marks =
      String(repeating: "\u{0}", count: 60) + "2026" + String(repeating: "\u{7f}", count: 60)
    let record = try DisturbanceRecord(parsing: Array("tutti record 1\nbegan \(marks)\n".utf8))
    #expect(try DisturbanceRecord(parsing: Array(record.text.utf8)).text == record.text)
  }

  @Test func `a name cannot add a line to a record`() throws {
    var record = DisturbanceRecord()
    record.rooms = ["a\n5 s: somebody pauses", "b\u{2028}\u{85}\r\nroom 1 is c", "d"]
    record.groups = ["g\n\u{1b}[2J"]
    record.program = "1\n2 s: somebody resumes"
    let read = try read(record.text)
    #expect(read.rooms.count == 3 && read.groups.count == 1 && read.disturbances.isEmpty)
    #expect(record.text.utf8.count { $0 < 0x20 && $0 != 10 } == 0)
  }
}
