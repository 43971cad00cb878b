import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon's process ends while music plays, and another one goes on with what the rooms hold.
@Suite struct ComingBackTests {
  @Test func `killed for five seconds, the daemon is not missed`() throws {
    try Comeback(seconds: 26).run(end: SIGKILL, for: 5)
  }
}

@Suite struct ComingBackLongTests {
  @Test func `an upgrade of the daemon is not heard`() throws {
    try Comeback(seconds: 20).run(end: SIGHUP, for: 0)
  }

  @Test(arguments: [20, 60]) func `killed for longer, the daemon is not missed`(
    seconds: Int
  ) throws {
    try Comeback(seconds: seconds + 22).run(end: SIGKILL, for: Double(seconds))
  }
}

/// A daemon that plays one file in two rooms, which record.
private struct Comeback {
  private let folder: TemporaryFolder
  private let rooms: [ReceiverProgram]
  private let file: String
  private let seconds: Int
  private static let rate = 48_000

  init(seconds: Int) throws {
    folder = try TemporaryFolder()
    self.seconds = seconds
    file = try Sweep.write(rate: Self.rate, seconds: seconds, to: "sweep.flac", in: folder)
    let folder = folder
    rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder) }
  }

  /// - Parameter outage: in seconds of recorded sound.
  func run(end signal: Int32, for outage: Double) throws {
    let daemon = try Daemon(in: folder)
    _ = try daemon.run(["play", file] + rooms.flatMap { ["--at", $0.address] })
    for room in rooms { try room.program.line(with: "playing") }
    try daemon.wait { (try $0.status()["positionS"] as? Double ?? 0) > 6 }
    kill(daemon.program.process.processIdentifier, signal)
    daemon.program.process.waitUntilExit()
    try wait(for: outage)

    let again = try Daemon(in: folder)
    let first = try shown(by: again)
    try again.wait { try Set($0.rooms().values) == ["playing"] }
    let later = try shown(by: again)
    try again.wait { try $0.status()["state"] as? String == "stopped" }
    #expect(try again.stop() == 0)
    for room in rooms { #expect(try room.program.stop() == 0) }

    for room in ["a", "b"] {
      print("   room", room)
      try SweepRecording(folder.file(room + ".wav")).expectAll(seconds: seconds)
    }
    for shown in [first, later] { try expectHeard(shown) }
  }

  private func wait(for seconds: Double) throws {
    let path = folder.file("a.wav")
    let watch = try FolderWatch(folder.file(""))
    func bytes() throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
    let goal = try bytes() + Int(seconds * Double(Self.rate)) * 8
    try watch.wait { try bytes() >= goal }
  }

  /// The position, in seconds, and when it is said to sound, in ns of the machine's clock.
  private func shown(by daemon: Daemon) throws -> (position: Double, time: Int64) {
    let status = try daemon.status()
    let position = try #require(status["positionS"] as? Double)
    let time = try #require(status["presentationTimeNs"] as? NSNumber, "\(status)")
    return (position, time.int64Value)
  }

  private func expectHeard(_ shown: (position: Double, time: Int64)) throws {
    let line = try rooms[0].program.line(with: "recording: frame 0 at ")
    let match = try #require(line.firstMatch(of: /frame 0 at (\d+) ns/))
    let start = try #require(Int64(match.1))
    let frame = Double(shown.time - start) * 1e-9 * Double(Self.rate)
    let heard = try SweepRecording(folder.file("a.wav")).position(atFrame: frame)
    print("   shown less heard:", shown.position - heard, "s")
    #expect(abs(shown.position - heard) < 0.02)
  }
}
