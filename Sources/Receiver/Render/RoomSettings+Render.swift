import Audio
import Clock
package import WireProtocol

extension RoomSettings {
  package static let `default` = RoomSettings(
    volume: 1000, isMuted: false, delay: .zero, channelMap: .stereo)

  /// Gain 0...1, cubic: half volume sounds about half as loud (-18 dB), and the lower end stays
  /// usable.
  package var gain: Float { perceivedGain(volume: volume, isMuted: isMuted) }

  /// As loud as the room plays, but never inaudible: somebody has asked to hear it.
  var gainOfSpeech: Float {
    perceivedGain(volume: max(volume, Self.leastVolumeOfSpeech), isMuted: false)
  }

  /// The volume with which rooms start.
  private static let leastVolumeOfSpeech: UInt16 = 300

  /// - Parameter share: of the stream's volume that counts now, 0 to 1.
  func renderCommands(_ stream: StreamVolume, share: Double = 1) -> [RenderCommand] {
    let (left, right) = channelMap.mixes
    return [.gain(gain * stream.gain(share)), .delay(delay), .channelMap(left: left, right: right)]
  }
}

extension StreamVolume {
  func gain(_ share: Double) -> Float {
    perceivedGain(volume: UInt16((Double(volume) * share).rounded()), isMuted: isMuted)
  }
}

func perceivedGain(volume: UInt16, isMuted: Bool) -> Float {
  if isMuted { return 0 }
  let share = Float(volume) / 1000
  return share * share * share
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
