/// The loudness of an item, as far as one gain for all of it must know.
package struct ItemLevel: Hashable, Sendable {
  /// In LUFS.
  package var loudness: Double
  /// The largest sample, relative to full scale 1; nil if it is not known.
  package var peak: Double?

  package init(loudness: Double, peak: Double?) { (self.loudness, self.peak) = (loudness, peak) }

  /// Nil unless the item's tags give its loudness.
  package init?(_ metadata: ItemMetadata) {
    guard let loudness = metadata.loudness else { return nil }
    self.init(loudness: loudness, peak: metadata.peak)
  }
}
