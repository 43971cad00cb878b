internal import Audio
internal import House
internal import Sender

/// The sound that a room keeps for itself: its receiver changes everything that it plays by this, whoever plays there,
/// and all rooms stay in step. For `RoomGroup.setSound(_:of:)`; `RoomStatus.Settings.sound` has the present one.
///
/// Values are rounded to the steps in which receivers keep them.
public struct RoomSound: Hashable, Sendable {
  /// One band of the parametric equalizer: a filter of second order.
  public struct Band: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
      case peak
      case lowShelf = "lowshelf"
      case highShelf = "highshelf"
      case highPass = "highpass"
      case lowPass = "lowpass"
    }

    public var kind: Kind
    /// In Hz, 20 to 20 000: the centre of a peak, the middle of a shelf's slope, the corner of a pass.
    public var frequency: Double
    /// In dB, -12 to 12; passes have none.
    public var gain: Double
    /// Centre frequency by bandwidth, 0.1 to 10.
    public var q: Double

    public init(_ kind: Kind, frequency: Double, gain: Double = 0, q: Double = 0.71) {
      (self.kind, self.frequency, self.gain, self.q) = (kind, frequency, gain, q)
    }
  }

  /// The part that a loudspeaker plays beside a subwoofer, or that the subwoofer plays; both add up to the whole.
  public enum Crossover: Hashable, Sendable {
    /// Sound above this frequency, in Hz, 20 to 1000.
    case high(frequency: Double)
    /// Sound below it.
    case low(frequency: Double)
  }

  /// False leaves the sound as it comes, all but the distance; nothing else is forgotten.
  public var isOn = true
  /// At most 8.
  public var bands: [Band] = []
  /// In dB, -10 to 10.
  public var bass = 0.0
  /// In dB, -10 to 10.
  public var treble = 0.0
  /// In percent, -100 (left alone) to 100.
  public var balance = 0.0
  /// True if bass and treble rise as the volume falls.
  public var hasLoudness = false
  /// True for headphones: each ear hears a part of the other channel's bass, as it does in front of loudspeakers.
  public var hasCrossfeed = false
  public var crossover: Crossover?
  /// Metres from the loudspeaker to the listener, 0 to 30: the room sounds earlier by the time that sound takes for it.
  public var distance = 0.0
  /// True if the receiver's FIR filter is used; its owner gives it one by `tutti-receiver --fir`.
  public var usesFIR = false

  public init() {}

  /// A room with headphones: crossfeed, and nothing else.
  public static var headphones: RoomSound {
    var sound = RoomSound()
    sound.hasCrossfeed = true
    return sound
  }

  init(_ setting: SoundSetting) {
    isOn = setting.isOn
    bands = setting.bands.compactMap { band in
      Band.Kind(rawValue: band.kind.name).map {
        Band($0, frequency: band.frequency, gain: band.gain, q: band.q)
      }
    }
    (bass, treble, balance) = (setting.bass, setting.treble, setting.balance)
    (hasLoudness, hasCrossfeed) = (setting.hasLoudness, setting.hasCrossfeed)
    crossover = setting.crossover.map { crossover in
      switch crossover.part {
      case .high: .high(frequency: crossover.frequency)
      case .low: .low(frequency: crossover.frequency)
      }
    }
    (distance, usesFIR) = (setting.distance, setting.usesFIR)
  }

  /// - Throws: `TuttiError.invalid`, which names the range.
  func checked() throws(TuttiError) -> SoundChange {
    var change = SoundChange()
    change.isOn = isOn
    change.bands = bands.compactMap { band in
      SoundBand.Kind(name: band.kind.rawValue).map {
        SoundChange.Band($0, frequency: band.frequency, gain: band.gain, q: band.q)
      }
    }
    (change.bass, change.treble, change.balance) = (bass, treble, balance)
    (change.hasLoudness, change.hasCrossfeed) = (hasLoudness, hasCrossfeed)
    change.crossover =
      switch crossover {
      case nil: .off
      case .high(let frequency): .on(.high, frequency: frequency)
      case .low(let frequency): .on(.low, frequency: frequency)
      }
    (change.distance, change.usesFIR) = (distance, usesFIR)
    do throws(Refusal) {
      try change.check()
    } catch {
      throw .invalid(error.description)
    }
    return change
  }
}
