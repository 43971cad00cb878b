import Audio
import CResamplers

/// One way to resample stereo frames by a ratio of output rate to input rate.
struct Candidate: Sendable {
  var name: String
  /// Interleaved stereo in and out.
  var run: @Sendable ([Float], _ ratio: Double) -> [Float]

  static func library(_ name: String, _ kind: LibraryKind) -> Candidate {
    Candidate(name: name) { input, ratio in
      guard let resampler = resampler_create(kind, ratio) else { return [] }
      defer { resampler_destroy(resampler) }
      let capacity = Int(Double(input.count / 2) * ratio) + 100_000
      return [Float](unsafeUninitializedCapacity: 2 * capacity) { output, count in
        count =
          2
          * resampler_run(
            resampler, input, input.count / 2, output.baseAddress, capacity)
      }
    }
  }
}

/// Resamples like the renderer: runs of 480 frames from one stretch of memory.
func follow(_ input: [Float], rate: Int, ratio: Double) -> [Float] {
  let kernel = ResamplerKernel(channelCount: 2, sampleRate: rate)
  let frames = Int(Double(input.count / 2) * ratio) + 480
  return [Float](unsafeUninitializedCapacity: 2 * frames) { output, count in
    input.withUnsafeBufferPointer { input in
      guard let source = input.baseAddress, let target = output.baseAddress else { return }
      var cursor = ResamplerCursor(
        position: Double(kernel.framesBefore), step: 1 / ratio)
      var rendered = 0
      while rendered + 480 <= frames {
        let made = kernel.render(
          from: source, sourceFrames: input.count / 2, at: &cursor, into: target + 2 * rendered,
          frames: 480)
        rendered += made
        if made < 480 { break }
      }
      count = 2 * rendered
    }
  }
}

/// Resamples like the sender: blocks of 1024 frames.
func convert(_ input: [Float], ratio: Double) -> [Float] {
  var converter = RateConverter(from: 44_100, to: 48_000, channelCount: 2, startingAt: 0)
  var output: [Float] = []
  for start in stride(from: 0, to: input.count, by: 2_048) {
    let end = min(start + 2_048, input.count)
    converter.convert(Array(input[start..<end]), appendingTo: &output)
  }
  converter.finish(appendingTo: &output)
  return output
}
