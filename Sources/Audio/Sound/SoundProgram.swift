/// A sound setting as the render thread carries it out at one sample rate: plain values.
package struct SoundProgram: Sendable {
  /// All bands, bass and treble, two shelves of loudness, and the two parts of a crossover.
  package static var mostSections: Int { @_noLocks @_noAllocation get { 14 } }

  package private(set) var sections = InlineArray<14, Biquad>(repeating: Biquad())
  package private(set) var count = 0
  package private(set) var leftGain = 1.0
  package private(set) var rightGain = 1.0
  /// The part of each channel's bass that goes to the other one instead; 0 for none.
  package private(set) var crossfeed = 0.0
  /// The pole of the low-pass of first order that takes the bass.
  package private(set) var crossfeedPole = 0.0
  /// True if it boosts more the quieter the room is.
  package private(set) var hasLoudness = false
  /// True if it does nothing.
  package private(set) var isOff = true

  @_noLocks @_noAllocation
  package init() {}

  /// Level to which the sound is attenuated at most to follow it with loudness, in dB.
  package static let loudnessRange = 0.0...40.0

  /// - Parameters:
  ///   - rate: in Hz.
  ///   - attenuation: by how much the room is quieter than at full volume, in dB.
  package init(_ setting: SoundSetting, rate: Int, attenuation: Double) {
    guard setting.changesSamples else { return }
    for band in setting.bands.prefix(SoundSetting.mostBands) { append(band, rate) }
    append(SoundBand(.lowShelf, frequency: 100, gain: setting.bass), rate)
    append(SoundBand(.highShelf, frequency: 8_000, gain: setting.treble), rate)
    if let crossover = setting.crossover {
      // Two of Butterworth's in a row are one of Linkwitz and Riley's.
      let half = Biquad(
        crossover.part == .high ? .highPass : .lowPass, crossover.frequency, decibels: 0,
        q: 0.5.squareRoot(), rate: rate)
      append(half)
      append(half)
    }
    if setting.hasCrossfeed {
      crossfeed = 0.37
      crossfeedPole = exponential(-2 * .pi * 700 / Double(rate))
    }
    let headroom = 1 / max(1, peakGain(rate: rate))
    leftGain = headroom * (1 - max(0, setting.balance) / 100)
    rightGain = headroom * (1 + min(0, setting.balance) / 100)
    hasLoudness = setting.hasLoudness
    if hasLoudness { appendLoudness(attenuation, rate) }
    isOff = count == 0 && crossfeed == 0 && leftGain == 1 && rightGain == 1
  }

  /// Leaves out what changes nothing.
  private mutating func append(_ band: SoundBand, _ rate: Int) {
    let hasGain = band.kind != .highPass && band.kind != .lowPass
    if !hasGain || band.gain != 0 { append(Biquad(band, rate: rate)) }
  }

  private mutating func append(_ section: Biquad) {
    guard count < Self.mostSections else { return }
    sections[count] = section
    count += 1
  }

  /// About the difference of the curves of equal loudness (ISO 226) at 100 Hz and 10 kHz: three tenths and a tenth of
  /// the attenuation. It needs no headroom, because the volume is lower by more than that; of a card's own volume,
  /// `SharedGain` leaves that much to the renderer.
  private mutating func appendLoudness(_ attenuation: Double, _ rate: Int) {
    let attenuation = Self.followed(attenuation)
    append(SoundBand(.lowShelf, frequency: 100, gain: 0.3 * attenuation, q: 0.6), rate)
    append(SoundBand(.highShelf, frequency: 8_000, gain: 0.1 * attenuation, q: 0.6), rate)
  }

  private static func followed(_ attenuation: Double) -> Double {
    min(max(attenuation, loudnessRange.lowerBound), loudnessRange.upperBound)
  }

  /// The most that loudness boosts any sine, in dB. The shelf of the bass boosts more than that of the treble.
  package static func loudnessBoost(at attenuation: Double) -> Double {
    0.3 * followed(attenuation)
  }

  /// Returns the largest gain that any sine gets, from 5 Hz to half the rate.
  package func peakGain(rate: Int) -> Double {
    var largest = 0.0
    var frequency = 5.0
    while frequency < Double(rate) / 2 {
      largest = max(largest, power(at: frequency, rate: rate))
      // A 128th of an octave: between two, even two of the narrowest peaks on each other change by less than 0.02 dB.
      frequency *= 1.005_429_900_961_549
    }
    return largest.squareRoot() * (crossfeed == 0 ? 1 : Self.crossfeedPeak)
  }

  /// At most, with any phases of the two channels: |1 − aL| + a|L| where L is a low-pass of first order and a is 0.37.
  private static let crossfeedPeak = 1.11

  /// Returns the square of the gain of all sections at a frequency in Hz.
  package func power(at frequency: Double, rate: Int) -> Double {
    var product = 1.0
    for index in 0..<count { product *= sections[index].power(at: frequency / Double(rate)) }
    return product
  }
}

/// The memory of a `SoundProgram` between two frames.
package struct SoundState: Sendable {
  /// Four of each section, two for each channel, and one of the crossfeed for each channel.
  private var values = InlineArray<58, Double>(repeating: 0)

  @_noLocks @_noAllocation
  package init() {}

  /// Changes `frames` frames in place.
  @_noLocks @_noAllocation
  package mutating func run(
    _ program: SoundProgram, _ left: UnsafeMutablePointer<Double>,
    _ right: UnsafeMutablePointer<Double>, frames: Int
  ) {
    for index in 0..<program.count {
      let section = program.sections[index]
      unsafe run(section, memory: 4 &* index, left, frames: frames)
      unsafe run(section, memory: 4 &* index &+ 2, right, frames: frames)
    }
    if program.crossfeed != 0 { unsafe feedAcross(program, left, right, frames: frames) }
    for i in 0..<frames {
      unsafe left[i] *= program.leftGain
      unsafe right[i] *= program.rightGain
    }
  }

  /// The second transposed form, which keeps most digits.
  @_noLocks @_noAllocation
  private mutating func run(
    _ section: Biquad, memory: Int, _ samples: UnsafeMutablePointer<Double>, frames: Int
  ) {
    var (first, second) = (values[memory], values[memory &+ 1])
    for i in 0..<frames {
      let x = unsafe samples[i]
      let y = section.b0 * x + first
      first = section.b1 * x - section.a1 * y + second
      second = section.b2 * x - section.a2 * y
      unsafe samples[i] = y
    }
    values[memory] = Self.awake(first)
    values[memory &+ 1] = Self.awake(second)
  }

  @_noLocks @_noAllocation
  private mutating func feedAcross(
    _ program: SoundProgram, _ left: UnsafeMutablePointer<Double>,
    _ right: UnsafeMutablePointer<Double>, frames: Int
  ) {
    var (lowLeft, lowRight) = (values[56], values[57])
    let pole = program.crossfeedPole
    for i in 0..<frames {
      unsafe lowLeft = left[i] + (lowLeft - left[i]) * pole
      unsafe lowRight = right[i] + (lowRight - right[i]) * pole
      let difference = program.crossfeed * (lowRight - lowLeft)
      unsafe left[i] += difference
      unsafe right[i] -= difference
    }
    values[56] = Self.awake(lowLeft)
    values[57] = Self.awake(lowRight)
  }

  /// Numbers near the smallest that exist take the processor a hundred times longer, and what is not a number would stay
  /// so for ever.
  @_noLocks @_noAllocation
  private static func awake(_ value: Double) -> Double {
    value.magnitude >= 1e-60 && value.magnitude < 1e60 ? value : 0
  }
}
