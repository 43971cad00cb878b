import Audio
package import Sender

extension SoundChange {
  /// Throws if a value is out of range.
  package func check() throws(Refusal) {
    try Self.check(bass, SoundSetting.toneRange, "bass", "dB")
    try Self.check(treble, SoundSetting.toneRange, "treble", "dB")
    try Self.check(balance, SoundSetting.balanceRange, "balance", "percent")
    try Self.check(distance, SoundSetting.distanceRange, "a distance", "metres")
    if case .on(_, let frequency) = crossover {
      try Self.check(frequency, Audio.Crossover.frequencyRange, "a crossover", "Hz")
    }
    guard let bands else { return }
    guard bands.count <= SoundSetting.mostBands else {
      throw .invalid("a room has at most \(SoundSetting.mostBands) bands")
    }
    for band in bands {
      try Self.check(band.frequency, SoundBand.frequencyRange, "the frequency of a band", "Hz")
      try Self.check(band.gain, SoundBand.gainRange, "the gain of a band", "dB")
      try Self.check(band.q, SoundBand.qRange, "the Q of a band", "")
    }
  }

  private static func check(
    _ value: Double?, _ range: ClosedRange<Double>, _ name: String, _ unit: String
  ) throws(Refusal) {
    guard let value, !range.contains(value) else { return }
    throw .invalid("\(name) is \(range.text)" + (unit.isEmpty ? "" : " \(unit)"))
  }
}

extension SoundReport {
  /// Such as `bass +3 dB, peak 1000 Hz -4.5 dB Q 1.4`; nil if there is nothing to say.
  package var sentence: String? {
    var parts: [String] = []
    if bass != 0 { parts.append("bass \(NumberText.signed(bass)) dB") }
    if treble != 0 { parts.append("treble \(NumberText.signed(treble)) dB") }
    if balance != 0 {
      parts.append(
        "balance \(NumberText.short(balance.magnitude)) % \(balance < 0 ? "left" : "right")")
    }
    if hasLoudness { parts.append("loudness") }
    if hasCrossfeed { parts.append("crossfeed") }
    if let crossover {
      parts.append("crossover \(crossover.part) \(NumberText.short(crossover.frequency)) Hz")
    }
    parts += bands.map(\.sentence)
    if usesFIR { parts.append(hasFIR ? "FIR filter" : "FIR filter (its receiver has none)") }
    if distanceM != 0 { parts.append("\(NumberText.short(distanceM)) m away") }
    guard !parts.isEmpty else { return nil }
    return (isOn ? "" : "sound off: ") + parts.joined(separator: ", ")
  }
}

extension SoundReport.Band {
  fileprivate var sentence: String {
    let hasGain = SoundBand.Kind(name: kind)?.hasGain ?? true
    return "\(kind) \(NumberText.short(frequency)) Hz"
      + (hasGain ? " \(NumberText.signed(gain)) dB" : "") + " Q \(NumberText.short(q))"
  }
}
