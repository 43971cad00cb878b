import FFmpegSource
package import Sender

/// What is to be different; the rest stays.
package struct EffectsChange: Codable, Hashable, Sendable {
  package var rate: Double?
  /// In semitones.
  package var pitch: Double?
  /// In LUFS.
  package var loudness: Double?
  /// In FFmpeg's notation.
  package var filter: String?
  /// Whether all effects end first.
  package var isReset = false

  package init(
    rate: Double? = nil, pitch: Double? = nil, loudness: Double? = nil, filter: String? = nil,
    isReset: Bool = false
  ) {
    self.rate = rate
    self.pitch = pitch
    self.loudness = loudness
    self.filter = filter
    self.isReset = isReset
  }

  package var isEmpty: Bool { self == EffectsChange() }

  /// Throws a sentence for people where the result cannot be had.
  package func applied(to before: Effects) throws(ServiceError) -> Effects {
    var effects = isReset ? Effects() : before
    effects.rate = rate ?? effects.rate
    effects.pitch = pitch ?? effects.pitch
    effects.loudness = loudness ?? effects.loudness
    effects.filter = filter ?? effects.filter
    try effects.check()
    return effects
  }
}

extension Effects {
  /// Throws a sentence for people where they cannot be had.
  package func check() throws(ServiceError) {
    guard Self.rates.contains(rate) else { throw .invalid("rate is 0.25 to 4") }
    guard Self.pitches.contains(pitch) else { throw .invalid("pitch is -12 to 12") }
    if let loudness, !Self.loudnesses.contains(loudness) {
      throw .invalid("loudness is -40 to -5")
    }
    if changesNothing { return }
    do {
      try FilteredSource.check(self)
    } catch {
      throw .invalid(error.description)
    }
  }
}
