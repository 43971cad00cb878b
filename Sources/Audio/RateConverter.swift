/// Converts one run of frames from one supported rate to another, exactly: output frame j sounds at the
/// media time j / output rate, to the flick, however the input is cut into blocks. Not for the render thread.
///
/// A windowed sinc is tabulated at each of the finitely many fractions at which output frames fall
/// between input frames (160 for 44.1 to 48 kHz, one for 96 to 48). Linear phase: the filter looks 96
/// frames of the lower rate to both sides, with silence before the run and after it. Flat to 0.905 of the
/// lower Nyquist frequency, more than 120 dB down from that frequency on. At equal rates the frames pass
/// through, bit for bit.
package struct RateConverter {
  package let channelCount: Int
  /// The absolute index, on the output's grid, of the next frame to come out.
  package private(set) var nextFrame: Int64

  private let filter: RateFilter
  /// Distance of the next output frame from the input frame at or before it, in 1 / `phaseCount` of an input frame.
  private var phase: Int
  /// End of the input that the next output frame needs, counted from the start of `channels`. The input frame at or
  /// before the output is `halfLength + 1` before that.
  private var windowEnd: Int
  /// Recent input, one array per channel: `filter.halfLength - 1` frames of silence, then the run.
  private var channels: [[Float]]

  /// - Parameters:
  ///   - input: The rate of the input, in Hz. One of `AudioFormat.supportedRates`, like `output`.
  ///   - inputFrame: The absolute index of the first frame of the run, on the input's grid: its media time
  ///     times the rate.
  package init(
    from input: Int, to output: Int, channelCount: Int, startingAt inputFrame: Int64
  ) {
    self.init(
      RateFilter(from: input, to: output), channelCount: channelCount, startingAt: inputFrame)
  }

  package init(_ filter: RateFilter, channelCount: Int, startingAt inputFrame: Int64) {
    precondition(channelCount > 0)
    self.channelCount = channelCount
    self.filter = filter
    let (first, behindStart) = filter.ratio.place(ofFirstFrom: inputFrame)
    nextFrame = first
    phase = behindStart % filter.phaseCount
    windowEnd = behindStart / filter.phaseCount + 2 * filter.halfLength
    let silence = [Float](repeating: 0, count: max(filter.halfLength - 1, 0))
    channels = Array(repeating: silence, count: channelCount)
  }

  /// Takes the next frames of the run and appends those that they complete. The first frame appended has
  /// the index that `nextFrame` had before the call.
  package mutating func convert(_ frames: [Float], appendingTo output: inout [Float]) {
    if filter.isIdentity {
      output += frames
      nextFrame += Int64(frames.count / channelCount)
      return
    }
    append(frames)
    produce(appendingTo: &output)
    forgetOldInput()
  }

  /// Appends the rest: the output frames before the end of the run that wait for input after it. After this the
  /// converter takes no more frames.
  package mutating func finish(appendingTo output: inout [Float]) {
    guard !filter.isIdentity else { return }
    // This much silence completes just those windows whose output lies before the end of the run.
    let silence = [Float](repeating: 0, count: filter.halfLength * channelCount)
    finish(followedBy: silence, before: .max, appendingTo: &output)
  }

  /// Like `finish(appendingTo:)`, if other audio follows: `frames` is that audio on the input's grid. Appends the
  /// output frames before `end`, the index of the first frame of the following audio.
  package mutating func finish(
    followedBy frames: [Float], before end: Int64, appendingTo output: inout [Float]
  ) {
    if filter.isIdentity {
      let count = min(max(0, end - nextFrame), Int64(frames.count / channelCount))
      output += frames.prefix(Int(count) * channelCount)
      nextFrame += count
      return
    }
    append(frames)
    produce(before: end, appendingTo: &output)
  }

  private mutating func append(_ frames: [Float]) {
    for channel in 0..<channelCount {
      channels[channel].reserveCapacity(channels[channel].count + frames.count / channelCount)
      for index in stride(from: channel, to: frames.count, by: channelCount) {
        channels[channel].append(frames[index])
      }
    }
  }

  /// Appends all output frames before `end` for which there is input.
  private mutating func produce(before end: Int64 = .max, appendingTo output: inout [Float]) {
    while windowEnd <= channels[0].count, nextFrame < end {
      for channel in 0..<channelCount {
        output.append(
          filter.sum(of: channels[channel], from: windowEnd - filter.length, phase: phase))
      }
      nextFrame += 1
      phase += filter.advance
      windowEnd += phase / filter.phaseCount
      phase %= filter.phaseCount
    }
  }

  private mutating func forgetOldInput() {
    let count = min(windowEnd - filter.length, channels[0].count)
    guard count > 0 else { return }
    for channel in 0..<channelCount { channels[channel].removeFirst(count) }
    windowEnd -= count
  }
}

