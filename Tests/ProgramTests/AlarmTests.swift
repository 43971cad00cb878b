import Foundation
import Glibc
import TestSupport
import Testing

/// Alarms of real programs. The daemon's clock on the wall is moved, so that nobody waits for a minute.
@Suite struct AlarmTests {
  /// Seconds from the start of the daemon until the alarm rings.
  private static let lead = 25
  private static let rate = 48_000

  private let folder: TemporaryFolder
  private let rooms: [ReceiverProgram]

  init() throws {
    folder = try TemporaryFolder()
    let folder = folder
    rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder) }
  }

  /// Also those of both clocks of this machine.
  private struct Due {
    /// Seconds that the daemon adds to the time on the wall.
    let offset: Int
    /// On the daemon's wall.
    let time: String
    /// The time of the machine's clock, in ns.
    let local: Int64
  }

  /// A whole minute on the daemon's wall.
  private func due() -> Due {
    var (wall, local, whole) = (timespec(), timespec(), tm())
    clock_gettime(CLOCK_REALTIME, &wall)
    clock_gettime(CLOCK_MONOTONIC_RAW, &local)
    let second = wall.tv_sec + Self.lead
    let minute = (second + 59) / 60 * 60
    var shown = time_t(minute)
    localtime_r(&shown, &whole)
    let time = String(format: "%d:%02d", whole.tm_hour, whole.tm_min)
    let ahead = Int64(second - wall.tv_sec) * 1_000_000_000 - Int64(wall.tv_nsec)
    return Due(
      offset: minute - second, time: time,
      local: Int64(local.tv_sec) * 1_000_000_000 + Int64(local.tv_nsec) + ahead)
  }

  private func daemon(_ due: Due) throws -> Daemon {
    try Daemon(in: folder, "--wall-offset", "\(due.offset)", "--alarm-lead", "60")
  }

  private func alarms(_ daemon: Daemon) throws -> [[String: Any]] {
    try daemon.run("alarms", "--json").map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  /// When the sweep begins in a room's recording, in ns of the machine's clock.
  private func start(in room: Int) throws -> Double {
    let line = try rooms[room].program.line(with: "recording: frame 0 at ")
    let match = try #require(line.firstMatch(of: /frame 0 at (\d+) ns/))
    let first = try #require(Double(match.1))
    let sweep = try SweepRecording(folder.file(["a", "b"][room] + ".wav"))
    return first + sweep.origin / Double(Self.rate) * 1e9
  }

  @Test func `rooms ring together at the second, though the daemon was killed before`() throws {
    let file = try Sweep.write(rate: Self.rate, seconds: 20, to: "sweep.flac", in: folder)
    let due = due()
    let daemon = try daemon(due)
    _ = try daemon.run(["play", "--stay"] + rooms.flatMap { ["--at", $0.address] })
    try daemon.wait { try Set($0.rooms().keys) == ["a", "b"] }
    _ = try daemon.run(
      "alarms", "add", due.time, "--on", "a,b", "--play", file, "--volume", "100")
    try daemon.wait { daemon in
      try alarms(daemon).first?["readyRoomIds"] as? [String] == rooms.map(\.address).sorted()
    }
    daemon.kill()
    for room in rooms { try room.program.line(with: "playing") }
    try hearAll(seconds: 12)
    for room in rooms { #expect(try room.program.stop() == 0) }

    let starts = try [start(in: 0), start(in: 1)]
    print("   late by", (starts[0] - Double(due.local)) * 1e-6, "ms")
    print("   rooms apart", (starts[0] - starts[1]) * 1e-3, "us")
    #expect(abs(starts[0] - Double(due.local)) < 50e6)
    // They have met the daemon for seconds, and then go by their own clocks for most of a minute: an error of 10 millionths
    // makes half a millisecond of that. Nobody hears less than 5 ms as two sounds.
    #expect(abs(starts[0] - starts[1]) < 5e6)
  }

  /// Waits until a room has recorded so much from the alarm on.
  private func hearAll(seconds: Int) throws {
    let path = folder.file("a.wav")
    let watch = try FolderWatch(folder.file(""))
    func bytes() throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
    let goal = try bytes() + seconds * Self.rate * 8
    try watch.wait { try bytes() >= goal }
  }

  @Test func `a busy room rings, is snoozed and stopped, and its music goes on`() throws {
    let tone = try Sweep.write(rate: Self.rate, seconds: 60, to: "sweep.flac", in: folder)
    let due = due()
    let daemon = try daemon(due)
    _ = try daemon.run("play", tone, "--at", rooms[0].address)
    try rooms[0].program.line(with: "playing")
    _ = try daemon.run("volume", "40")
    let said = try daemon.run(
      "alarms", "add", due.time, "--on", "a", "--volume", "70", "--rise", "1")
    #expect(said.first?.hasPrefix("a1 rings in ") == true, "\(said)")
    try daemon.wait { try alarms($0).first?["state"] as? String == "ringing" }
    #expect(try daemon.run("alarms", "snooze") == ["snoozed"])
    try daemon.wait { try $0.rooms() == ["a": "playing"] }
    try daemon.wait { daemon in
      let rooms = try daemon.status()["rooms"] as? [[String: Any]]
      return rooms?.first?["volume"] as? Double == 40
    }
    #expect(try alarms(daemon).first?["state"] as? String == "snoozed")
    #expect(try daemon.run("alarms", "stop") == ["stopped"])
    #expect(try alarms(daemon).first?["state"] as? String == "off")
    #expect(try daemon.stop() == 0)
  }
}
