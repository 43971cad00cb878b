internal import Audio

/// The format of a program's audio: interleaved `Float` samples, `[frame][channel]`, full scale ±1.
public struct PCMFormat: Hashable, Sendable {
  /// Number of bits that lossless codecs keep of each sample.
  public enum Resolution: Hashable, Sendable {
    case int16
    case int24
  }

  /// In Hz.
  public let sampleRate: Int
  public let channelCount: Int
  public let resolution: Resolution

  /// - Parameters:
  ///   - sampleRate: in Hz; one of `supportedSampleRates`.
  ///   - channelCount: 1 to 8; rooms play 1 or 2, and mix more down.
  ///   - resolution: the bits that lossless codecs keep of each sample.
  /// - Throws: `TuttiError.invalid` for any other format.
  public init(
    sampleRate: Int = 48_000, channelCount: Int = 2, resolution: Resolution = .int24
  ) throws(TuttiError) {
    let audio = AudioFormat(sampleRate: sampleRate, channelCount: channelCount)
    guard audio.isSupported else {
      throw .invalid(
        "\(channelCount) channels at \(sampleRate) Hz cannot be played; "
          + "allowed are 1 to \(AudioFormat.maximumChannelCount) channels at "
          + AudioFormat.supportedRates.map(String.init).joined(separator: ", ") + " Hz")
    }
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.resolution = resolution
  }

  /// 48 kHz, two channels, 24 bits.
  public static let stereo48k = PCMFormat()

  public static let supportedSampleRates = AudioFormat.supportedRates

  private init() {
    (sampleRate, channelCount, resolution) = (48_000, 2, .int24)
  }

  /// That of a source, which is supported.
  init(_ audio: AudioFormat, _ type: SampleType) {
    (sampleRate, channelCount) = (audio.sampleRate, audio.channelCount)
    resolution = type == .int16 ? .int16 : .int24
  }

  var audio: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: channelCount) }
  var sampleType: SampleType {
    switch resolution {
    case .int16: .int16
    case .int24: .int24
    }
  }
}

/// Audio with the time at which its first frame is to sound.
public struct AudioBuffer: Hashable, Sendable {
  public let format: PCMFormat
  /// Time on the timeline of the `RenderSynchronizer`, rounded to the nearest whole frame.
  public let presentationTime: PlaybackTime
  /// Interleaved, `[frame][channel]`, full scale ±1. Larger values are clipped; NaN becomes silence.
  public let samples: [Float]

  /// - Throws: `TuttiError.invalid` if `samples` are not whole frames.
  public init(
    _ samples: [Float], format: PCMFormat, at presentationTime: PlaybackTime
  ) throws(TuttiError) {
    guard samples.count.isMultiple(of: format.channelCount) else {
      throw .invalid(
        "\(samples.count) samples are not whole frames of \(format.channelCount) channels")
    }
    self.samples = samples
    self.format = format
    self.presentationTime = presentationTime
  }

  /// The same samples at another time.
  func moved(to time: PlaybackTime) -> AudioBuffer {
    AudioBuffer(whole: samples, format: format, at: time)
  }

  /// Samples that are known to be whole frames.
  init(whole samples: [Float], format: PCMFormat, at time: PlaybackTime) {
    (self.samples, self.format, presentationTime) = (samples, format, time)
  }

  public var frameCount: Int { samples.count / format.channelCount }
  /// The time at which the next buffer begins, if it follows without a gap.
  public var endTime: PlaybackTime {
    PlaybackTime(frame: startFrame + Int64(frameCount), at: format.sampleRate)
  }

  var startFrame: Int64 { presentationTime.frame(at: format.sampleRate) }
}
