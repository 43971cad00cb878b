package import Audio
package import Clock

/// Detects whether a source plays: a record, or only the noise of a turntable that stands still.
///
/// It measures the level in windows of 100 ms, above 30 Hz, because rumble and an offset of the card's input are not
/// music. The noise floor is the level below which a tenth of the last minute stays. The gate opens above the floor,
/// and closes at a lower level than it opens.
package struct LevelGate: Sendable {
  package struct Configuration: Hashable, Sendable {
    /// The level above the floor that opens the gate. dB, above 0.
    package var above: Double
    /// The gate never opens below this level. dBFS.
    package var least: Double
    /// Time of quiet after which the gate closes.
    package var hold: Nanoseconds

    package init(
      above: Double = 10, least: Double = -55, hold: Nanoseconds = .seconds(30)
    ) {
      self.above = above
      self.least = least
      self.hold = hold
    }
  }

  package enum Change: Hashable, Sendable { case opened, closed }

  /// Consecutive windows that have to be loud: a sound of 200 ms, wherever it begins. A click fills one window, and its
  /// ringing in the filter a part of the next.
  private static let loudWindows = 3
  /// Windows from which the floor is taken: 60 s.
  package static let floorWindows = 600
  /// Windows that are needed for a floor: 1 s.
  private static let leastWindows = 10
  /// The gate closes this much below where it opened, so that a quiet passage does not close it. dB.
  private static let hysteresis = 6.0
  /// No input's noise is this loud. This level opens the gate whatever the floor is, such as when a record plays from
  /// the beginning on. dBFS.
  private static let clearlyLoud = -35.0
  /// Sound below this frequency does not count: rumble of record players, and offsets of cards. Hz.
  private static let corner = 30.0
  /// Digital silence. dBFS.
  package static let silence = -120.0

  package private(set) var isOpen = false
  /// Level of the last window, in dBFS; a full-scale square wave has 0.
  package private(set) var level = Self.silence
  private let configuration: Configuration
  private let channelCount: Int
  private let windowFrames: Int
  private let holdWindows: Int
  private var filters: [HighPass]
  private var sum = 0.0
  private var count = 0
  private var loudCount = 0
  private var quietCount = 0
  private var closesBelow = 0.0
  /// Levels of the last minute, the oldest overwritten first.
  private var recent: [Double] = []
  private var oldest = 0

  package var rememberedWindows: Int { recent.count }

  package init(_ configuration: Configuration = .init(), format: AudioFormat) {
    self.configuration = configuration
    channelCount = format.channelCount
    windowFrames = max(format.sampleRate / 10, 1)
    holdWindows = max(Int(configuration.hold.count / 100_000_000), 1)
    filters = Array(
      repeating: HighPass(corner: Self.corner, sampleRate: format.sampleRate),
      count: format.channelCount)
  }

  /// The level below which a tenth of the last minute stays, in dBFS; nil while too little was heard.
  package var floor: Double? {
    guard recent.count >= Self.leastWindows else { return nil }
    return recent.sorted()[recent.count / 10]
  }

  /// Takes the next frames, interleaved. Returns the last change that they caused.
  package mutating func take(_ frames: [Float]) -> Change? {
    var change: Change?
    for frame in 0..<(frames.count / channelCount) {
      for channel in 0..<channelCount {
        let sample = filters[channel].pass(Double(frames[frame * channelCount + channel]))
        sum += sample * sample
      }
      count += 1
      if count == windowFrames { change = endWindow() ?? change }
    }
    return change
  }

  private mutating func endWindow() -> Change? {
    level = Self.decibels(ofPower: sum / Double(count * channelCount))
    (sum, count) = (0, 0)
    defer { note(level) }
    return isOpen ? mayClose() : mayOpen()
  }

  private mutating func mayOpen() -> Change? {
    let threshold = min(
      max((floor ?? 0) + configuration.above, configuration.least), Self.clearlyLoud)
    loudCount = level >= threshold ? loudCount + 1 : 0
    guard loudCount >= Self.loudWindows else { return nil }
    (isOpen, loudCount, quietCount) = (true, 0, 0)
    closesBelow = threshold - Self.hysteresis
    return .opened
  }

  private mutating func mayClose() -> Change? {
    quietCount = level < closesBelow ? quietCount + 1 : 0
    guard quietCount >= holdWindows else { return nil }
    isOpen = false
    return .closed
  }

  private mutating func note(_ level: Double) {
    if recent.count < Self.floorWindows {
      recent.append(level)
    } else {
      recent[oldest] = level
      oldest = (oldest + 1) % Self.floorWindows
    }
  }

  private static func decibels(ofPower power: Double) -> Double {
    power > 1e-12 ? 10 * logarithm10(power) : silence
  }
}

/// A Butterworth filter of the second order (R. Bristow-Johnson's cookbook for audio biquads).
private struct HighPass: Sendable {
  private let b0, b1, a1, a2: Double
  private var x1 = 0.0
  private var x2 = 0.0
  private var y1 = 0.0
  private var y2 = 0.0

  init(corner: Double, sampleRate: Int) {
    let turn = 2 * Double.pi * corner / Double(sampleRate)
    // The angles are small: 30 Hz at 8 kHz gives 0.024.
    let sine = turn - turn * turn * turn / 6
    let cosine = 1 - turn * turn / 2 + turn * turn * turn * turn / 24
    let alpha = sine / 2.0.squareRoot()
    let a0 = 1 + alpha
    b0 = (1 + cosine) / 2 / a0
    b1 = -(1 + cosine) / a0
    a1 = -2 * cosine / a0
    a2 = (1 - alpha) / a0
  }

  mutating func pass(_ x: Double) -> Double {
    let y = b0 * x + b1 * x1 + b0 * x2 - a1 * y1 - a2 * y2
    (x2, x1, y2, y1) = (x1, x, y1, y)
    return y
  }
}

/// Returns the decimal logarithm of a positive number, to 1e-6, from its exponent and a series of its significand.
private func logarithm10(_ value: Double) -> Double {
  let significand = value.significand
  let z = (significand - 1) / (significand + 1)
  let square = z * z
  let series =
    2 * z * (1 + square * (1 / 3.0 + square * (1 / 5.0 + square * (1 / 7.0 + square / 9))))
  return (Double(value.exponent) * 0.693147180559945 + series) * 0.434294481903252
}
