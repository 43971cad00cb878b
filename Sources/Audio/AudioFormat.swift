package import Clock

/// The shape of decoded audio: interleaved `Float` frames, `[frame][channel]`, full scale ±1.
package struct AudioFormat: Hashable, Sendable {
  /// Frames per second. One of `supportedRates`.
  package var sampleRate: Int
  /// 1 to `maximumChannelCount`.
  package var channelCount: Int

  package init(sampleRate: Int, channelCount: Int) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// The rates that media time can count exactly and that sound cards know.
  package static let supportedRates = [
    8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400,
    192_000,
  ]
  package static let maximumChannelCount = 8

  package var isSupported: Bool {
    Self.supportedRates.contains(sampleRate)
      && (1...Self.maximumChannelCount).contains(channelCount)
  }

  package func duration(ofFrames count: Int) -> MediaDuration {
    MediaDuration(frames: Int64(count), at: sampleRate)
  }
}
