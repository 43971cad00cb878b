import Audio
import Clock
package import WireProtocol

extension RoomSettings {
  package static let `default`: RoomSettings = {
    var settings = RoomSettings(
      volume: 1000, isMuted: false, delay: .zero, channelMap: .stereo, volumeLimit: .full)
    settings.sound = .plain
    return settings
  }()

  /// Returns these settings after a sender has said others: it leaves a limit that it does not name or cannot change,
  /// and passes none.
  func changed(to said: RoomSettings) -> RoomSettings {
    var settings = said
    (settings.volumeLimit, settings.sound, settings.hasFIR) = (volumeLimit, sound, hasFIR)
    if let limit = said.volumeLimit, volumeLimit?.isFixed != true {
      settings.volumeLimit = VolumeLimit(limit.volume)
    }
    settings.limitVolume()
    return settings
  }

  /// The delay against the group: a loudspeaker that is farther away sounds earlier, by the time that sound takes.
  var soundingDelay: Nanoseconds {
    let seconds = (sound?.distance ?? 0) / SoundSetting.speedOfSound
    return delay - Nanoseconds(Int64((seconds * 1e9).rounded()))
  }

  /// Gain 0...1.
  package var gain: Float { perceivedGain(volume: volume, isMuted: isMuted) }

  /// As loud as the room plays, but never inaudible: somebody has asked to hear it. Only the room's limit is lower.
  var gainOfSpeech: Float { gain(ofSpeech: max(volume, Self.startVolume)) }

  /// Gain of what somebody wants to be heard at `volume`, in a room that is muted, too.
  func gain(ofSpeech volume: UInt16) -> Float {
    perceivedGain(volume: min(volume, volumeLimit?.volume ?? volume), isMuted: false)
  }

  /// The volume of a room in which nobody has set one. It is low, because sudden loud music frightens people.
  package static let startVolume: UInt16 = 300

  /// - Parameter share: of the stream's volume that counts now, 0 to 1.
  func renderCommands(_ stream: StreamVolume, share: Double = 1) -> [RenderCommand] {
    let (left, right) = channelMap.mixes
    return [
      .gain(gain * stream.gain(share)), .delay(soundingDelay),
      .channelMap(left: left, right: right),
    ]
  }
}

extension StreamVolume {
  func gain(_ share: Double) -> Float {
    perceivedGain(volume: UInt16((Double(volume) * share).rounded()), isMuted: isMuted)
  }
}

/// The law of all volumes, see docs/protocol/control-messages.md: a cube alone leaves the lowest fifth below what people
/// hear in a living room, so an eighth of the gain is the share itself.
func perceivedGain(volume: UInt16, isMuted: Bool) -> Float {
  if isMuted { return 0 }
  let share = Float(volume) / 1000
  return (share + 7 * share * share * share) / 8
}

extension RoomSettings.ChannelMap {
  var mixes: (left: ChannelMix, right: ChannelMix) {
    let onlyLeft = ChannelMix(left: 1, right: 0)
    let onlyRight = ChannelMix(left: 0, right: 1)
    let mean = ChannelMix(left: 0.5, right: 0.5)
    return switch self {
    case .stereo: (onlyLeft, onlyRight)
    case .left: (onlyLeft, onlyLeft)
    case .right: (onlyRight, onlyRight)
    case .mono: (mean, mean)
    }
  }
}
