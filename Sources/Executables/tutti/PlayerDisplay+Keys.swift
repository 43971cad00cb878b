import House
import Sender
import Service

extension PlayerDisplay {
  /// In seconds.
  private static let seekStep = 10.0

  static let keyHelp = [
    "space     pauses and resumes",
    "← →       10 s back or ahead",
    "+ - ↑ ↓   volume of all rooms",
    "n p       next, previous item",
    "[ ]       speed by 5 %",
    "{ }       pitch by a semitone",
    "0         normal speed and pitch",
    "? h       shows these keys",
    "q         stops",
  ]

  func press(_ key: Key) {
    do {
      switch key {
      case .character(" "): try give(isPaused ? .play : .pause)
      case .left: try seek(by: -Self.seekStep)
      case .right: try seek(by: Self.seekStep)
      case .up, .character("+"), .character("="): try louder(by: 5)
      case .down, .character("-"): try louder(by: -5)
      case .character("n"): try give(.next)
      case .character("p"): try give(.previous)
      case .character("q"): try give(.stop)
      case .character("["): try set(EffectsChange(steppingRate: -1, from: effects))
      case .character("]"): try set(EffectsChange(steppingRate: 1, from: effects))
      case .character("{"): try set(EffectsChange(steppingPitch: -1, from: effects))
      case .character("}"): try set(EffectsChange(steppingPitch: 1, from: effects))
      case .character("0"): try set(EffectsChange(rate: 1, pitch: 0))
      case .character("?"), .character("h"): for line in Self.keyHelp { terminal.print(line) }
      case .character: break
      }
    } catch {
      terminal.print(error.description, .warning)
    }
  }

  private var effects: Effects { player.status.effects }

  private func give(_ transport: Order.Transport) throws(Refusal) {
    try player.perform(.transport(group: Order.meantGroup, transport))
  }

  private func seek(by seconds: Double) throws(Refusal) {
    try player.perform(.seek(group: Order.meantGroup, seconds: seconds, isRelative: true))
  }

  private func louder(by step: Double) throws(Refusal) {
    var change = RoomChange(volume: step)
    change.isStep = true
    try player.perform(.change(group: Order.meantGroup, .init(rooms: change)))
    tell(ProgressLine.volumes(player.statusReport))
  }

  private func set(_ change: EffectsChange) throws(Refusal) {
    try player.perform(.change(group: Order.meantGroup, .init(effects: change)))
  }
}
