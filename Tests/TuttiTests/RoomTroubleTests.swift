import TestSupport
import Testing
import Tutti

/// Rooms that cannot be made, or break later, are told of.
@Suite(.timeLimit(.minutes(3))) struct RoomTroubleTests {
  private static var settings: OutputSettings {
    var settings = OutputSettings()
    settings.identity = .temporary
    return settings
  }

  /// The line that says why a room was refused; nil if it was added.
  private static func refusal(of room: Room, by rooms: RoomGroup) async throws -> String? {
    do throws(TuttiError) {
      try await rooms.add(room)
      return nil
    } catch {
      guard case .roomUnavailable(let line) = error else { throw error }
      return line
    }
  }

  @Test func `a room that cannot be made is refused, with a line that says what to do`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("missing/a.wav")
    await #expect(throws: TuttiError.self) {
      _ = try await Player(rooms: [.recording(to: path)], settings: Self.settings)
    }
    let player = try await Player(settings: Self.settings)
    let line = try await Self.refusal(of: .recording(to: path, name: "Tape"), by: player.rooms)
    #expect(line?.contains("Tape") ?? false)
    #expect(line?.contains(path) ?? false)
    #expect(line?.contains("choose a file in a folder where this program may write") ?? false)
    for room in [
      Room.at("", port: 7770), .at("kitchen", port: 0), .at(String(repeating: "a", count: 254)),
    ] {
      let line = try await Self.refusal(of: room, by: player.rooms)
      #expect(line?.contains("give a host") ?? false, "\(room.id)")
    }
    #expect(try await player.rooms.status().rooms.isEmpty)
    #expect(
      try await Self.refusal(of: .recording(to: folder.file("a.wav")), by: player.rooms) == nil)
    #expect(try await player.rooms.status().rooms.count == 1)
    await player.close()
  }

  @Test func `a recording that fails later is a room without a device, and says why`()
    async throws
  {
    let player = try await Player(rooms: [.recording(to: "/dev/full")], settings: Self.settings)
    let events = player.events
    try await player.append([.ramp("a", seconds: 60)])
    try await player.play(within: .milliseconds(1))
    var detail: String?
    for await event in events {
      guard case .room(let room) = event, case .changed(.noDevice, let said) = room.change else {
        continue
      }
      detail = said
      break
    }
    #expect(detail?.contains("/dev/full") ?? false)
    await player.close()
  }
}
