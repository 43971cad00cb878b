/// What is done to the sound of an item before it is encoded.
package struct Effects: Hashable, Sendable {
  package static let rates = 0.25...4
  package static let pitches = -12.0...12
  package static let loudnesses = -40.0 ... -5

  /// Seconds of the item in one second of sound; in `rates`.
  package var rate = 1.0
  /// Otherwise the pitch follows the rate, as that of a record does.
  package var keepsPitch = true
  /// In semitones, whole or not; in `pitches`.
  package var pitch = 0.0
  /// What every item is brought to, in LUFS; in `loudnesses`. Nil leaves it as it is.
  package var loudness: Double?
  /// A chain of audio filters in FFmpeg's own notation.
  package var filter: String?

  package init() {}

  package var changesNothing: Bool {
    rate == 1 && pitch == 0 && loudness == nil && filter == nil
  }
}
