import Audio
import Sender

/// The values that each setting can have, as its type says. Options, checks over HTTP and the page go by them.
package struct SettingRanges: Codable, Hashable, Sendable {
  package struct Range: Codable, Hashable, Sendable {
    package var min: Double
    package var max: Double

    init(_ range: ClosedRange<Double>) { (min, max) = (range.lowerBound, range.upperBound) }
  }

  package private(set) var volume = Range(RoomChange.volumes)
  package private(set) var volumeLimit = Range(RoomChange.volumeLimits)
  /// Ranges of a room's sound: bass and treble, balance, and each of a band's values.
  package private(set) var tone = Range(SoundSetting.toneRange)
  package private(set) var balance = Range(SoundSetting.balanceRange)
  package private(set) var bandFrequency = Range(SoundBand.frequencyRange)
  package private(set) var bandGain = Range(SoundBand.gainRange)
  package private(set) var bandQ = Range(SoundBand.qRange)
  package private(set) var delayMs = Range(RoomChange.delaysMs)
  package private(set) var rate = Range(Effects.rates)
  package private(set) var pitch = Range(Effects.pitches)
  package private(set) var loudness = Range(Effects.loudnesses)
  package private(set) var crossfadeS = Range(Effects.crossfades)
  package private(set) var sleepInS = Range(Order.GroupChange.sleeps)
  package private(set) var `repeat` = Playlist.Repetition.allCases.map(\.rawValue)
  package private(set) var channels = RoomChange.ChannelMap.names

  package init() {}
}
