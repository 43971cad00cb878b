import Audio
import Clock
import TestSupport
import Testing

@Suite struct ResamplerTests {
  @Test(arguments: [997.0, 6_007, 10_007, 15_013, 19_013], [-200.0, 0.37, 200])
  func `what is not the sine stays 120 dB below it`(hertz: Double, ppm: Double) {
    let step = 1 + ppm * 1e-6
    let output = resample(sine(hertz: hertz, rate: 48_000, frames: 0..<6_000), 1, step: step)
    let fit = SineFit(output, cyclesPerSample: hertz / 48_000 * step)
    #expect(fit.residualDecibels < -120)
  }

  @Test(arguments: (1...20).map { 1_000.0 * Double($0) })
  func `the gain is flat to 20 kHz`(hertz: Double) {
    let output = resample(sine(hertz: hertz, rate: 48_000, frames: 0..<6_000), 1, step: 1.0001)
    let fit = SineFit(output, cyclesPerSample: hertz / 48_000 * 1.0001)
    #expect(abs(decibels(fit.amplitude / 0.5)) < 0.001)
  }

  @Test func `no tone to 20 kHz is worse than the others`() {
    for hertz in stride(from: 257.0, to: 20_000, by: 500) {
      // Passes through all fractions three times.
      let output = resample(sine(hertz: hertz, rate: 48_000, frames: 0..<3_080), 1, step: 1.001)
      let fit = SineFit(output, cyclesPerSample: hertz / 48_000 * 1.001)
      #expect(fit.residualDecibels < -120, "\(hertz) Hz")
    }
  }

  @Test(arguments: [(19_000.0, -120.0), (20_000, -70)])
  func `the top of the band at 44100 Hz comes through`(hertz: Double, limit: Double) {
    let tone = sine(hertz: hertz, rate: 44_100, frames: 0..<6_000)
    let output = resample(tone, 1, rate: 44_100, step: 1.0002)
    let fit = SineFit(output, cyclesPerSample: hertz / 44_100 * 1.0002)
    #expect(fit.residualDecibels < limit)
    #expect(abs(decibels(fit.amplitude / 0.5)) < 0.01)
  }

  @Test func `a position on a frame gives that frame`() {
    let source = noise(channels: 1, frames: 200, seed: 1)
    let kernel = ResamplerKernel(channelCount: 1, sampleRate: 48_000)
    var output: Float = 0
    for frame in 31..<160 {
      source.withUnsafeBufferPointer {
        kernel.interpolate(at: $0.baseAddress! + frame, fraction: 0, into: &output)
      }
      #expect(abs(output - source[frame]) < 1e-6)
    }
  }

  @Test(arguments: 1...8, [44_100, 48_000])
  func `channels do not affect each other`(channelCount: Int, rate: Int) {
    let source = noise(channels: channelCount, frames: 600, seed: UInt64(channelCount))
    let output = resample(source, channelCount, rate: rate, step: 1.000_3)
    for channel in 0..<channelCount {
      let alone = stride(from: channel, to: source.count, by: channelCount).map { source[$0] }
      let expected = resample(alone, 1, rate: rate, step: 1.000_3)
      let found = stride(from: channel, to: output.count, by: channelCount).map { output[$0] }
      #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 1e-6 })
      #expect(found.count == expected.count)
    }
  }

  @Test func `a rate that moves leaves no corner in a sine`() {
    // The rate changes from -1000 to +1000 ppm over the run; the expected phase is that of the
    // moving position.
    let source = sine(hertz: 10_007, rate: 48_000, frames: 0..<6_000)
    let frames = 5_000
    var cursor = ResamplerCursor(
      position: 31, step: 0.999, stepChange: 0.002 / Double(frames))
    var positions: [Double] = []
    var probe = cursor
    for _ in 0..<frames {
      positions.append(probe.position)
      probe.advance()
    }
    let output = render(source, 1, at: &cursor, frames: frames)
    let errors = zip(output, positions).map { sample, position -> Double in
      let halfTurns = 2 * 10_007.0 / 48_000 * position
      return abs(Double(sample) - 0.5 * sineOfHalfTurns(halfTurns))
    }
    let worst = errors.max() ?? 1
    #expect(worst < 2e-6)
    #expect(cursor == probe)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `blocks of any size give the same as one`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let source = noise(channels: 2, frames: 1_200, seed: seed)
    let step = 1 + Double.random(in: -0.001...0.001, using: &generator)
    let whole = resample(source, 2, step: step)
    var cursor = ResamplerCursor(position: 31, step: step)
    var pieces: [Float] = []
    while true {
      let piece = render(source, 2, at: &cursor, frames: .random(in: 1...100, using: &generator))
      if piece.isEmpty { break }
      pieces += piece
    }
    #expect(pieces == whole)
  }

  @Test func `nothing is read outside the source`() {
    let source = [Float](repeating: 1, count: 100)
    for position in [-1, 0, 30.999, 68, 1e9, .nan, .infinity] {
      var cursor = ResamplerCursor(position: position, step: 1)
      #expect(render(source, 1, at: &cursor, frames: 10).isEmpty)
    }
    var cursor = ResamplerCursor(position: 67.999, step: 1)
    #expect(render(source, 1, at: &cursor, frames: 10).count == 1)
    cursor = ResamplerCursor(position: 31, step: 1)
    #expect(render(Array(source[..<63]), 1, at: &cursor, frames: 10).isEmpty)
    // At this rate the kernel needs 36 frames after the position.
    cursor = ResamplerCursor(position: 35, step: 1)
    #expect(render(Array(source[..<71]), 1, rate: 44_100, at: &cursor, frames: 10).isEmpty)
    #expect(render(Array(source[..<72]), 1, rate: 44_100, at: &cursor, frames: 10).count == 1)
  }
}

private func resample(
  _ source: [Float], _ channels: Int, rate: Int = 48_000, step: Double
) -> [Float] {
  let first = rate < 48_000 ? 35.0 : 31
  var cursor = ResamplerCursor(position: first, step: step)
  return render(source, channels, rate: rate, at: &cursor, frames: source.count / channels)
}

private func render(
  _ source: [Float], _ channels: Int, rate: Int = 48_000, at cursor: inout ResamplerCursor,
  frames: Int
) -> [Float] {
  let kernel = ResamplerKernel(channelCount: channels, sampleRate: rate)
  var output = [Float](repeating: .nan, count: frames * channels)
  let count = source.withUnsafeBufferPointer { source in
    output.withUnsafeMutableBufferPointer { output in
      kernel.render(
        from: source.baseAddress!, sourceFrames: source.count / channels, at: &cursor,
        into: output.baseAddress!, frames: frames)
    }
  }
  return Array(output[..<(count * channels)])
}

private func noise(channels: Int, frames: Int, seed: UInt64) -> [Float] {
  var generator = SplitMix64(seed: seed)
  return (0..<frames * channels).map { _ in .random(in: -1...1, using: &generator) }
}
