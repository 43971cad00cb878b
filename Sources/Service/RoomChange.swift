import Clock
package import Sender
import WireProtocol

/// What is to be set in rooms, of a running player or of nobody.
package struct RoomChange: Codable, Hashable, Sendable {
  /// Names; none means all rooms of the player.
  package var rooms: [String] = []
  /// 0...100, or a step.
  package var volume: Double?
  package var isStep = false
  package var isMuted: Bool?
  /// Positive is later.
  package var delayMs: Double?
  package var channels: String?

  package init(
    rooms: [String] = [], isMuted: Bool? = nil, delayMs: Double? = nil, channels: String? = nil,
    volume: Double? = nil
  ) {
    self.volume = volume
    self.rooms = rooms
    self.isMuted = isMuted
    self.delayMs = delayMs
    self.channels = channels
  }

  package var isEmpty: Bool { volume == nil && isMuted == nil && delayMs == nil && channels == nil }

  /// Throws where a value is out of its range.
  package func commands(for rooms: RoomSelection) throws(Refusal) -> [PlayerCommand] {
    var commands: [PlayerCommand] = []
    if let volume {
      guard (isStep ? -100...100 : 0...100).contains(volume) else {
        throw .invalid("volume is 0 to 100, or a step with + or -")
      }
      let tenths = Int((volume * 10).rounded())
      commands.append(isStep ? .volumeBy(rooms, tenths) : .volume(rooms, UInt16(tenths)))
    }
    if let isMuted { commands.append(.mute(rooms, isMuted)) }
    if let delayMs {
      guard (-2000...2000).contains(delayMs) else {
        throw .invalid("delay is -2000 to 2000 milliseconds")
      }
      commands.append(.delay(rooms, Nanoseconds(Int64((delayMs * 1e6).rounded()))))
    }
    if let channels {
      guard let map = RoomSettings.ChannelMap.allCases.first(where: { "\($0)" == channels }) else {
        throw .invalid("channels are stereo, left, right or mono")
      }
      commands.append(.channelMap(rooms, map))
    }
    return commands
  }
}
