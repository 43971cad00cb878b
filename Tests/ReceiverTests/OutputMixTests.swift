import Audio
import Receiver
import Testing

@Suite struct OutputMixTests {
  private func apply(_ mix: inout OutputMix, to frame: [Float], frames: Int) -> [Float] {
    var samples = (0..<frames).flatMap { _ in frame }
    samples.withUnsafeMutableBufferPointer { mix.apply(to: $0.baseAddress!, frames: frames) }
    return samples
  }

  @Test func `frames pass untouched at full volume`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 2)
    #expect(apply(&mix, to: [0.1, -0.7], frames: 3) == [0.1, -0.7, 0.1, -0.7, 0.1, -0.7])
  }

  @Test func `the volume moves in small steps and arrives within 20 ms`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 1)
    mix.setGain(0)
    let samples = apply(&mix, to: [1], frames: 1000)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs($0 - $1) < 0.002 })
    #expect(samples[960...].allSatisfy { $0 == 0 })
  }

  @Test func `a gain that is none counts as silence, and one above full as full`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 1)
    mix.setGain(.nan)
    #expect(apply(&mix, to: [1], frames: 1000).last == 0)
    mix.setGain(7)
    #expect(apply(&mix, to: [1], frames: 1000).last == 1)
  }

  @Test func `the map mixes the first two channels and leaves the others`() {
    var mix = OutputMix(sampleRate: 48_000, channelCount: 3)
    mix.setMap(left: ChannelMix(left: 0, right: 1), right: ChannelMix(left: 0.5, right: 0.5))
    let samples = apply(&mix, to: [0.25, 0.75, 0.5], frames: 1000)
    #expect(Array(samples.suffix(3)) == [0.75, 0.5, 0.5])
    #expect(zip(samples, samples.dropFirst(3)).allSatisfy { abs($0 - $1) < 0.002 })
  }
}
