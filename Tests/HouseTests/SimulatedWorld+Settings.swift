import Sender
import WireProtocol

@testable import House

// The settings that receivers keep.
extension SimulatedWorld {
  /// Somebody else has set the limit.
  func limit(_ index: Int, to limit: VolumeLimit) {
    receivers[index].settings.volumeLimit = limit
    receivers[index].settings.limitVolume()
  }

  /// From now on it hears nothing of what it is told, until it does again: then it has heard all.
  func hears(_ index: Int, _ hears: Bool) {
    let receiver = receivers[index]
    if hears { receivers[index].settings = receiver.unheard ?? receiver.settings }
    receivers[index].unheard = hears ? nil : receiver.settings
  }

  func set(volume: UInt16, of index: Int) { receivers[index].settings.volume = volume }

  /// Somebody else has set the channels.
  func set(channels: RoomSettings.ChannelMap, of index: Int) {
    receivers[index].settings.channelMap = channels
  }

  /// Receivers whose own user has fixed the limit take no other.
  func refusal(of command: PlayerCommand, by player: SimulatedPlayer) -> CommandRefusal? {
    guard case .volumeLimit(let selection, _) = command else { return nil }
    let meant = player.rooms.filter { selection.contains($0.id) && holds($0, player) }
    let fixed = meant.compactMap { index($0.receiver).map { receivers[$0] } }
      .first { $0.settings.volumeLimit?.isFixed == true }
    return fixed.map { .volumeLimitIsFixed($0.name) }
  }

  /// Carries out a command that is about rooms alone.
  func set(_ command: PlayerCommand, of player: SimulatedPlayer) -> Bool {
    let selection: RoomSelection
    let change: (inout RoomSettings) -> Void
    switch command {
    case .volume(let rooms, let volume): (selection, change) = (rooms, { $0.volume = volume })
    case .mute(let rooms, let isMuted): (selection, change) = (rooms, { $0.isMuted = isMuted })
    case .volumeLimit(let rooms, let limit):
      (selection, change) = (rooms, { $0.volumeLimit = VolumeLimit(limit) })
    case .sound(let rooms, let sound):
      selection = rooms
      change = { settings in
        guard var kept = settings.sound else { return }
        sound.apply(to: &kept)
        settings.sound = kept
      }
    case .volumeCap(let cap):
      (selection, change) = (.all, { _ in })
      player.volumeCap = cap
    case .channelMap(let rooms, let map):
      (selection, change) = (rooms, { $0.channelMap = map })
    case .volumeBy, .delay: return true
    default: return false
    }
    for room in player.rooms where selection.contains(room.id) && holds(room, player) {
      guard let index = index(room.receiver) else { continue }
      var settings = receivers[index].unheard ?? receivers[index].settings
      change(&settings)
      settings.limitVolume()
      settings.volume = min(settings.volume, player.volumeCap)
      if receivers[index].unheard == nil {
        receivers[index].settings = settings
      } else {
        receivers[index].unheard = settings
      }
    }
    return true
  }
}
