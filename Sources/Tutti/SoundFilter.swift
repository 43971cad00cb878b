internal import Sender

/// A filter of the sound, for `Player.setFilters(_:)`. Its values are numbers in ranges, never text for another
/// program.
///
/// Frequencies are 20 to 20 000 Hz, gains -24 to 24 dB. A value outside its range is refused when it is set.
public enum SoundFilter: Hashable, Sendable {
  /// Attenuates frequencies below `frequency`, in Hz, by 12 dB per octave.
  case highpass(frequency: Double)
  /// Attenuates frequencies above `frequency`, in Hz, by 12 dB per octave.
  case lowpass(frequency: Double)
  /// Changes a band around `frequency`, in Hz, by `gain`, in dB.
  ///
  /// `width` is the width of the band, 0.1 to 5 octaves.
  case equalizer(frequency: Double, gain: Double, width: Double = 1)
  /// Changes frequencies below `frequency`, in Hz, by `gain`, in dB.
  case bass(gain: Double, frequency: Double = 100)
  /// Changes frequencies above `frequency`, in Hz, by `gain`, in dB.
  case treble(gain: Double, frequency: Double = 3_000)
  /// Reduces sound that is louder than `threshold`.
  ///
  /// - `threshold`: -60 to 0 dB.
  /// - `ratio`: 1 to 20; so many dB above the threshold become one.
  /// - `attack`: 0.01 to 2000 ms until it acts.
  /// - `release`: 0.01 to 9000 ms until it ends.
  /// - `makeup`: 0 to 36 dB, added to all sound afterwards.
  case compressor(
    threshold: Double, ratio: Double, attack: Duration = .milliseconds(20),
    release: Duration = .milliseconds(250), makeup: Double = 0)
  /// Limits peaks to `ceiling`, -24 to 0 dB; `release` is 1 to 8000 ms.
  case limiter(ceiling: Double, release: Duration = .milliseconds(50))

  /// - Throws: `TuttiError.invalid`, which names the range.
  func checked() throws(TuttiError) -> Sender.SoundFilter {
    let (kind, values) = parts
    do {
      return try Sender.SoundFilter(kind, values)
    } catch {
      throw .invalid(error.description)
    }
  }

  private var parts: (Sender.SoundFilter.Kind, [Double]) {
    switch self {
    case .highpass(let frequency): (.highpass, [frequency])
    case .lowpass(let frequency): (.lowpass, [frequency])
    case .equalizer(let frequency, let gain, let width): (.equalizer, [frequency, gain, width])
    case .bass(let gain, let frequency): (.bass, [gain, frequency])
    case .treble(let gain, let frequency): (.treble, [gain, frequency])
    case .compressor(let threshold, let ratio, let attack, let release, let makeup):
      (
        .compressor,
        [threshold, ratio, attack / .milliseconds(1), release / .milliseconds(1), makeup]
      )
    case .limiter(let ceiling, let release): (.limiter, [ceiling, release / .milliseconds(1)])
    }
  }
}
