import Audio

/// The room's sound as the render thread is told it.
struct RenderedSound: Hashable {
  private let setting: SoundSetting
  private let rate: Int
  /// In whole dB, so that a volume that rises changes the sound in steps that nobody hears; 0 without loudness.
  private let attenuation: Int
  private let usesFIR: Bool

  /// - Parameters:
  ///   - rate: of the device, in Hz.
  ///   - gain: of the room's volume; while it is muted, the attenuation stays as it was.
  ///   - clipGain: of the loudest clip that sounds or is to; nil without one. A clip that is louder than the room has no room
  ///     above it for what loudness boosts at the room's volume, so loudness follows the louder of the two.
  init(
    _ setting: SoundSetting, rate: Int, gain: Float, clipGain: Float? = nil, usesFIR: Bool,
    before: RenderedSound?
  ) {
    (self.setting, self.rate, self.usesFIR) = (setting, rate, usesFIR)
    guard setting.hasLoudness, setting.isOn else {
      attenuation = 0
      return
    }
    let ofRoom = gain > 0 ? Self.attenuation(gain, .toNearestOrEven) : before?.attenuation ?? 0
    let ofClip = clipGain.map { Self.attenuation($0, .down) }
    attenuation = min(ofRoom, ofClip ?? ofRoom)
  }

  private static func attenuation(_ gain: Float, _ rule: FloatingPointRoundingRule) -> Int {
    let limits = SoundProgram.loudnessRange
    // A clip that is not heard has no level.
    let level = gain > 0 ? -decibels(ofGain: Double(gain)) : limits.upperBound
    return Int(min(max(level, limits.lowerBound), limits.upperBound).rounded(rule))
  }

  var commands: [RenderCommand] {
    [
      .sound(SoundProgram(setting, rate: rate, attenuation: Double(attenuation))),
      .useFIR(usesFIR),
    ]
  }
}
