import Audio

/// A room's gain, shared between a card's own volume control and the renderer before it. The control gets all of it, but
/// for what loudness boosts: that must not pass full scale on its way to the card.
package struct SharedGain: Hashable, Sendable {
  /// The part of the card's control, 0 to 1.
  package let card: Float
  /// The renderer's, 0 to 1. Times the card's it is the room's.
  package let rendered: Float

  /// Loudness follows the volume in steps of 1 dB, so it may be ahead by half of one.
  private static let roundingDecibels = 0.5

  /// - Parameter gain: of the room, 0 to 1.
  package init(_ gain: Float, hasLoudness: Bool) {
    guard hasLoudness, gain > 0 else {
      (card, rendered) = (gain, gain > 0 ? 1 : 0)
      return
    }
    let attenuation = Self.roundingDecibels - decibels(ofGain: Double(gain))
    let boost = Audio.gain(ofDecibels: SoundProgram.loudnessBoost(at: attenuation))
    card = min(1, gain * Float(boost))
    rendered = gain / card
  }
}
