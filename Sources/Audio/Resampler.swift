/// Plays frames at positions between the frames, and so at a rate slightly different from their own: the interpolator
/// that follows the sound card's clock (ADR 0003).
///
/// A sinc of 64 taps (72 below 48 kHz) under a Kaiser window is tabulated at 64 fractions of a frame; between those, a
/// cubic through four neighbouring rows gives the coefficients. There is no anti-alias filter: the ratio stays
/// within 0.1 % of one. The delay is constant and part of the position: the output at position `p` uses
/// the frames `floor(p) - framesBefore` to `floor(p) + framesAfter`.
///
/// Built off the render thread, used by one thread at a time: it holds the scratch memory of its coefficients.
@safe
package struct ResamplerKernel: ~Copyable {
  package let channelCount: Int
  /// A multiple of four; as many taps before a position as behind it. More taps keep frequencies near half the sample
  /// rate more exactly, at proportional cost.
  package let tapCount: Int
  package let framesBefore: Int
  package let framesAfter: Int
  /// `rowCount` rows of `tapCount`; row `r` belongs to the fraction (r - 1) / `phaseCount`.
  private let table: UnsafeMutablePointer<Float>
  /// One interpolated row, each coefficient once or twice.
  private let scratch: UnsafeMutablePointer<Float>

  /// `channelCount` is 1 to 8; `sampleRate`, in Hz, is that of the frames.
  package init(channelCount: Int, sampleRate: Int) {
    precondition((1...AudioFormat.maximumChannelCount).contains(channelCount))
    self.channelCount = channelCount
    // At 44.1 kHz, the audible range comes closer to half the rate.
    tapCount = sampleRate < 48_000 ? 72 : 64
    framesBefore = tapCount / 2 - 1
    framesAfter = tapCount / 2
    let prototype = KaiserSinc(halfWidth: Double(tapCount) / 2, cutoff: 1, beta: beta)
    unsafe table = .allocate(capacity: rowCount * tapCount)
    for row in 0..<rowCount {
      let fraction = Double(row - 1) / Double(phaseCount)
      let centre = Double(framesBefore) + fraction
      let values = prototype.coefficients(count: tapCount, centre: centre)
      for (tap, value) in values.enumerated() {
        unsafe (table + (row * tapCount + tap)).initialize(to: value)
      }
    }
    unsafe scratch = .allocate(capacity: 2 * tapCount)
    unsafe scratch.initialize(repeating: 0, count: 2 * tapCount)
  }

  deinit {
    unsafe table.deallocate()
    unsafe scratch.deallocate()
  }

  /// Interpolates one frame.
  ///
  /// - Parameters:
  ///   - frame: The frame at or before the position, interleaved; `framesBefore` frames before it and
  ///     `framesAfter` after it are read.
  ///   - fraction: Distance of the position behind that frame, in frames, 0..<1.
  ///   - output: Receives one sample per channel.
  @_noLocks @_noAllocation
  package func interpolate(
    at frame: UnsafePointer<Float>, fraction: Double, into output: UnsafeMutablePointer<Float>
  ) {
    let first = unsafe frame - framesBefore * channelCount
    if channelCount == 2 {
      // Storing each coefficient twice, like the channels of a frame, makes both sums one run through memory.
      interpolateRow(at: fraction, isDoubled: true)
      let sums = unsafe LaneSums(scratch, first, count: 2 * tapCount)
      unsafe output[0] = sums.even
      unsafe output[1] = sums.odd
    } else {
      interpolateRow(at: fraction, isDoubled: false)
      for channel in 0..<channelCount {
        unsafe output[channel] = sum(first + channel)
      }
    }
  }

  /// Renders up to `frames` frames and moves the cursor behind them.
  ///
  /// - Parameters:
  ///   - source: Interleaved frames; the cursor's position counts from the first.
  ///   - sourceFrames: Number of frames in `source`.
  ///   - output: Room for `frames` frames, interleaved.
  /// - Returns: Number of rendered frames: fewer than asked for if the taps would leave the source.
  @_noLocks @_noAllocation
  package func render(
    from source: UnsafePointer<Float>, sourceFrames: Int, at cursor: inout ResamplerCursor,
    into output: UnsafeMutablePointer<Float>, frames: Int
  ) -> Int {
    let lowest = Double(framesBefore)
    let end = Double(sourceFrames - framesAfter)
    var rendered = 0
    while rendered < frames, cursor.position >= lowest, cursor.position < end {
      let index = Int(cursor.position)
      unsafe interpolate(
        at: source + index * channelCount, fraction: cursor.position - Double(index),
        into: output + rendered * channelCount)
      cursor.advance()
      rendered += 1
    }
    return rendered
  }

  /// Writes the coefficients for a fraction to the scratch memory: Lagrange's cubic through four rows.
  @_noLocks @_noAllocation
  private func interpolateRow(at fraction: Double, isDoubled: Bool) {
    let phase = fraction * Double(phaseCount)
    let row = min(max(Int(phase), 0), phaseCount - 1)
    let weights = CubicWeights(at: Float(phase - Double(row)))
    let rows = unsafe UnsafePointer(table + row * tapCount)
    let result = unsafe scratch
    if isDoubled {
      for k in 0..<tapCount {
        let coefficient = unsafe weights.apply(to: rows + k, rowLength: tapCount)
        unsafe result[2 &* k] = coefficient
        unsafe result[2 &* k &+ 1] = coefficient
      }
    } else {
      for k in 0..<tapCount { unsafe result[k] = weights.apply(to: rows + k, rowLength: tapCount) }
    }
  }

  /// Returns the sum for one channel of any number: every `channelCount`th sample from `first` on. Four sums hide the
  /// time that an addition takes; vectors do not pay if the samples lie apart.
  @_noLocks @_noAllocation
  private func sum(_ first: UnsafePointer<Float>) -> Float {
    let row = unsafe UnsafePointer(scratch)
    var (s0, s1, s2, s3): (Float, Float, Float, Float) = (0, 0, 0, 0)
    var sample = unsafe first
    var k = 0
    while k < tapCount {
      unsafe s0 += row[k] * sample[0]
      unsafe s1 += row[k &+ 1] * sample[channelCount]
      unsafe s2 += row[k &+ 2] * sample[2 &* channelCount]
      unsafe s3 += row[k &+ 3] * sample[3 &* channelCount]
      unsafe sample += 4 &* channelCount
      k &+= 4
    }
    return (s0 + s1) + (s2 + s3)
  }
}

