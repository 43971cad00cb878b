import Audio
import Clock
import Receiver
import TestSupport
import Testing

@Suite struct OutputMixTests {
  private func apply(
    _ mix: inout OutputMix, to frame: [Float], at first: Int64 = 0, frames: Int
  ) -> [Float] {
    var samples = (0..<frames).flatMap { _ in frame }
    samples.withUnsafeMutableBufferPointer {
      guard let base = $0.baseAddress else { return }
      mix.apply(to: base, at: first, frames: frames)
    }
    return samples
  }

  @Test func `frames pass untouched at full volume`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 2)
    #expect(apply(&mix, to: [0.1, -0.7], frames: 3) == [0.1, -0.7, 0.1, -0.7, 0.1, -0.7])
  }

  @Test func `the volume moves in small steps and arrives within 20 ms`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 1)
    _ = mix.setGain(0)
    let samples = apply(&mix, to: [1], frames: 1000)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs($0 - $1) < 0.002 })
    #expect(samples[960...].allSatisfy { $0 == 0 })
  }

  @Test func `the first sound has its volume from its first frame on`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 1)
    _ = mix.setGain(0.25)
    // A little silence comes first.
    _ = apply(&mix, to: [0], frames: 100)
    mix.settle()
    #expect(apply(&mix, to: [1], at: 100, frames: 1000).allSatisfy { $0 == 0.25 })
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `no step is larger than the shape allows, however often the volume changes`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var mix = OutputMix(sampleRate: 4800, channelCount: 1)
    var gains: [Float] = []
    for _ in 0..<20 {
      _ = mix.setGain(.random(in: 0...1, using: &generator))
      gains += apply(
        &mix, to: [1], at: Int64(gains.count), frames: .random(in: 0...150, using: &generator))
    }
    // The cosine is steepest in the middle, by π/2 relative to a straight line.
    let largest = zip(gains, gains.dropFirst()).map { abs($0 - $1) }.max() ?? 1
    #expect(largest <= Float.pi / 2 / 96 + 1e-6)
  }

  @Test func `blocks of any size give the same as one`() {
    var whole = OutputMix(sampleRate: 24_000, channelCount: 1)
    _ = whole.setGain(0.1)
    var pieces = whole
    let expected = apply(&whole, to: [1], frames: 600)
    var found: [Float] = []
    for size in [0, 1, 7, 200, 272, 1, 119] {
      found += apply(&pieces, to: [1], at: Int64(found.count), frames: size)
    }
    #expect(found == expected)
  }

  @Test func `frames that are rendered again in a ramp get what they had`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 1)
    _ = mix.setGain(0)
    let first = apply(&mix, to: [1], at: 100, frames: 700)
    #expect(apply(&mix, to: [1], at: 400, frames: 400) == Array(first[300...]))
    // A change takes effect where rendering starts again, from the gain that sounds there.
    _ = mix.setGain(1)
    let again = apply(&mix, to: [1], at: 400, frames: 1000)
    #expect(again.first == first[300])
    #expect(again.last == 1)
  }

  @Test func `a gain that is none counts as silence, and one above full as full`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 1)
    _ = mix.setGain(.nan)
    #expect(apply(&mix, to: [1], frames: 1000).last == 0)
    _ = mix.setGain(7)
    #expect(apply(&mix, to: [1], at: 1000, frames: 1000).last == 1)
  }

  @Test func `a setting that is the same as before changes nothing`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 2)
    let changes = [
      mix.setGain(1), mix.setGain(0.5), mix.setGain(0.5),
      mix.setMap(left: ChannelMix(left: 1, right: 0), right: ChannelMix(left: 0, right: 1)),
    ]
    #expect(changes == [false, true, false, false])
  }

  @Test func `the map mixes the first two channels and leaves the others`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 3)
    _ = mix.setMap(left: ChannelMix(left: 0, right: 1), right: ChannelMix(left: 0.5, right: 0.5))
    let samples = apply(&mix, to: [0.25, 0.75, 0.5], frames: 1000)
    #expect(Array(samples.suffix(3)) == [0.75, 0.5, 0.5])
    #expect(zip(samples, samples.dropFirst(3)).allSatisfy { abs($0 - $1) < 0.002 })
  }
}
