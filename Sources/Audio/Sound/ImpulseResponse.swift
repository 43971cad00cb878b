package import Clock

/// The impulse response of a FIR filter, at one sample rate.
package struct ImpulseResponse: Hashable, Sendable {
  /// Frames of a filter at most: 1.4 s at 48 kHz, what tools for measuring rooms make.
  package static let mostFrames = 65_536
  /// Frames before the peak at most: half of a filter of linear phase. They are read ahead of what sounds.
  package static let mostFramesBeforePeak = 32_768
  /// Frames over which a filter is faded where it had to be cut.
  private static let edgeFrames = 256

  /// In Hz.
  package let rate: Int
  /// One channel for both, or two. Equally many frames in each, `mostFrames` at most.
  package let channels: [[Float]]
  /// The frame of the largest value. What is filtered sounds when this frame of it does.
  package let peak: Int

  /// At any rate: a conversion rings for up to 5 ms before the filter.
  package var timeToPeak: Nanoseconds {
    Nanoseconds(Int64(peak) * 1_000_000_000 / Int64(rate)) + .milliseconds(5)
  }
  package var frameCount: Int { channels.first?.count ?? 0 }

  /// Nil if there is no channel or no frame, if there are too many of either, if the peak comes too late, if the rate is
  /// none of `AudioFormat.supportedRates`, or if a value is no number or all are zero.
  package init?(rate: Int, channels: [[Float]]) {
    guard AudioFormat.supportedRates.contains(rate), (1...2).contains(channels.count),
      let count = channels.first?.count, (1...Self.mostFrames).contains(count),
      channels.allSatisfy({ $0.count == count && $0.allSatisfy { $0.magnitude <= 1e6 } }),
      let peak = Self.peak(of: channels), peak <= Self.mostFramesBeforePeak
    else { return nil }
    self.init(rate, channels, peak: peak)
  }

  private init(_ rate: Int, _ channels: [[Float]], peak: Int) {
    (self.rate, self.channels, self.peak) = (rate, channels, peak)
  }

  /// Leaves everything as it is.
  package static let unit = ImpulseResponse(48_000, [[1]], peak: 0)

  private static func peak(of channels: [[Float]]) -> Int? {
    var (place, largest): (Int?, Float) = (nil, 0)
    for channel in channels {
      for (index, value) in channel.enumerated() where value.magnitude > largest {
        (place, largest) = (index, value.magnitude)
      }
    }
    return place
  }

  /// Returns the same filter at another rate. Its peak falls on a frame again. If it has too many frames there, it is cut
  /// at the ends.
  package func converted(to newRate: Int) -> ImpulseResponse {
    guard newRate != rate else { return self }
    let filter = RateFilter(from: rate, to: newRate)
    // As many samples more or fewer must have the same sum.
    let scale = Float(Double(rate) / Double(newRate))
    // The conversion rings before the filter and after it.
    let silence = [Float](repeating: 0, count: filter.halfLength)
    // The part before the peak is at negative times, so that the peak is at time zero on both grids.
    let start = -Int64(peak + silence.count)
    let first = filter.ratio.firstFrame(from: start)
    let converted = channels.map { channel in
      var converter = RateConverter(filter, channelCount: 1, startingAt: start)
      var output: [Float] = []
      converter.convert(silence + channel + silence, appendingTo: &output)
      converter.finish(appendingTo: &output)
      return output.map { $0 * scale }
    }
    let begin = max(0, Int(-first) - Self.mostFramesBeforePeak)
    return ImpulseResponse(
      newRate, converted.map { Self.cut($0, from: begin) }, peak: Int(-first) - begin)
  }

  /// Keeps as many frames as are allowed, and fades where it cuts.
  private static func cut(_ channel: [Float], from begin: Int) -> [Float] {
    let end = min(channel.count, begin + mostFrames)
    var kept = Array(channel[begin..<end])
    for i in 0..<min(edgeFrames, kept.count / 2) {
      let gain = fadeIn(at: Double(i) / Double(edgeFrames))
      if begin > 0 { kept[i] *= gain }
      if end < channel.count { kept[kept.count - 1 - i] *= gain }
    }
    return kept
  }
}