/// The relation of the frames of two rates.
package struct RateRatio: Hashable, Sendable {
  /// Output frames from one point where both grids meet to the next; its inverse is the unit of fractions of an input
  /// frame.
  let up: Int
  /// Distance from one output frame to the next, in those fractions.
  let down: Int

  /// In Hz; both above 0.
  package init(from input: Int, to output: Int) {
    precondition(input > 0 && output > 0)
    let divisor = greatestCommonDivisor(input, output)
    (up, down) = (output / divisor, input / divisor)
  }

  /// Returns the first output frame at or after an input frame.
  package func firstFrame(from inputFrame: Int64) -> Int64 { place(ofFirstFrom: inputFrame).frame }

  /// Returns ⌈start · up / down⌉, and its distance behind the input frame, in fractions of one. Divides first,
  /// because the product with the start itself would overflow for times that the types allow.
  func place(ofFirstFrom inputFrame: Int64) -> (frame: Int64, behind: Int) {
    let (up, down) = (Int64(up), Int64(down))
    let (periods, rest) = inputFrame.dividedRoundingDown(by: down)
    let first = (rest * up + down - 1) / down
    return (periods * up + first, Int(first * down - rest * up))
  }
}

/// The coefficients of a conversion at each fraction of an input frame that occurs. Computing them takes
/// milliseconds, so keep them.
package struct RateFilter: Sendable {
  package let ratio: RateRatio
  /// Input frames at or before the output, and as many after it. A multiple of four; 0 at equal rates.
  package let halfLength: Int
  private let table: [Float]

  var phaseCount: Int { ratio.up }
  var advance: Int { ratio.down }
  var length: Int { 2 * halfLength }
  var isIdentity: Bool { halfLength == 0 }

  /// In Hz; both above 0.
  package init(from input: Int, to output: Int) {
    let ratio = RateRatio(from: input, to: output)
    self.ratio = ratio
    guard input != output else {
      halfLength = 0
      table = []
      return
    }
    // 192 frames of the lower rate and beta 12.8 give 125 dB and a transition of ±0.043 Nyquist
    // frequencies (Kaiser's formulas), all of which this cutoff places below 1.
    let stretch = max(1, Double(input) / Double(output))
    let prototype = KaiserSinc(halfWidth: 96 * stretch, cutoff: 0.95 / stretch, beta: 12.8)
    let halfLength = (96 * max(input, output) + 4 * output - 1) / (4 * output) * 4
    self.halfLength = halfLength
    table = (0..<ratio.up).flatMap { phase in
      let fraction = Double(phase) / Double(ratio.up)
      return prototype.coefficients(
        count: 2 * halfLength, centre: Double(halfLength - 1) + fraction)
    }
  }

  /// Returns the output at a phase; its window begins at `start`.
  func sum(of samples: [Float], from start: Int, phase: Int) -> Float {
    precondition(start >= 0 && start + length <= samples.count && phase < phaseCount)
    return unsafe samples.withUnsafeBufferPointer { samples in
      unsafe table.withUnsafeBufferPointer { table in
        let window = unsafe samples.baseAddress.unsafelyUnwrapped + start
        let row = unsafe table.baseAddress.unsafelyUnwrapped + phase * length
        return unsafe LaneSums(window, row, count: length).total
      }
    }
  }
}

extension Int64 {
  /// Returns quotient and remainder; the remainder is never negative. The divisor is positive.
  fileprivate func dividedRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

private func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
  b == 0 ? a : greatestCommonDivisor(b, a % b)
}
