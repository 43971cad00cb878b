import Driver
import Foundation
import LinuxIO
import WireProtocol

/// Where the sender keeps what it must find again.
struct StateDirectory {
  let path: String

  init(_ given: String?) throws {
    let environment = ProcessInfo.processInfo.environment
    let home = environment["HOME"] ?? "/root"
    path =
      given ?? (environment["XDG_STATE_HOME"] ?? home + "/.local/state") + "/tutti"
    do {
      try StateFile.createDirectory(path: path)
    } catch {
      throw Failure(.unavailable, "cannot use the state directory \(path): \(error)")
    }
  }

  var controlSocket: String { path + "/control.sock" }
  private var rooms: StateFile { StateFile(path: path + "/receivers.json") }
  private var identity: StateFile { StateFile(path: path + "/sender-id") }

  /// This sender's identity, made at first use.
  func senderID() throws -> Identifier {
    if let bytes = try identity.read(limit: 64), let id = Identifier(bytes) { return id }
    let bytes = try SystemRandom.bytes(Identifier.byteCount)
    try identity.write(bytes)
    guard let id = Identifier(bytes) else {
      throw Failure(.internalError, "no random bytes to be had")
    }
    return id
  }

  /// Rooms that were seen before; empty where the file is missing or cannot be understood.
  func rememberedRooms() -> [RoomRecord] {
    guard let bytes = try? rooms.read(limit: 1 << 20) else { return [] }
    return (try? JSONDecoder().decode([RoomRecord].self, from: Data(bytes))) ?? []
  }

  func remember(_ records: [RoomRecord]) {
    guard let data = try? JSONEncoder().encode(records) else { return }
    try? rooms.write([UInt8](data))
  }
}
