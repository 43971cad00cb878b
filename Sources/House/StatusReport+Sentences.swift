package import Sender
import WireProtocol

/// The settings of a room that people see.
protocol RoomSettingsShown {
  var name: String { get }
  var volume: Double? { get }
  var muted: Bool? { get }
  var delayMs: Double? { get }
  var channels: String? { get }
  var volumeLimit: Double? { get }
  var sound: SoundReport? { get }
}

extension StatusReport.Room: RoomSettingsShown {
  package var settingsSentence: String? { sentence }
}
extension HouseState.Room: RoomSettingsShown {
  package var settingsSentence: String? { sentence }
}

extension RoomSettingsShown {
  /// Such as `Kitchen: volume 40 of at most 60, 12.5 ms later, left`; nil until the room has reported its
  /// settings.
  fileprivate var sentence: String? {
    guard let volume else { return nil }
    var loudness = "volume \(NumberText.short(volume))"
    if let volumeLimit, volumeLimit < RoomChange.volumes.upperBound {
      loudness += " of at most \(NumberText.short(volumeLimit))"
    }
    var parts = [muted == true ? "muted (\(loudness))" : loudness]
    if let delay = delayText { parts.append(delay) }
    if let channels, channels != RoomChange.ChannelMap.stereo.name { parts.append(channels) }
    if let sound = sound?.sentence { parts.append(sound) }
    return "\(name): " + parts.joined(separator: ", ")
  }

  private var delayText: String? {
    guard let delayMs, delayMs != 0 else { return nil }
    return "\(NumberText.short(delayMs.magnitude)) ms \(delayMs > 0 ? "later" : "earlier")"
  }
}

extension EffectsReport {
  /// Such as `rate 1.25, pitch -2`; empty if there are no effects.
  package var longSentence: String {
    var parts: [String] = []
    if rate != 1 { parts.append("rate \(NumberText.short(rate))") }
    if pitch != 0 { parts.append("pitch \(NumberText.signed(pitch))") }
    if let loudness { parts.append("loudness \(NumberText.short(loudness)) LUFS") }
    if let crossfadeS { parts.append("crossfade \(NumberText.short(crossfadeS)) s") }
    parts += filters.map(\.description)
    return parts.joined(separator: ", ")
  }
}
