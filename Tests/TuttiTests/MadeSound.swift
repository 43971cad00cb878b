import Tutti

/// An item of ten minutes, the same in both channels, of which a function of the frame gives each sample.
final class MadeSound: SampleSource {
  let format = PCMFormat.stereo48k
  let frameCount: Int64? = 600 * 48_000
  private let sample: (Int64) -> Float
  private var next: Int64 = 0

  init(_ sample: @escaping (Int64) -> Float) { self.sample = sample }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(count), 600 * 48_000)
    while next < end {
      let level = sample(next)
      frames += [level, level]
      next += 1
    }
  }

  func seek(toFrame frame: Int64) { next = frame }
}
