import Audio
import Clock
import Glibc
import TestSupport
import Testing

/// Writes input to a convolver as the renderer does, and reads what comes out.
private struct Room: ~Copyable {
  var convolver: Convolver
  var input: (Int64) -> (Float, Float)

  init(_ response: ImpulseResponse, _ input: @escaping (Int64) -> (Float, Float)) {
    convolver = Convolver(response, rewindFrames: 4_096, channelCount: 2)
    self.input = input
  }

  mutating func write(to end: Int64, piece: Int = 300) {
    while convolver.next < end {
      let count = min(piece, convolver.room)
      let place = convolver.place
      var isSilent = true
      for i in 0..<count {
        let (left, right) = input(convolver.next + Int64(i))
        (place[2 * i], place[2 * i + 1]) = (left, right)
        isSilent = isSilent && left == 0 && right == 0
      }
      convolver.wrote(count, isSilent: isSilent)
    }
  }

  /// Device frames, filtered.
  mutating func read(_ frames: Range<Int64>) -> [(Float, Float)] {
    var out: [(Float, Float)] = []
    for first in stride(from: frames.lowerBound, to: frames.upperBound, by: 128) {
      let count = Int(min(128, frames.upperBound - first))
      write(to: first + Int64(count) + convolver.reach + Int64(Convolver.block))
      var samples = [Float](repeating: .nan, count: 2 * count)
      samples.withUnsafeMutableBufferPointer {
        convolver.read(
          from: first, into: $0.baseAddress!, frames: count,
          CrossFade(sampleRate: 48_000, share: 1))
      }
      out += (0..<count).map { (samples[2 * $0], samples[2 * $0 + 1]) }
    }
    return out
  }
}

private func noise(_ frame: Int64, _ channel: UInt64) -> Float {
  var generator = SplitMix64(seed: UInt64(bitPattern: frame) &* 2 &+ channel)
  return .random(in: -1...1, using: &generator)
}

private func response(_ frames: Int, channels: Int = 1, peak: Int) -> ImpulseResponse {
  let values = (0..<channels).map { channel in
    (0..<frames).map { frame in
      frame == peak ? 0.9 : 0.01 * noise(Int64(frame), UInt64(7 + channel))
    }
  }
  return ImpulseResponse(rate: 48_000, channels: values)!
}

