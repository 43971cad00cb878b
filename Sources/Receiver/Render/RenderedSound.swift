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
  init(
    _ setting: SoundSetting, rate: Int, gain: Float, usesFIR: Bool, before: RenderedSound?
  ) {
    (self.setting, self.rate, self.usesFIR) = (setting, rate, usesFIR)
    if !setting.hasLoudness || !setting.isOn {
      attenuation = 0
    } else if gain > 0 {
      let limits = SoundProgram.loudnessRange
      let level = -decibels(ofGain: Double(gain))
      attenuation = Int(min(max(level, limits.lowerBound), limits.upperBound).rounded())
    } else {
      attenuation = before?.attenuation ?? 0
    }
  }

  var commands: [RenderCommand] {
    [
      .sound(SoundProgram(setting, rate: rate, attenuation: Double(attenuation))),
      .useFIR(usesFIR),
    ]
  }
}
