import Clock
import Disturbances
import Sender
import TestSupport
import Testing
import WireProtocol

@Suite struct DisturbanceRecorderTests {
  private typealias Room = DisturbanceRecorder.Room

  /// A recorder with the file that it makes.
  private struct Written {
    var recorder: DisturbanceRecorder
    var kept = ""
    var end = ""
    var text: String { kept + end }
    /// Lines below the head.
    var lines: [String] {
      text.split(separator: "\n").map(String.init).filter { $0.contains(" s: ") }
    }

    init(_ recorder: DisturbanceRecorder, kept: String = "") {
      (self.recorder, self.kept) = (recorder, kept)
    }

    init() { self.init(DisturbanceRecorder(program: "1", began: "today", at: Self.time(0))) }

    static func time(_ seconds: Double) -> LocalTime {
      LocalTime(nanoseconds: 5_000_000_000 + Int64(seconds * 1e9))
    }

    mutating func handle(_ input: DisturbanceRecorder.Input, at seconds: Double) {
      recorder.handle(input, at: Self.time(seconds))
      take(at: seconds)
    }

    mutating func take(at seconds: Double) {
      guard let (lines, end) = recorder.take(at: Self.time(seconds)) else { return }
      (kept, self.end) = (kept + lines, end)
    }

    mutating func room(
      _ name: String, _ change: SenderEvent.RoomChange, holds: Bool = false,
      in group: String = "g1",
      at seconds: Double
    ) {
      handle(
        .room(Room(id: name, name: name), change, group: group, holds: holds), at: seconds)
    }

    mutating func groups(_ groups: [String: [String]], isHalted: Bool = false, at seconds: Double) {
      handle(
        .groups(
          groups.sorted { $0.key < $1.key }.map { id, rooms in
            .init(
              id: id, name: "group \(id)", isHalted: isHalted,
              rooms: rooms.map { Room(id: $0, name: $0) })
          }), at: seconds)
    }
  }

  private static let silence = SenderEvent.RoomChange.gone(reason: "nothing heard for 10 s")
  private static let closed = SenderEvent.RoomChange.gone(reason: "it ended the connection")

