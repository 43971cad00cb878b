import Foundation
import TestSupport
import Testing
import Tutti

/// A household as a program sees it: the finished daemon, over its socket.
@Suite(.timeLimit(.minutes(2))) struct HouseholdTests {
  private static func daemon(in folder: TemporaryFolder) throws -> (Program, Household) {
    let directory = folder.file("state")
    let program = try Program(
      "tutti",
      ["serve", "--config", folder.write([], to: "none"), "--port", "0", "--state-dir", directory])
    try program.line(with: "ready")
    return (program, Household(socket: directory + "/control.sock"))
  }

  /// Silence.
  private static func song(
    _ name: String, seconds: Int = 60, in folder: TemporaryFolder
  ) throws -> Media {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let (rate, size) = (8_000, 8_000 * seconds * 2)
    let format =
      little(1, 2) + little(1, 2) + little(rate, 4) + little(rate * 2, 4) + little(2, 2)
      + little(16, 2)
    let wave =
      Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
      + Array("data".utf8) + little(size, 4) + [UInt8](repeating: 0, count: size)
    return .file(try folder.write(wave, to: name + ".wav"))
  }

  private static func refusal(_ body: () async throws -> Void) async -> TuttiError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? TuttiError
    }
  }

  @Test func `a program plays in a household, edits its queue, and asks what sounds`()
    async throws
  {
    let folder = try TemporaryFolder()
    let rooms = try ["kitchen", "bath"].map {
      try ReceiverProgram($0, in: folder, "--output", "null")
    }
    let (program, house) = try Self.daemon(in: folder)
    let songs = try ["one", "two", "three"].map { try Self.song($0, in: folder) }
    #expect(try await house.groups().isEmpty)
    let said = try await house.play([songs[0]], at: ["127.0.0.1:\(rooms[0].port)"])
    #expect(said.contains("one"))
    try rooms[0].program.line(with: "playing")
    try await house.add([songs[1], songs[2]], to: "kitchen")

    var queue = try await house.queue()
    #expect(
      queue.map { $0.name.split(separator: "/").last } == ["one.wav", "two.wav", "three.wav"])
    #expect(queue.map(\.isCurrent) == [true, false, false])
    try await house.remove([queue[1].id])
    try await house.play(queue[2].id)
    #expect(
      await Self.refusal { try await house.play(queue[1].id) }
        == .noSuchItem)
    queue = try await house.queue(of: "kitchen")
    #expect(queue.count == 2)
    try await house.undo()
    #expect(try await house.queue().count == 3)

    try await house.seek(to: .seconds(20))
    try await house.setVolume(0.25)
    var status = try await house.status()
    while status.presentationTime == nil || status.position < .seconds(20) {
      status = try await house.status()
    }
    #expect(status.state == .playing && status.itemNumber == 3 && status.itemCount == 3)
    #expect(status.duration == .seconds(60) && status.rooms == ["kitchen"])
    // Its clock is this host's.
    let age = HostTime.now - (try #require(status.presentationTime))
    #expect(age > .seconds(-1) && age < .seconds(20))
    let group = try #require(try await house.groups().first)
    #expect(group.isMeant && group.rooms == ["kitchen"] && abs(group.volume - 0.25) < 1e-6)
    try await house.pause()
    #expect(try await house.status().state == .paused)
    try await house.resume()
    try await house.next()
    try await house.previous()
    try await house.play(queue[0].id)
    try await house.stopEverywhere(after: .seconds(600))
    try await house.endSleepTimers()
    #expect(try await house.groups().map(\.state).contains(.stopped) == false)
    try await house.stopEverywhere()
    #expect(try await house.groups().map(\.state) == [.stopped])
    try await house.clear()
    #expect(try await house.queue().isEmpty)

    #expect(try await house.status().failed == nil)
    try await house.play([.file(folder.write([], to: "empty.wav")), songs[0]])
    status = try await house.status()
    while status.failed == nil { status = try await house.status() }
    #expect(status.failed?.id == (try await house.queue().first?.id))
    #expect(status.failed?.title == "empty.wav" && status.failed?.problem.isEmpty == false)
    _ = try program.stop()
  }

  @Test func `a program lets a household speak, wake somebody and bring rooms together`()
    async throws
  {
    let folder = try TemporaryFolder()
    let rooms = try ["kitchen", "bath"].map {
      try ReceiverProgram($0, in: folder, "--output", "null")
    }
    let (program, house) = try Self.daemon(in: folder)
    let addresses = rooms.map { "127.0.0.1:\($0.port)" }
    try await house.play([Self.song("one", in: folder)], at: addresses)
    for room in rooms { try room.program.line(with: "playing") }
    func run(_ words: String...) throws {
      let command = try Program("tutti", words + ["--state-dir", folder.file("state")])
      #expect(try command.exitCode() == 0, "\(command.lines)")
    }
    try run("scenes", "save", "Both")
    try await house.leave(rooms: ["bath"], from: "kitchen")
    #expect(try await house.groups().contains { $0.rooms == ["kitchen"] })
    try await house.recall(scene: "Both")
    #expect(try await house.groups().contains { Set($0.rooms) == ["kitchen", "bath"] })
    try await house.announce(
      Self.song("bell", seconds: 1, in: folder), inRooms: ["bath"], volume: 0.5)
    for act: () async throws -> Void in [
      { try await house.say("Dinner", volume: 1.5) }, { try await house.say("") },
      { try await house.recall(scene: "None") }, { try await house.stopAlarms() },
    ] { #expect(await Self.refusal(act) != nil) }
    #expect(try await house.alarms().isEmpty)
    try run("alarms", "add", "7:05", "--on", "bath", "--name", "Wake")
    let alarm = try #require(try await house.alarms().first)
    #expect(alarm.name == "Wake" && alarm.time == "07:05" && alarm.rooms == ["bath"])
    #expect(alarm.state == .waiting && alarm.ringsAt != nil)
    _ = try program.stop()
  }

  @Test func `a household that is not there, and what it does not do, are errors with a line`()
    async throws
  {
    let folder = try TemporaryFolder()
    let nobody = Household(socket: folder.file("control.sock"))
    guard
      case .unavailable(let line)? = await Self.refusal({
        _ = try await nobody.groups()
      })
    else {
      Issue.record("nobody answers")
      return
    }
    #expect(line.contains(nobody.socket))
    let (program, house) = try Self.daemon(in: folder)
    for act: () async throws -> Void in [
      { try await house.pause("cellar") },
      { try await house.play([.file("/a.flac")], inRooms: ["cellar"]) },
    ] {
      guard case .refused(let line)? = await Self.refusal(act) else {
        Issue.record("it is done")
        continue
      }
      #expect(line.contains("cellar"))
    }
    for media in [Media.file("a.flac"), .ramp("own", seconds: 1)] {
      guard
        case .invalid? = await Self.refusal({
          try await house.add([media])
        })
      else {
        Issue.record("it is added")
        continue
      }
    }
    for act: () async throws -> Void in [
      { try await house.setVolume(2) },
      { try await house.stopEverywhere(after: .zero) },
      { try await house.stopEverywhere(after: .seconds(93_601)) },
    ] {
      guard case .invalid? = await Self.refusal(act) else {
        Issue.record("it is set")
        continue
      }
    }
    _ = try program.stop()
  }
}
