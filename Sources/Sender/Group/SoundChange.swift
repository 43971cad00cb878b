package import Audio

/// A change of the sound that rooms keep. Fields that are nil leave it as it is.
package struct SoundChange: Codable, Hashable, Sendable {
  /// A filter of second order.
  package struct Band: Codable, Hashable, Sendable {
    package var kind: SoundBand.Kind
    /// In Hz, within `SoundBand.frequencyRange`.
    package var frequency: Double
    /// In dB, within `SoundBand.gainRange`.
    package var gain: Double
    /// Within `SoundBand.qRange`.
    package var q: Double

    package init(_ kind: SoundBand.Kind, frequency: Double, gain: Double = 0, q: Double = 0.71) {
      (self.kind, self.frequency, self.gain, self.q) = (kind, frequency, gain, q)
    }
  }

  package enum Crossover: Codable, Hashable, Sendable {
    case off
    /// The frequency is in Hz, within `Audio.Crossover.frequencyRange`.
    case on(Audio.Crossover.Part, frequency: Double)
  }

  package var isOn: Bool?
  /// In place of all bands.
  package var bands: [Band]?
  /// In dB, within `SoundSetting.toneRange`.
  package var bass: Double?
  package var treble: Double?
  /// In percent, within `SoundSetting.balanceRange`.
  package var balance: Double?
  package var hasLoudness: Bool?
  package var hasCrossfeed: Bool?
  package var crossover: Crossover?
  /// In metres, within `SoundSetting.distanceRange`.
  package var distance: Double?
  package var usesFIR: Bool?

  package init() {}

  /// Rounds to the steps in which rooms keep their sound.
  package func apply(to setting: inout SoundSetting) {
    setting.isOn = isOn ?? setting.isOn
    if let bands {
      setting.bands = bands.prefix(SoundSetting.mostBands).map {
        SoundBand($0.kind, frequency: $0.frequency, gain: $0.kind.hasGain ? $0.gain : 0, q: $0.q)
      }
    }
    setting.bass = bass.map { ($0 * 100).rounded() / 100 } ?? setting.bass
    setting.treble = treble.map { ($0 * 100).rounded() / 100 } ?? setting.treble
    setting.balance = balance.map { $0.rounded() } ?? setting.balance
    setting.hasLoudness = hasLoudness ?? setting.hasLoudness
    setting.hasCrossfeed = hasCrossfeed ?? setting.hasCrossfeed
    switch crossover {
    case nil: break
    case .off: setting.crossover = nil
    case .on(let part, let frequency):
      setting.crossover = Audio.Crossover(part, frequency: frequency)
    }
    setting.distance = distance.map { ($0 * 1_000).rounded() / 1_000 } ?? setting.distance
    setting.usesFIR = usesFIR ?? setting.usesFIR
  }

  /// Adds a later change, whose values win.
  package mutating func merge(_ later: SoundChange) {
    isOn = later.isOn ?? isOn
    bands = later.bands ?? bands
    bass = later.bass ?? bass
    treble = later.treble ?? treble
    balance = later.balance ?? balance
    hasLoudness = later.hasLoudness ?? hasLoudness
    hasCrossfeed = later.hasCrossfeed ?? hasCrossfeed
    crossover = later.crossover ?? crossover
    distance = later.distance ?? distance
    usesFIR = later.usesFIR ?? usesFIR
  }
}
