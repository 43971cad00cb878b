import Audio
import Glibc
import Sender

/// Writes effects in FFmpeg's notation, from fixed names and numbers. Swift writes numbers alike in every locale.
enum FilterText {
  static func chain(
    _ effects: Effects, _ own: OwnChain?, of format: AudioFormat, _ level: ItemLevel?
  ) -> String {
    var parts: [String] = []
    var tempo = effects.rate
    if !effects.keepsPitch {
      parts += resampling(by: effects.rate, at: format.sampleRate)
      tempo = 1
    }
    if effects.pitch != 0 {
      // Resampling changes pitch and tempo together; the tempo is then restored.
      let factor = pow(2, effects.pitch / 12)
      let raised = Int((Double(format.sampleRate) * factor).rounded())
      parts += ["asetrate=\(raised)", "aresample=\(format.sampleRate)"]
      tempo *= Double(format.sampleRate) / Double(raised)
    }
    parts += tempos(tempo)
    if let loudness = effects.loudness { parts.append(gain(to: loudness, level)) }
    parts += effects.filters.compactMap { text(of: $0, at: Double(format.sampleRate)) }
    if let own { parts.append(own.text) }
    return parts.joined(separator: ",")
  }

  /// Returns nil if the item has no such frequencies.
  static func text(of filter: SoundFilter, at rate: Double) -> String? {
    func value(_ name: String) -> Double { filter[name] ?? 0 }
    /// A filter above the item's band is unstable or unknown to FFmpeg.
    let highest = 0.49 * rate
    let frequency = min(value("frequency"), highest)
    switch filter.kind {
    case .highpass: return "highpass=f=\(frequency)"
    case .lowpass: return "lowpass=f=\(frequency)"
    case .equalizer where value("frequency") > highest: return nil
    case .equalizer:
      return "equalizer=f=\(frequency):t=o:w=\(value("width")):g=\(value("gain"))"
    case .bass: return "bass=f=\(frequency):g=\(value("gain"))"
    case .treble where value("frequency") > highest: return nil
    case .treble: return "treble=f=\(frequency):g=\(value("gain"))"
    case .compressor:
      return "acompressor=threshold=\(factor(value("threshold"))):ratio=\(value("ratio"))"
        + ":attack=\(value("attackMs")):release=\(value("releaseMs"))"
        + ":makeup=\(factor(value("makeup")))"
    case .limiter:
      return "alimiter=limit=\(factor(value("ceiling"))):release=\(value("releaseMs"))"
        + ":level=0:latency=1"
    }
  }

  /// Converts decibels to a factor of the amplitude.
  private static func factor(_ level: Double) -> Double { pow(10, level / 20) }

  /// Returns filters that resample by `factor`. They take whole rates; in hundredths of a hertz these are exact to a
  /// ten-millionth.
  private static func resampling(by factor: Double, at rate: Int) -> [String] {
    let fine = 100 * rate
    let read = Int((Double(fine) * factor).rounded())
    return ["asetrate=\(read)", "aresample=\(fine)", "asetrate=\(rate)"]
  }

  /// Returns tempo filters. Each has a factor of 0.5 to 2: above 2 it would skip sound, and below 0.5 is not possible.
  private static func tempos(_ tempo: Double) -> [String] {
    guard tempo != 1 else { return [] }
    var steps: [Double] = []
    var rest = tempo
    while rest > 2 { (rest, steps) = (rest / 2, steps + [2]) }
    while rest < 0.5 { (rest, steps) = (rest / 0.5, steps + [0.5]) }
    return (steps + [rest]).map { "atempo=\($0)" }
  }

  /// Returns a filter to `loudness`. If the item's own is known, it is a constant gain, limited so that peaks stay within
  /// full scale: tags that name no peak, such as those of Opus, only make quieter. Otherwise the filter measures the
  /// loudness while playing, and levels slow changes.
  private static func gain(to loudness: Double, _ level: ItemLevel?) -> String {
    guard let level else { return "loudnorm=I=\(loudness):TP=-1.5:LRA=11:dual_mono=1" }
    let gain = min(factor(loudness - level.loudness), 1 / (level.peak ?? 1))
    return "volume=\(gain):precision=float"
  }
}