  @Test func `commands, and what happens to rooms, are lines`() throws {
    var file = Written()
    file.groups(["g1": ["Kitchen", "Bath"]], isHalted: true, at: 0)
    file.handle(.command(.jump(to: 7), group: "g1"), at: 1.5)
    file.handle(.command(.volume(.all, 100), group: "g1"), at: 2)
    file.handle(.command(.seekBy(.seconds(-3)), group: "g1"), at: 3)
    file.handle(.command(.pause, group: "an alarm"), at: 3)
    file.room("Kitchen", Self.silence, at: 20)
    file.room("Kitchen", .unreachable(reason: "no route"), at: 21)
    file.room("Kitchen", .connected, at: 25)
    file.room("Bath", Self.closed, at: 30)
    file.room("Bath", .connected, at: 31.25)
    file.room("Bath", Self.closed, at: 40)
    file.room("Bath", .connected, holds: true, at: 40.5)
    file.room("Bath", .state(.noDevice, detail: "unplugged"), at: 50)
    file.room("Bath", .state(.noDevice, detail: "still"), at: 51)
    file.room("Bath", .state(.playing, detail: ""), at: 53)
    file.take(at: 60)
    #expect(
      file.lines == [
        "0 s: somebody stops", "0 s: room 0 joins", "0 s: room 1 joins",
        "1.5 s: somebody goes to another item", "3 s: somebody seeks by -3 s",
        "10 s: room 0 has no network for 15 s",
        "30 s: the receiver of room 1 is killed, and starts again after 1.25 s",
        "40 s: room 1 has no network for 0.5 s", "50 s: room 1 has no sound card for 3 s",
        "53 s: running",
      ])
    let record = try DisturbanceRecord(parsing: Array(file.text.utf8))
    #expect(record.rooms == ["Kitchen", "Bath"] && record.groups == ["group g1"])
    #expect(record.program == "1" && record.began == "today" && record.end == 53)
  }

  @Test func `rooms move from group to group, and each group has its commands`() {
    var file = Written()
    file.groups(["g1": ["a", "b"], "g2": ["c"]], at: 0)
    file.groups(["g1": ["a"], "g2": ["c", "b"]], at: 5)
    file.handle(.command(.pause, group: "g2"), at: 6)
    file.room("c", .replaced(reason: "another sender"), in: "g2", at: 7)
    file.room("c", .connected, in: "g2", at: 8)
    file.groups(["g1": ["a"]], at: 9)
    #expect(
      file.lines.dropFirst(3).dropLast() == [
        "5 s: room 1 leaves", "5 s: room 1 joins in group 1", "6 s: somebody pauses in group 1",
        "7 s: room 2 leaves in group 1", "8 s: room 2 joins in group 1",
        "9 s: room 1 leaves in group 1", "9 s: room 2 leaves in group 1",
      ])
  }

  @Test func `a room that has another name keeps its number, also in the next daemon`() throws {
    var file = Written()
    file.groups(["g1": ["127.0.0.1:7770"]], at: 0)
    for name in ["Bath", "Bath", "127.0.0.1:7770", "Bath\n"] {
      file.handle(
        .room(Room(id: "127.0.0.1:7770", name: name), .flushed, group: "g1", holds: false), at: 1)
    }
    file.take(at: 20)
    let names = file.text.split(separator: "\n").filter { $0.hasPrefix("room ") }
    #expect(
      names == [
        "room 0 is 127.0.0.1:7770", "room 0 is Bath", "room 0 is 127.0.0.1:7770", "room 0 is Bath",
      ])
    var next = try continued(file.text, after: 1, at: 30)
    next.groups(["g1": ["Bath"]], at: 30)
    #expect(next.text.split(separator: "\n").filter { $0.hasPrefix("room ") } == names)
    #expect(next.recorder.knows("g1") && !next.recorder.knows("g2"))
  }

  @Test func `while a room is away, the end of the file says so`() throws {
    var file = Written()
    file.groups(["g1": ["a"]], at: 0)
    file.room("a", Self.closed, at: 4)
    #expect(
      file.end
        == "4 s: the receiver of room 0 is killed, and starts again after 0 s\n4 s: running\n")
    #expect(file.recorder.nextDeadline == Written.time(14))
    file.take(at: 13)
    #expect(file.end.hasSuffix("\n4 s: running\n"))
    file.take(at: 14)
    #expect(
      file.end
        == "4 s: the receiver of room 0 is killed, and starts again after 10 s\n14 s: running\n")
    file.groups([:], at: 15)
    #expect(
      file.lines.suffix(3) == [
        "4 s: the receiver of room 0 is killed, and starts again after 11 s", "15 s: room 0 leaves",
        "15 s: running",
      ])
  }

  /// Kills the daemon of `file` and starts it again.
  private func continued(
    _ text: String, after gap: Double, at seconds: Double
  ) throws -> Written {
    let (record, kept) = try DisturbanceRecord.continued(Array(text.utf8))
    return Written(
      DisturbanceRecorder(
        continuing: record, kept: kept, after: Nanoseconds(Int64(gap * 1e9)),
        at: Written.time(seconds)), kept: String(decoding: Array(text.utf8)[..<kept], as: UTF8.self)
    )
  }

  @Test func `the next daemon continues the file, with the same numbers`() throws {
    var file = Written()
    file.groups(["g1": ["a", "b"]], at: 0)
    file.room("b", Self.silence, at: 12)
    file.take(at: 20)
    file.take(at: 30)
    var next = try continued(file.text, after: 3.5, at: 500)
    next.groups(["g7": ["c", "a"]], at: 501)
    #expect(next.text.contains("group 1 is group g7\nroom 2 is c\n"))
    #expect(
      next.lines == [
        "0 s: room 0 joins", "0 s: room 1 joins", "2 s: room 1 has no network for 28 s",
        "30 s: the sender is killed, and starts again after 3.5 s",
        "34.501 s: room 2 joins in group 1",
        "34.501 s: room 0 leaves", "34.501 s: room 0 joins in group 1", "34.501 s: room 1 leaves",
        "34.501 s: running",
      ])
    let odd = try continued(next.text, after: -5, at: 600)
    var (late, early) = (try continued(next.text, after: 1e8, at: 600), odd)
    late.take(at: 600)
    early.take(at: 600)
    #expect(late.text.contains("34.501 s: the sender is killed, and starts again after 86400 s\n"))
    #expect(early.text.contains("34.501 s: the sender is killed, and starts again after 0 s\n"))
  }

  @Test func `an end that is cut off is left out, and a gap in the middle is not`() throws {
    var file = Written()
    file.groups(["g1": ["a"]], at: 0)
    file.take(at: 10)
    let whole = file.text
    for end in 16...whole.utf8.count {
      let (record, kept) = try DisturbanceRecord.continued(Array(whole.utf8.prefix(end)))
      #expect(kept <= end && record.rooms.count <= 1)
    }
    let over = try DisturbanceRecord.continued(Array((whole + "for 3 s\n12 s: running\n").utf8))
    #expect(over.kept == file.kept.utf8.count && over.record.end == 12)
    let broken = whole + "for 3 s\n12 s: somebody pauses\n"
    #expect(throws: RecordError.self) { try DisturbanceRecord.continued(Array(broken.utf8)) }
    #expect(throws: RecordError(line: 1, problem: .noRecord)) {
      try DisturbanceRecord.continued([])
    }
  }

  @Test func `a record that is full says so, and grows no more`() throws {
    var file = Written()
    file.groups(["g1": ["a"]], at: 0)
    var time = 1.0
    while !file.recorder.isFull, time < 100_000 {
      file.handle(.command(.pause, group: "g1"), at: time)
      time += 1
    }
    #expect(time < 100_000 && file.text.hasSuffix("# the record is full\n"))
    #expect(file.text.utf8.count < DisturbanceRecord.byteLimit)
    #expect(file.recorder.nextDeadline == nil)
    file.handle(.command(.pause, group: "g1"), at: time)
    #expect(file.recorder.take(at: Written.time(time + 100)) == nil)
    #expect(try DisturbanceRecord(parsing: Array(file.text.utf8)).disturbances.count > 10_000)
  }

  @Test func `more rooms than a record has are left out`() throws {
    var file = Written()
    let rooms = (100..<170).map { "room \($0)" }
    file.groups(["g1": rooms], at: 0)
    file.room("room 169", .connected, at: 1)
    let record = try DisturbanceRecord(parsing: Array(file.text.utf8))
    #expect(record.rooms.count == DisturbanceRecord.roomLimit)
    #expect(record.disturbances.count == DisturbanceRecord.roomLimit)
    for number in 0..<70 { file.groups(["h\(number)": []], at: 2) }
    let groups = try DisturbanceRecord(parsing: Array(file.text.utf8)).groups
    #expect(groups.count == DisturbanceRecord.groupLimit)
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `whatever happens is a record that can be read and continued`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func one<Value>(of values: [Value]) -> Value {
      values[Int(random.next() % UInt64(values.count))]
    }
    var file = Written()
    var time = 0.0
    let changes: [SenderEvent.RoomChange] = [
      .connected, Self.silence, Self.closed, .unreachable(reason: "\n"), .refused(reason: "x"),
      .replaced(reason: ""), .state(.noDevice, detail: ""), .state(.playing, detail: ""), .flushed,
    ]
    for _ in 0..<60 {
      time += Double(random.next() % 20_000) / 1000
      let rooms = ["a", "b\n", "c\u{1b}", "d"].filter { _ in random.next() % 2 == 0 }
      switch random.next() % 8 {
      case 0: file.groups(["g1": rooms, "g2": []], at: time)
      case 1: file.handle(.command(one(of: [.pause, .resume, .next]), group: "g1"), at: time)
      case 2: file.take(at: time)
      case 3 where random.next() % 4 == 0:
        file = try continued(file.text, after: Double(random.next() % 9), at: time)
      default:
        file.room(one(of: ["a", "b\n", "c\u{1b}", "d"]), one(of: changes), at: time)
      }
    }
    file.take(at: time + 20)
    let record = try DisturbanceRecord(parsing: Array(file.text.utf8))
    #expect(record.rooms.count <= 4 && record.groups.count <= 2)
    for (group, _) in record.groups.enumerated() { _ = record.only(group: group) }
  }
}
