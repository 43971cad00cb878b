/// Plays frames at positions between the frames, and so at a rate slightly other than their own: the
/// interpolator that follows the sound card's clock (ADR 0003).
///
/// A sinc of 80 taps under a Kaiser window is tabulated at 64 fractions of a frame; between those, a cubic
/// through four neighbouring rows gives the coefficients. There is no anti-alias filter: the ratio stays
/// within 0.1 % of one. The delay is constant and part of the position: the output at position `p` uses
/// the frames `floor(p) - framesBefore` to `floor(p) + framesAfter`.
///
/// Built off the render thread, used by one thread at a time: it holds the scratch memory of its sums.
@safe
package struct ResamplerKernel: ~Copyable {
  package static let framesBefore = 39
  package static let framesAfter = 40

  package let channelCount: Int
  /// `rows` rows of `tapCount`; row `r` belongs to the fraction (r - 1) / `phaseCount`.
  private let table: UnsafeMutablePointer<Float>
  /// One interpolated row, then the partial sums of up to two channels.
  private let scratch: UnsafeMutablePointer<Float>

  /// `channelCount` is 1 to 8.
  package init(channelCount: Int) {
    precondition((1...AudioFormat.maximumChannelCount).contains(channelCount))
    self.channelCount = channelCount
    let prototype = KaiserSinc(halfWidth: Double(tapCount) / 2, cutoff: 1, beta: 11)
    unsafe table = .allocate(capacity: rowCount * tapCount)
    for row in 0..<rowCount {
      let fraction = Double(row - 1) / Double(phaseCount)
      let centre = Double(Self.framesBefore) + fraction
      let values = prototype.coefficients(count: tapCount, centre: centre)
      for (tap, value) in values.enumerated() {
        unsafe (table + (row * tapCount + tap)).initialize(to: value)
      }
    }
    unsafe scratch = .allocate(capacity: tapCount + 2 * laneCount)
    unsafe scratch.initialize(repeating: 0, count: tapCount + 2 * laneCount)
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
  ///   - fraction: How far the position lies behind that frame, in frames, 0..<1.
  ///   - output: Receives one sample per channel.
  @_noLocks @_noAllocation
  package func interpolate(
    at frame: UnsafePointer<Float>, fraction: Double, into output: UnsafeMutablePointer<Float>
  ) {
    interpolateRow(at: fraction)
    let first = unsafe frame - Self.framesBefore * channelCount
    if channelCount == 2 {
      unsafe sumStereo(first, into: output)
    } else {
      for channel in 0..<channelCount {
        unsafe output[channel] = sum(first + channel)
      }
    }
  }

  /// Renders up to `frames` frames and moves the cursor behind them.
  ///
  /// - Parameters:
  ///   - source: Interleaved frames; the cursor's position counts from the first.
  ///   - sourceFrames: How many there are.
  ///   - output: Room for `frames` frames, interleaved.
  /// - Returns: How many were rendered: fewer than asked for where the taps would leave the source.
  @_noLocks @_noAllocation
  package func render(
    from source: UnsafePointer<Float>, sourceFrames: Int, at cursor: inout ResamplerCursor,
    into output: UnsafeMutablePointer<Float>, frames: Int
  ) -> Int {
    let lowest = Double(Self.framesBefore)
    let end = Double(sourceFrames - Self.framesAfter)
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
  private func interpolateRow(at fraction: Double) {
    let phase = fraction * Double(phaseCount)
    let row = min(max(Int(phase), 0), phaseCount - 1)
    let t = Float(phase - Double(row))
    let a = -t * (t - 1) * (t - 2) * (1 / 6)
    let b = (t + 1) * (t - 1) * (t - 2) * 0.5
    let c = -(t + 1) * t * (t - 2) * 0.5
    let d = (t + 1) * t * (t - 1) * (1 / 6)
    let rows = unsafe UnsafePointer(table + row * tapCount)
    let result = unsafe scratch
    for k in 0..<tapCount {
      let outer = unsafe a * rows[k] + d * rows[k &+ 3 &* tapCount]
      let inner = unsafe b * rows[k &+ tapCount] + c * rows[k &+ 2 &* tapCount]
      unsafe result[k] = outer + inner
    }
  }

  /// Both channels at once, in eight independent partial sums each. Strict floating-point order forbids
  /// the compiler to split one sum; it does vectorise the lanes of a loop whose body is unrolled.
  @_noLocks @_noAllocation
  private func sumStereo(_ first: UnsafePointer<Float>, into output: UnsafeMutablePointer<Float>) {
    let row = unsafe UnsafePointer(scratch)
    let partial = unsafe scratch + tapCount
    for lane in 0..<laneCount {
      var left: Float = 0
      var right: Float = 0
      var step = 0
      while step < tapCount / laneCount {
        let k = lane &+ step &* laneCount
        unsafe left += row[k] * first[2 &* k]
        unsafe right += row[k] * first[2 &* k &+ 1]
        step &+= 1
      }
      unsafe partial[lane] = left
      unsafe partial[laneCount &+ lane] = right
    }
    unsafe output[0] = sumOfLanes(partial)
    unsafe output[1] = sumOfLanes(partial + laneCount)
  }

  /// One channel of any number: every `channelCount`th sample from `first` on.
  @_noLocks @_noAllocation
  private func sum(_ first: UnsafePointer<Float>) -> Float {
    let row = unsafe UnsafePointer(scratch)
    let partial = unsafe scratch + tapCount
    for lane in 0..<laneCount {
      var value: Float = 0
      var step = 0
      while step < tapCount / laneCount {
        let k = lane &+ step &* laneCount
        unsafe value += row[k] * first[channelCount &* k]
        step &+= 1
      }
      unsafe partial[lane] = value
    }
    return unsafe sumOfLanes(partial)
  }
}

/// Where a resampler reads next, and how fast it moves.
package struct ResamplerCursor: Hashable, Sendable {
  /// In frames of the source buffer.
  package var position: Double
  /// From one output frame to the next, in source frames; close to one.
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

/// Eight lanes fill two vectors of SSE2 or NEON.
private let laneCount = 8
private let tapCount = 80
private let phaseCount = 64
/// One guard row before fraction 0 and two behind the last, for the cubic.
private let rowCount = phaseCount + 3

@_noLocks @_noAllocation
private func sumOfLanes(_ lanes: UnsafePointer<Float>) -> Float {
  unsafe ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
    + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
}
