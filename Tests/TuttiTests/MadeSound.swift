import Tutti

/// An item that is the same in both channels, of which a function of the frame gives each sample.
final class MadeSound: SampleSource {
  let format = PCMFormat.stereo48k
  let frameCount: Int64?
  private let sample: (Int64) -> Float
  private let end: Int64
  private var next: Int64 = 0

  init(seconds: Double = 600, _ sample: @escaping (Int64) -> Float) {
    self.sample = sample
    end = Int64(seconds * 48_000)
    frameCount = end
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(count), end)
    while next < end {
      let level = sample(next)
      frames += [level, level]
      next += 1
    }
  }

  func seek(toFrame frame: Int64) { next = frame }
}