@Suite struct ConvolverTests {
  @Test(arguments: [2, 16, 512])
  func `a transform agrees with its definition, and comes back`(size: Int) {
    let fft = RealFFT(size: size)
    let samples = (0..<2 * size).map { noise(Int64($0), 3) }
    var re = [Float](repeating: 0, count: size + 1)
    var (im, back) = (re, samples.map { _ in Float(0) })
    fft.forward(samples, &re, &im)
    fft.inverse(re, im, &back)
    for (sample, value) in zip(samples, back) { #expect(abs(sample - value) < 1e-5) }
    for k in Set([0, 1, size / 2, size - 1, size]) {
      var (sumRe, sumIm) = (0.0, 0.0)
      for (n, sample) in samples.enumerated() {
        let angle = -Double.pi * Double(k * n) / Double(size)
        sumRe += Double(sample) * cos(angle)
        sumIm += Double(sample) * sin(angle)
      }
      #expect(abs(sumRe - Double(re[k])) < 1e-4)
      #expect(abs(sumIm - Double(im[k])) < 1e-4)
    }
  }

  @Test(arguments: [(1, 0), (511, 3), (512, 511), (513, 20), (3_000, 1_500)])
  func `blocks agree with the sum of products to -120 dB`(frames: Int, peak: Int) {
    let filter = response(frames, channels: 2, peak: peak)
    var room = Room(filter) { ($0 < 0 ? 0 : noise($0, 0), $0 < 0 ? 0 : noise($0, 1)) }
    let heard = room.read(0..<6_000)
    var pairs: [(heard: Double, expected: Double)] = []
    for frame in stride(from: 0, to: 6_000, by: 37) {
      var sums = (0.0, 0.0)
      for tap in 0..<frames {
        let source = Int64(frame + peak - tap)
        guard source >= 0 else { break }
        sums.0 += Double(filter.channels[0][tap]) * Double(noise(source, 0))
        sums.1 += Double(filter.channels[1][tap]) * Double(noise(source, 1))
      }
      pairs.append((Double(heard[frame].0), sums.0))
      pairs.append((Double(heard[frame].1), sums.1))
    }
    // The filter is made quieter so that no sine gets louder: by the gain that fits best.
    let power = pairs.reduce(0) { $0 + $1.expected * $1.expected }
    let gain = pairs.reduce(0) { $0 + $1.heard * $1.expected } / power
    let error = pairs.reduce(0) { $0 + pow($1.heard - gain * $1.expected, 2) }
    #expect(gain > 0 && gain < 1.000_001)
    #expect(decibels((error / power).squareRoot() / gain) < -120)
  }

  @Test func `an impulse comes out at its frame, with the filter around it`() {
    let filter = ImpulseResponse(
      rate: 48_000, channels: [(0..<2_001).map { exp(-abs(Float($0) - 1_000) / 50) / 120 }])!
    #expect(filter.peak == 1_000)
    var room = Room(filter) { $0 == 5_000 ? (1, -1) : (0, 0) }
    let heard = room.read(0..<9_000)
    let loudest = heard.indices.max { abs(heard[$0].0) < abs(heard[$1].0) }
    #expect(loudest == 5_000)
    for distance in 1...1_000 {
      #expect(abs(heard[5_000 - distance].0 - heard[5_000 + distance].0) < 1e-7)
      #expect(heard[5_000 - distance].0 == -heard[5_000 - distance].1)
    }
    #expect(abs(heard[3_900].0) < 1e-7 && abs(heard[6_100].0) < 1e-7)
  }

  @Test func `going back and on gives the same`() {
    let filter = response(2_000, peak: 700)
    var plain = Room(filter) { $0 < 100 ? (0, 0) : (noise($0, 0), noise($0, 1)) }
    let expected = plain.read(0..<12_000)
    var room = Room(filter) { $0 < 100 ? (0, 0) : (noise($0, 0), noise($0, 1)) }
    var generator = SplitMix64(seed: 5)
    for turn in 1..<24 {
      let end = Int64(turn * 500)
      let first = max(0, end - 1_500)
      let heard = room.read(first..<end)
      for (index, frame) in heard.enumerated() {
        #expect(abs(frame.0 - expected[Int(first) + index].0) < 1e-6)
      }
      room.convolver.rewind(
        to: max(0, room.convolver.next - .random(in: 0...4_000, using: &generator)))
    }
  }

  @Test func `what was there before the beginning is not heard`() {
    var room = Room(response(1_500, peak: 10)) { (noise($0, 0), noise($0, 1)) }
    _ = room.read(0..<3_000)
    room.convolver.begin(at: 3_333)
    room.input = { $0 == 3_334 ? (1, 1) : (0, 0) }
    let heard = room.read(3_333..<6_000)
    #expect(heard.prefix { $0.0 == 0 }.isEmpty)
    #expect(heard.suffix(500).allSatisfy { $0.0 == 0 })
  }

  @Test(arguments: [(44_100, 48_000), (48_000, 44_100), (48_000, 192_000), (96_000, 48_000)])
  func `at another rate a filter is the same filter`(from: Int, to: Int) throws {
    // A low-pass of linear phase.
    let sinc = KaiserSinc(halfWidth: 200, cutoff: 0.2 * 48_000 / Double(from), beta: 8)
    let filter = try #require(
      ImpulseResponse(rate: from, channels: [sinc.coefficients(count: 401, centre: 200)]))
    let converted = filter.converted(to: to)
    #expect(converted.rate == to)
    let values = converted.channels[0]
    for distance in 1..<100 {
      #expect(
        abs(values[converted.peak - distance] - values[converted.peak + distance]) < 1e-6)
    }
    for frequency in [0, 100, 1_000, 3_000, 4_000] as [Double] {
      let found = gain(values, peak: converted.peak, at: frequency / Double(to))
      let expected = gain(filter.channels[0], peak: 200, at: frequency / Double(from))
      #expect(abs(found - expected) < 0.001)
    }
  }

  @Test func `the longest filter stays within its bounds at the highest rate`() throws {
    var values = [Float](repeating: 0, count: ImpulseResponse.mostFrames)
    values[ImpulseResponse.mostFramesBeforePeak] = 1
    let filter = try #require(ImpulseResponse(rate: 44_100, channels: [values]))
    let converted = filter.converted(to: 192_000)
    #expect(converted.frameCount <= ImpulseResponse.mostFrames)
    #expect(converted.peak == ImpulseResponse.mostFramesBeforePeak)
  }

  /// The gain of a filter that is symmetric around its peak.
  private func gain(_ values: [Float], peak: Int, at turns: Double) -> Double {
    values.enumerated().reduce(0) {
      $0 + Double($1.element) * cos(2 * .pi * turns * Double($1.offset - peak))
    }
  }
}
