import Tutti

/// A chord of sines that fades in and out: audio that no file holds.
final class Chord: SampleSource {
  let format = PCMFormat.stereo48k
  let title: String?
  let frameCount: Int64?
  private let frequencies: [Double]
  private var next: Int64 = 0

  init(_ title: String, seconds: Double, _ frequencies: [Double]) {
    self.title = title
    self.frequencies = frequencies
    frameCount = Int64(seconds * 48_000)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(count), frameCount ?? .max)
    while next < end {
      let sample = Float(sample(next))
      frames += [sample, sample]
      next += 1
    }
  }

  func seek(toFrame frame: Int64) { next = frame }

  private func sample(_ frame: Int64) -> Double {
    let time = Double(frame) / 48_000
    let rest = Double((frameCount ?? .max) - frame) / 48_000
    let sum = frequencies.reduce(0) { $0 + triangle(time * $1) }
    return 0.4 * min(1, 10 * time, 10 * rest) * sum / Double(frequencies.count)
  }

  /// One wave a unit of `phase`.
  private func triangle(_ phase: Double) -> Double {
    4 * abs(phase - (phase + 0.5).rounded(.down)) - 1
  }
}
