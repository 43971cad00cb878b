/// The sound that a room keeps for itself: what its receiver does to all that it plays.
package struct SoundSetting: Hashable, Sendable {
  package static let mostBands = 8
  /// Gains of bass and treble, in dB.
  package static let toneRange = -10.0...10.0
  /// In percent; negative is to the left.
  package static let balanceRange = -100.0...100.0
  /// From a loudspeaker to the listener, in metres: farther is another room.
  package static let distanceRange = 0.0...30.0
  /// Speed of sound in dry air of 20 °C, in metres a second.
  package static let speedOfSound = 343.0

  /// False leaves the sound as it comes; the rest is kept. The distance counts either way.
  package var isOn = true
  /// At most `mostBands`.
  package var bands: [SoundBand] = []
  /// In steps of 0.01 dB, within `toneRange`.
  package var bass = 0.0
  package var treble = 0.0
  /// In whole percent, within `balanceRange`. The other channel gets quieter.
  package var balance = 0.0
  /// True if bass and treble rise as the volume falls, as ears need it.
  package var hasLoudness = false
  /// True if a part of each channel's bass goes to the other one, for headphones.
  package var hasCrossfeed = false
  package var crossover: Crossover?
  /// In steps of 1 mm, within `distanceRange`. The room sounds earlier by the time that sound takes for it.
  package var distance = 0.0
  /// True if the FIR filter is used that the receiver has, if it has one.
  package var usesFIR = false

  package static let plain = SoundSetting()

  package init() {}

  /// True if what is played is not what was sent.
  package var changesSamples: Bool {
    guard isOn else { return false }
    var other = self
    other.distance = 0
    return other != .plain
  }
}

/// One band of a parametric equalizer.
package struct SoundBand: Hashable, Sendable {
  package enum Kind: UInt8, CaseIterable, Sendable {
    case peak = 0
    case lowShelf = 1
    case highShelf = 2
    case highPass = 3
    case lowPass = 4
  }

  /// In Hz.
  package static let frequencyRange = 20.0...20_000.0
  /// In dB.
  package static let gainRange = -12.0...12.0
  package static let qRange = 0.1...10.0

  package var kind: Kind
  /// In steps of 0.1 Hz. The centre of a peak, the middle of a shelf's slope, the corner of a pass.
  package var frequency: Double
  /// In steps of 0.01 dB. Passes have none.
  package var gain: Double
  /// Centre frequency by bandwidth, in steps of 0.01; 0.71 gives shelves and passes that do not overshoot.
  package var q: Double

  /// Rounds to the steps, and limits to the ranges.
  package init(_ kind: Kind, frequency: Double, gain: Double = 0, q: Double = 0.71) {
    self.kind = kind
    self.frequency = (frequency * 10).rounded().limited(to: 10, Self.frequencyRange)
    self.gain = (gain * 100).rounded().limited(to: 100, Self.gainRange)
    self.q = (q * 100).rounded().limited(to: 100, Self.qRange)
  }
}

/// The part of the sound that a loudspeaker gets beside a subwoofer, or that the subwoofer gets: Linkwitz and Riley's
/// filter of fourth order, so that both add up to what was sent.
package struct Crossover: Hashable, Sendable {
  package enum Part: UInt8, CaseIterable, Sendable {
    case high = 1
    case low = 2
  }

  /// In Hz.
  package static let frequencyRange = 20.0...1_000.0

  package var part: Part
  /// In steps of 0.1 Hz.
  package var frequency: Double

  /// Rounds to the step, and limits to the range.
  package init(_ part: Part, frequency: Double) {
    self.part = part
    self.frequency = (frequency * 10).rounded().limited(to: 10, Self.frequencyRange)
  }
}

extension Double {
  /// Divides a number of steps by their number in a unit, and limits it; not a number becomes the lowest.
  fileprivate func limited(to stepsPerUnit: Double, _ range: ClosedRange<Double>) -> Double {
    self > range.lowerBound * stepsPerUnit
      ? Swift.min(self / stepsPerUnit, range.upperBound) : range.lowerBound
  }
}
