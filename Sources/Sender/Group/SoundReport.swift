package import Audio

/// The sound that a room keeps, as programs read it. Frequencies are in Hz, gains in dB.
package struct SoundReport: Codable, Hashable, Sendable {
  package struct Band: Codable, Hashable, Sendable {
    package var kind: String
    package var frequency: Double
    package var gain: Double
    package var q: Double

    package init(_ band: SoundBand) {
      (kind, frequency, gain, q) = (band.kind.name, band.frequency, band.gain, band.q)
    }
  }

  package struct Crossover: Codable, Hashable, Sendable {
    package var part: String
    package var frequency: Double

    package init(_ crossover: Audio.Crossover) {
      (part, frequency) = (crossover.part.name, crossover.frequency)
    }
  }

  package var isOn: Bool
  /// True if the room plays other samples than it was sent.
  package var changesSound: Bool
  package var bands: [Band]
  package var bass: Double
  package var treble: Double
  package var balance: Double
  package var hasLoudness: Bool
  package var hasCrossfeed: Bool
  /// Absent where there is none.
  package var crossover: Crossover?
  package var distanceM: Double
  package var usesFIR: Bool
  /// True if the receiver has a FIR filter.
  package var hasFIR: Bool

  package init(_ setting: SoundSetting, hasFIR: Bool) {
    isOn = setting.isOn
    var used = setting
    used.usesFIR = setting.usesFIR && hasFIR
    changesSound = used.changesSamples
    bands = setting.bands.map(Band.init)
    (bass, treble, balance) = (setting.bass, setting.treble, setting.balance)
    (hasLoudness, hasCrossfeed) = (setting.hasLoudness, setting.hasCrossfeed)
    crossover = setting.crossover.map(Crossover.init)
    distanceM = setting.distance
    (usesFIR, self.hasFIR) = (setting.usesFIR, hasFIR)
  }

  /// The setting that it tells.
  private var setting: SoundSetting {
    var setting = SoundSetting()
    setting.isOn = isOn
    setting.bands = bands.compactMap { band in
      SoundBand.Kind(name: band.kind).map {
        SoundBand($0, frequency: band.frequency, gain: band.gain, q: band.q)
      }
    }
    (setting.bass, setting.treble, setting.balance) = (bass, treble, balance)
    (setting.hasLoudness, setting.hasCrossfeed) = (hasLoudness, hasCrossfeed)
    setting.crossover = crossover.flatMap { crossover in
      Audio.Crossover.Part(name: crossover.part).map {
        Audio.Crossover($0, frequency: crossover.frequency)
      }
    }
    (setting.distance, setting.usesFIR) = (distanceM, usesFIR)
    return setting
  }

  /// The sound that the room will have after a change.
  package func changed(by change: SoundChange) -> SoundReport {
    var setting = setting
    change.apply(to: &setting)
    return SoundReport(setting, hasFIR: hasFIR)
  }
}

extension SoundBand.Kind: Codable {
  package static var names: [String] { allCases.map(\.name) }
  /// In programs and on the command line.
  package var name: String {
    switch self {
    case .peak: "peak"
    case .lowShelf: "lowshelf"
    case .highShelf: "highshelf"
    case .highPass: "highpass"
    case .lowPass: "lowpass"
    }
  }
  /// False for those that only take away what is beyond their frequency.
  package var hasGain: Bool { self != .highPass && self != .lowPass }

  package init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}

extension Crossover.Part: Codable {
  package static var names: [String] { allCases.map(\.name) }
  package var name: String { self == .high ? "high" : "low" }

  package init?(name: String) {
    guard let part = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = part
  }
}