/// Lagrange's cubic through values at -1, 0, 1 and 2.
private struct CubicWeights {
  let first: Float
  let second: Float
  let third: Float
  let fourth: Float

  /// `t` lies between the second and the third, 0...1.
  @_noLocks @_noAllocation
  init(at t: Float) {
    first = -t * (t - 1) * (t - 2) * (1 / 6)
    second = (t + 1) * (t - 1) * (t - 2) * 0.5
    third = -(t + 1) * t * (t - 2) * 0.5
    fourth = (t + 1) * t * (t - 1) * (1 / 6)
  }

  /// Returns the value for one tap, from the same tap of four rows.
  @_noLocks @_noAllocation
  func apply(to tap: UnsafePointer<Float>, rowLength: Int) -> Float {
    let outer = unsafe first * tap[0] + fourth * tap[3 &* rowLength]
    let inner = unsafe second * tap[rowLength] + third * tap[2 &* rowLength]
    return outer + inner
  }
}

/// The position at which a resampler reads next, and its speed.
package struct ResamplerCursor: Hashable, Sendable {
  /// In frames of the source buffer.
  package var position: Double
  /// Distance from one output frame to the next, in source frames; close to one.
  package var step: Double
  /// Added to `step` after each output frame, so that the rate changes without a corner.
  package var stepChange: Double

  @_noLocks @_noAllocation
  package init(position: Double, step: Double, stepChange: Double = 0) {
    self.position = position
    self.step = step
    self.stepChange = stepChange
  }

  @_noLocks @_noAllocation
  package mutating func advance() {
    position += step
    step += stepChange
  }
}

private let phaseCount = 64
/// The window's shape. A larger value lowers the side lobes, but widens the transition band. 12 keeps all tones to 20
/// kHz at 48 kHz clean to 120 dB; ADR 0003 has the figures and their command.
private let beta = 12.0
/// One guard row before fraction 0 and two behind the last, for the cubic.
private let rowCount = phaseCount + 3
