import Clock
import Driver
import Sender
import WireProtocol

/// What `tutti volume` sets, in a running player or in rooms that nobody plays in.
struct RoomChange: Codable {
  /// Names; none means all rooms of the player.
  var rooms: [String] = []
  /// 0...100, or a step.
  var volume: Double?
  var isStep = false
  var isMuted: Bool?
  /// Positive is later.
  var delayMs: Double?
  var channels: String?

  var isEmpty: Bool { volume == nil && isMuted == nil && delayMs == nil && channels == nil }

  /// Throws where a value is out of its range.
  func commands(for rooms: RoomSelection) throws -> [PlayerCommand] {
    var commands: [PlayerCommand] = []
    if let volume {
      guard (isStep ? -100...100 : 0...100).contains(volume) else {
        throw Failure(.usage, "volume is 0 to 100, or a step with + or -")
      }
      let tenths = Int((volume * 10).rounded())
      commands.append(isStep ? .volumeBy(rooms, tenths) : .volume(rooms, UInt16(tenths)))
    }
    if let isMuted { commands.append(.mute(rooms, isMuted)) }
    if let delayMs {
      guard (-2000...2000).contains(delayMs) else {
        throw Failure(.usage, "delay is -2000 to 2000 milliseconds")
      }
      commands.append(.delay(rooms, Nanoseconds(Int64((delayMs * 1e6).rounded()))))
    }
    if let channels {
      guard let map = RoomSettings.ChannelMap.allCases.first(where: { "\($0)" == channels }) else {
        throw Failure(.usage, "channels are stereo, left, right or mono")
      }
      commands.append(.channelMap(rooms, map))
    }
    return commands
  }
}

extension StatusReport.Room {
  /// Such as `Kitchen: volume 40, 12.5 ms later, left`; nothing where the room has not said.
  var settingsSentence: String? {
    guard let volume else { return nil }
    var parts = [
      muted == true
        ? "muted (volume \(NumberText.short(volume)))" : "volume \(NumberText.short(volume))"
    ]
    if let delay = delayText { parts.append(delay) }
    if let channels, channels != "stereo" { parts.append(channels) }
    return "\(name): " + parts.joined(separator: ", ")
  }

  private var delayText: String? {
    guard let delayMs, delayMs != 0 else { return nil }
    return "\(NumberText.short(delayMs.magnitude)) ms \(delayMs > 0 ? "later" : "earlier")"
  }
}
