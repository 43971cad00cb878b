import Foundation
import TestSupport
import Testing
import Tutti

/// Tests of the key by which rooms know a program.
@Suite struct IdentityTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func settings(_ identity: OutputSettings.Identity) -> OutputSettings {
    var settings = OutputSettings()
    settings.identity = identity
    return settings
  }

  /// Returns the room's first answer to a program with this key.
  private func answer(_ room: Room, to identity: OutputSettings.Identity) async throws
    -> RoomEvent.Change?
  {
    let player = try await Player(rooms: [room], settings: settings(identity))
    var answer: RoomEvent.Change?
    for await event in player.events {
      guard case .room(let told) = event else { continue }
      answer = told.change
      break
    }
    await player.close()
    return answer
  }

  @Test(.timeLimit(.minutes(2)))
  func `a room plays for the program whose key was paired with it, and for no other`() async throws
  {
    // The receiver belongs to another user, whose token this one cannot read.
    try FileManager.default.createDirectory(
      atPath: folder.file("home"), withIntermediateDirectories: true)
    let receiver = try ReceiverProgram(
      "a", in: folder, "--output", "null", "--access", "paired",
      environment: ["XDG_RUNTIME_DIR": folder.file("home")])
    let box = try Program("tutti-receiver", ["pin", "--state-dir", folder.file("state-a")])
    _ = try box.exitCode()
    let pairing = try Program(
      "tutti",
      ["pair", "--at", receiver.address, "--pin", try #require(box.lines.first)]
        + ["--state-dir", folder.file("mine")])
    #expect(try pairing.exitCode() == 0, "\(pairing.lines)")

    let room = Room.at("127.0.0.1", port: receiver.port)
    let path = folder.file("mine/sender-key.pem")
    #expect(try await answer(room, to: .file(path)) == .connected)
    let pem = try String(contentsOfFile: path, encoding: .utf8)
    #expect(try await answer(room, to: .key(pem: pem)) == .connected)
    for identity in [OutputSettings.Identity.temporary, .file(folder.file("mine/other.pem"))] {
      guard case .refused(let reason)? = try await answer(room, to: identity) else {
        Issue.record("not refused")
        return
      }
      #expect(reason.contains("it is not paired with this machine"))
    }
    // The key was made, and only its user may read it.
    let made = try FileManager.default.attributesOfItem(atPath: folder.file("mine/other.pem"))
    #expect(made[.posixPermissions] as? Int == 0o600)
  }

  @Test func `a key that is none, or has no place, is refused with a line`() async throws {
    let damaged = try folder.write("nothing".utf8, to: "damaged.pem")
    for identity in [
      OutputSettings.Identity.key(pem: "nothing"), .file(damaged), .file("/nowhere/key.pem"),
    ] {
      await #expect(throws: TuttiError.self) {
        try await Player(settings: settings(identity))
      }
    }
  }
}
