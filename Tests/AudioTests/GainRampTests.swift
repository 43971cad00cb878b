import Audio
import TestSupport
import Testing

@Suite struct GainRampTests {
  @Test func `a ramp ends at its target and stays there`() {
    var ramp = GainRamp(gain: 1)
    ramp.move(to: 0.25, over: 100)
    let gains = apply(&ramp, frames: 150)
    #expect(gains[0] == 1)
    #expect(gains[99] > 0.25)
    #expect(gains[100...].allSatisfy { $0 == 0.25 })
    #expect(!ramp.isMoving)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `no step is larger than the shape allows, however often the target moves`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var ramp = GainRamp(gain: 0)
    var gains: [Float] = []
    for _ in 0..<20 {
      ramp.move(to: .random(in: 0...1, using: &generator), over: 96)
      gains += apply(&ramp, frames: .random(in: 0...150, using: &generator))
    }
    // The cosine is steepest in the middle, by π/2 over a straight line.
    let largest = zip(gains, gains.dropFirst()).map { abs($0 - $1) }.max() ?? 1
    #expect(largest <= Float.pi / 2 / 96 + 1e-6)
  }

  @Test func `blocks of any size give the same as one`() {
    var whole = GainRamp(gain: 0.1)
    whole.move(to: 1, over: 480)
    var pieces = whole
    let expected = apply(&whole, frames: 600)
    var found: [Float] = []
    for size in [0, 1, 7, 200, 272, 1, 119] { found += apply(&pieces, frames: size) }
    #expect(found == expected)
  }

  @Test func `a move over no frames is a step`() {
    var ramp = GainRamp(gain: 1)
    ramp.move(to: 0, over: 0)
    #expect(apply(&ramp, frames: 3) == [0, 0, 0])
  }

  @Test func `all channels of a frame get the same gain`() {
    var ramp = GainRamp(gain: 0)
    ramp.move(to: 1, over: 10)
    let samples = apply(&ramp, frames: 20, channelCount: 3)
    for frame in 0..<20 { #expect(Set(samples[3 * frame..<3 * frame + 3]).count == 1) }
  }

  @Test func `two fades that cross add up to one`() {
    #expect(fadeIn(at: 0) == 0)
    #expect(fadeIn(at: 0.5) == 0.5)
    #expect(fadeIn(at: 1) == 1)
    #expect(fadeIn(at: -1) == 0)
    #expect(fadeIn(at: 2) == 1)
    for step in 0...100 {
      let progress = Double(step) / 100
      #expect(abs(fadeIn(at: progress) + fadeIn(at: 1 - progress) - 1) < 1e-6)
    }
  }
}

/// The gains that a ramp gives to a signal of ones.
private func apply(_ ramp: inout GainRamp, frames: Int, channelCount: Int = 1) -> [Float] {
  var samples = [Float](repeating: 1, count: frames * channelCount)
  samples.withUnsafeMutableBufferPointer { samples in
    guard let base = samples.baseAddress else { return }
    ramp.apply(to: base, frames: frames, channelCount: channelCount)
  }
  return samples
}
