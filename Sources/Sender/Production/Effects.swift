/// Changes to the sound of items before it is encoded.
package struct Effects: Hashable, Sendable {
  /// Seconds of the item per second of sound: two octaves each way.
  package static let rates = 0.25...4
  /// Semitones: an octave each way.
  package static let pitches = -12.0...12
  /// LUFS. Hardly any music is louder than -5, and none has to be quieter than -40.
  package static let loudnesses = -40.0 ... -5
  /// Seconds.
  package static let crossfades = 0.0...12
  /// Filters in a row.
  package static let filterLimit = 16

  /// Seconds of the item per second of sound; in `rates`.
  package var rate = 1.0
  /// If false, the pitch follows the rate, like that of a record.
  package var keepsPitch = true
  /// In semitones, whole or fractional; in `pitches`.
  package var pitch = 0.0
  /// The loudness that every item is brought to, in LUFS; in `loudnesses`. Nil leaves it unchanged.
  package var loudness: Double?
  /// Seconds over which an item fades into the next, unless that follows it on the same album; in `crossfades`. With 0,
  /// items follow each other without a gap.
  package var crossfade = 0.0
  /// Applied in this order; at most `filterLimit`.
  package var filters: [SoundFilter] = []

  package init() {}

  /// True if each item sounds as it is, apart from where two of them meet.
  package var changesNothing: Bool {
    rate == 1 && pitch == 0 && loudness == nil && filters.isEmpty
  }

  /// True if each item sounds the same with both.
  func sounds(as other: Effects) -> Bool {
    var same = self
    same.crossfade = other.crossfade
    return same == other
  }

  /// True if the sound of an item depends on seconds of it that follow: nobody knows how loud it is.
  func looksAhead(in metadata: ItemMetadata) -> Bool {
    loudness != nil && metadata.loudness == nil
  }

  /// The reason why the effects are refused, in words for people; nil if they are not. It only compares
  /// numbers, and takes no time.
  package var problem: String? {
    if !Self.rates.contains(rate) { return "rate is 0.25 to 4" }
    if !Self.pitches.contains(pitch) { return "pitch is -12 to 12" }
    if let loudness, !Self.loudnesses.contains(loudness) { return "loudness is -40 to -5" }
    if !Self.crossfades.contains(crossfade) { return "crossfade is 0 to 12" }
    return filters.count > Self.filterLimit ? "there are at most \(Self.filterLimit) filters" : nil
  }
}
