import Audio
import Clock
import Glibc
import TestSupport
import Testing

@Suite struct RateConverterTests {
  static let pairs = [
    (44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (48_000, 96_000), (192_000, 44_100),
    (8_000, 48_000), (48_000, 16_000), (22_050, 44_100), (88_200, 32_000),
  ]

  @Test(arguments: pairs, [0.05, 0.31, 0.62, 0.9])
  func `what is not the sine stays 120 dB below it`(rates: (Int, Int), part: Double) {
    let (from, to) = rates
    let hertz = part * Double(min(from, to)) / 2
    let output = convert(sine(hertz: hertz, rate: from, frames: 0..<from / 10), from, to)
    let fit = SineFit(inner(output, to, from), cyclesPerSample: hertz / Double(to))
    #expect(fit.residualDecibels < -120)
    #expect(abs(decibels(fit.amplitude / 0.5)) < 0.001)
  }

  @Test(
    arguments: [(96_000, 48_000), (48_000, 44_100), (192_000, 44_100), (48_000, 16_000)],
    [1.001, 1.05, 1.3])
  func `what lies above the new band is 120 dB down`(rates: (Int, Int), part: Double) {
    let (from, to) = rates
    let hertz = part * Double(to) / 2
    guard hertz < Double(from) / 2 else { return }
    let output = convert(sine(hertz: hertz, rate: from, frames: 0..<from / 10), from, to)
    let peak = inner(output, to, from).map { abs($0) }.max() ?? 1
    #expect(decibels(Double(peak) / 0.5) < -120)
  }

  @Test(arguments: pairs, [0, 1, -1, 12_345, 7_777_777_777] as [Int64])
  func `a sine keeps its phase on the media time line`(rates: (Int, Int), start: Int64) {
    let (from, to) = rates
    // 1000 Hz has a whole number of turns a second, so absolute indices can be reduced to within a
    // second.
    let offset = Int(start - floorDivide(start, Int64(from)) * Int64(from))
    let input = sine(hertz: 1_000, rate: from, frames: offset..<offset + from / 10)
    let first = RateConverter(from: from, to: to, channelCount: 1, startingAt: start).nextFrame
    let output = convert(input, from, to, startingAt: start)
    let guardFrames = 100 * max(1, to / from) + 100
    let fit = SineFit(
      output[guardFrames..<output.count - guardFrames], cyclesPerSample: 1_000 / Double(to))
    let frame = first + Int64(guardFrames)
    let within = Int(frame - floorDivide(frame, Int64(to)) * Int64(to))
    let expected = 1_000 * Double(within) / Double(to)
    let error = (fit.phase - expected) - (fit.phase - expected).rounded()
    // A millionth of a turn of 1000 Hz is a nanosecond.
    #expect(abs(error) < 1e-6)
  }

  @Test(arguments: pairs)
  func `an impulse peaks at its own media time`(rates: (Int, Int)) {
    let (from, to) = rates
    // One second in, both grids have a frame at the same time.
    var input = [Float](repeating: 0, count: from + from / 10)
    input[from] = 1
    let output = convert(input, from, to)
    let peak = output.indices.max { output[$0] < output[$1] }
    #expect(peak == to)
    for distance in 1..<50 {
      #expect(abs(output[to - distance] - output[to + distance]) < 1e-6)
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `blocks of any size give the same as one`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let (from, to) = Self.pairs[Int(seed) % Self.pairs.count]
    let start = Int64.random(in: -1_000_000...1_000_000_000_000, using: &generator)
    let channels = Int.random(in: 1...3, using: &generator)
    let frames = Int.random(in: 0...3_000, using: &generator)
    let input = (0..<frames * channels).map { _ in Float.random(in: -1...1, using: &generator) }
    let whole = convert(input, from, to, channels: channels, startingAt: start)

    var converter = RateConverter(
      from: from, to: to, channelCount: channels, startingAt: start)
    let first = converter.nextFrame
    var output: [Float] = []
    var rest = input[...]
    while !rest.isEmpty {
      let size = Int.random(in: 0...700, using: &generator) * channels
      let block = rest.prefix(size)
      rest = rest.dropFirst(size)
      converter.convert(Array(block), appendingTo: &output)
      #expect(converter.nextFrame == first + Int64(output.count / channels))
    }
    converter.finish(appendingTo: &output)
    #expect(output == whole)
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `an output frame belongs to the run in which its time lies`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let rates = [8_000, 16_000, 32_000, 44_100, 48_000, 96_000]
    let from = rates.randomElement(using: &generator) ?? 0
    let to = rates.randomElement(using: &generator) ?? 0
    let start = Int64.random(in: -100_000...100_000, using: &generator)
    let frames = Int.random(in: 0...500, using: &generator)
    var converter = RateConverter(from: from, to: to, channelCount: 1, startingAt: start)
    let first = converter.nextFrame
    var output: [Float] = []
    converter.convert([Float](repeating: 0, count: frames), appendingTo: &output)
    converter.finish(appendingTo: &output)
    let next = converter.nextFrame
    #expect(next - first == Int64(output.count))
    let (end, from64, to64) = (start + Int64(frames), Int64(from), Int64(to))
    // Compare times as products, so that nothing is rounded.
    #expect(first * from64 >= start * to64 && (first - 1) * from64 < start * to64)
    #expect(frames == 0 || next * from64 >= end * to64)
    #expect(output.isEmpty || (next - 1) * from64 < end * to64)
  }

  @Test func `two runs that join cover every frame once`() {
    for split in 1...200 as ClosedRange<Int64> {
      var ahead = RateConverter(from: 44_100, to: 48_000, channelCount: 1, startingAt: 0)
      var output: [Float] = []
      ahead.convert([Float](repeating: 0, count: Int(split)), appendingTo: &output)
      ahead.finish(appendingTo: &output)
      let behind = RateConverter(from: 44_100, to: 48_000, channelCount: 1, startingAt: split)
      #expect(ahead.nextFrame == behind.nextFrame)
    }
  }

  @Test func `equal rates pass every bit`() {
    let input: [Float] = [0.1, -.infinity, .leastNonzeroMagnitude, 1e30, -0.0, 3]
    var converter = RateConverter(from: 48_000, to: 48_000, channelCount: 2, startingAt: 5)
    #expect(converter.nextFrame == 5)
    var output: [Float] = []
    converter.convert(input, appendingTo: &output)
    converter.finish(appendingTo: &output)
    #expect(output.map(\.bitPattern) == input.map(\.bitPattern))
    #expect(converter.nextFrame == 8)
  }

  @Test func `the largest media time does not overflow`() {
    let last = Int64.max / (705_600_000 / 192_000)
    let converter = RateConverter(
      from: 192_000, to: 11_025, channelCount: 1, startingAt: last)
    #expect(abs(Double(converter.nextFrame) / (Double(last) * 11_025 / 192_000) - 1) < 1e-9)
  }
}

private func convert(
  _ input: [Float], _ from: Int, _ to: Int, channels: Int = 1, startingAt start: Int64 = 0
) -> [Float] {
  var converter = RateConverter(
    from: from, to: to, channelCount: channels, startingAt: start)
  var output: [Float] = []
  converter.convert(input, appendingTo: &output)
  converter.finish(appendingTo: &output)
  return output
}

/// Leaves out the ends, where the filter sees silence.
private func inner(_ output: [Float], _ to: Int, _ from: Int) -> ArraySlice<Float> {
  let guardFrames = 100 * max(1, to / from) + 100
  return output[guardFrames..<output.count - guardFrames]
}

private func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
  a >= 0 ? a / b : -((-a + b - 1) / b)
}
