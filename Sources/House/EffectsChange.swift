package import Sender

/// A change of the effects. Fields that are nil or empty leave the setting as it is.
package struct EffectsChange: Codable, Hashable, Sendable {
  package var rate: Double?
  /// In semitones.
  package var pitch: Double?
  /// In LUFS.
  package var loudness: Double?
  /// True to play items at their own loudness again.
  package var endsLoudness: Bool
  /// In seconds.
  package var crossfade: Double?
  /// Filters that replace all those of the same kinds.
  package var filters: [SoundFilter]
  /// Kinds of filters to switch off.
  package var endedFilters: [SoundFilter.Kind]
  /// True to switch off all effects first.
  package var isReset: Bool

  package init(
    rate: Double? = nil, pitch: Double? = nil, loudness: Double? = nil,
    filters: [SoundFilter] = [], endedFilters: [SoundFilter.Kind] = [], isReset: Bool = false,
    endsLoudness: Bool = false, crossfade: Double? = nil
  ) {
    (self.endsLoudness, self.crossfade) = (endsLoudness, crossfade)
    (self.rate, self.pitch, self.loudness) = (rate, pitch, loudness)
    (self.filters, self.endedFilters, self.isReset) = (filters, endedFilters, isReset)
  }

  package var isEmpty: Bool { self == EffectsChange() }

  /// Steps of a key between an item's own rate and the double.
  private static let rateSteps = 20.0

  /// Steps to a multiple of 1/20, within `Effects.rates`.
  package init(steppingRate steps: Double, from effects: Effects) {
    let stepped = (effects.rate * Self.rateSteps).rounded() + steps
    self.init(rate: Self.nearest(to: stepped / Self.rateSteps, in: Effects.rates))
  }

  /// Moves the pitch by so many semitones, within `Effects.pitches`.
  package init(steppingPitch semitones: Double, from effects: Effects) {
    self.init(pitch: Self.nearest(to: effects.pitch + semitones, in: Effects.pitches))
  }

  private static func nearest(to value: Double, in range: ClosedRange<Double>) -> Double {
    min(max(value, range.lowerBound), range.upperBound)
  }

  /// Returns the changed effects. Throws a sentence for people if they are not available.
  package func applied(to before: Effects) throws(Refusal) -> Effects {
    var effects = isReset ? Effects() : before
    effects.rate = rate ?? effects.rate
    effects.pitch = pitch ?? effects.pitch
    effects.loudness = loudness ?? (endsLoudness ? nil : effects.loudness)
    effects.crossfade = crossfade ?? effects.crossfade
    effects.filters = changed(effects.filters)
    try effects.check()
    return effects
  }

  /// Returns the filters in the order of a mixing desk if any of them changes.
  private func changed(_ before: [SoundFilter]) -> [SoundFilter] {
    let replaced = Set(filters.map(\.kind) + endedFilters)
    guard !replaced.isEmpty else { return before }
    let all = before.filter { !replaced.contains($0.kind) } + filters
    return SoundFilter.Kind.allCases.flatMap { kind in all.filter { $0.kind == kind } }
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case rate, pitch, loudness, endsLoudness, filters, endedFilters, isReset
    case crossfade = "crossfadeS"
  }

  /// Refuses a key that it does not know: it comes from another version of the program, and ignoring it would silently
  /// leave something undone.
  package init(from decoder: any Decoder) throws {
    let all = try decoder.container(keyedBy: AnyKey.self)
    if let stranger = all.allKeys.first(where: { CodingKeys(rawValue: $0.stringValue) == nil }) {
      throw DecodingError.dataCorruptedError(
        forKey: stranger, in: all, debugDescription: "not known")
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    rate = try container.decodeIfPresent(Double.self, forKey: .rate)
    pitch = try container.decodeIfPresent(Double.self, forKey: .pitch)
    loudness = try container.decodeIfPresent(Double.self, forKey: .loudness)
    endsLoudness = try container.decodeIfPresent(Bool.self, forKey: .endsLoudness) ?? false
    crossfade = try container.decodeIfPresent(Double.self, forKey: .crossfade)
    filters = try container.decodeIfPresent([SoundFilter].self, forKey: .filters) ?? []
    endedFilters =
      try container.decodeIfPresent([SoundFilter.Kind].self, forKey: .endedFilters) ?? []
    isReset = try container.decodeIfPresent(Bool.self, forKey: .isReset) ?? false
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension Effects {
  /// Throws a sentence for people if the effects are not available.
  package func check() throws(Refusal) {
    if let problem { throw .invalid(problem) }
  }
}
