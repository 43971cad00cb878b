import CAVCodec

/// The samples of a decoded frame, in any layout of the library.
struct DecodedSamples {
  private let frame: AVFrame
  private let frameCount: Int
  private let channelCount: Int

  /// Returns nil if the frame is empty, or its samples are of a kind that no decoder in use
  /// produces.
  init?(_ frame: AVFrame) {
    guard frame.nb_samples > 0, frame.ch_layout.nb_channels > 0, let planes = frame.extended_data
    else { return nil }
    self.frame = frame
    frameCount = Int(frame.nb_samples)
    channelCount = Int(frame.ch_layout.nb_channels)
    guard isKnown, (0..<planeCount).allSatisfy({ planes[$0] != nil }) else { return nil }
  }

  private var format: AVSampleFormat { AVSampleFormat(frame.format) }

  private var isPlanar: Bool {
    switch format {
    case AV_SAMPLE_FMT_S16P, AV_SAMPLE_FMT_S32P, AV_SAMPLE_FMT_FLTP: true
    default: false
    }
  }

  private var isKnown: Bool {
    isPlanar || [AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_FLT].contains(format)
  }

  private var planeCount: Int { isPlanar ? channelCount : 1 }

  /// Appends the samples, interleaved, full scale ±1.
  func append(to frames: inout [Float]) {
    switch format {
    case AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP:
      append(Float.self, to: &frames) { $0.isFinite ? $0 : 0 }
    case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P:
      append(Int16.self, to: &frames) { Float($0) * (1 / 32_768) }
    default: append(Int32.self, to: &frames) { Float($0) * (1 / 2_147_483_648) }
    }
  }

  private func append<Sample>(
    _: Sample.Type, to frames: inout [Float], _ convert: (Sample) -> Float
  ) {
    let start = frames.count
    frames += repeatElement(0, count: frameCount * channelCount)
    for plane in 0..<planeCount {
      guard let bytes = frame.extended_data[plane] else { continue }
      let count = isPlanar ? frameCount : frameCount * channelCount
      let step = isPlanar ? channelCount : 1
      bytes.withMemoryRebound(to: Sample.self, capacity: count) { samples in
        for index in 0..<count { frames[start + plane + index * step] = convert(samples[index]) }
      }
    }
  }
}
