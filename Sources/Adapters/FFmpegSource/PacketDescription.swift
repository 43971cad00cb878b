package import Audio

/// The format of packets without a container, as their supplier describes them. Needs no FFmpeg.
package struct PacketDescription: Hashable, Sendable {
  /// Seconds of preceding packets after which a decoder gives the same result as from the start: MP3's bit reservoir
  /// is up to 511 bytes deep, Opus needs 80 ms, and SBR repeats its header about twice a second.
  private static let lead = 0.3
  private static let leadWithReplication = 1.0

  package let format: StreamFormat
  /// Frames per packet of AAC and ALAC.
  private let framesPerPacket: Int

  /// Returns nil if the configuration is not valid for the codec, sample rate and number of channels, and for codecs
  /// whose packets do not tell their length.
  package init?(_ codec: Codec, _ audio: AudioFormat, configuration: [UInt8]) {
    guard audio.isSupported else { return nil }
    var (bytes, frames, type) = (configuration, 0, SampleType.float32)
    switch codec {
    case .pcm, .vorbis: return nil
    case .mp3, .ac3, .eac3: guard bytes.isEmpty else { return nil }
    case .opus:
      guard bytes.count >= 19, bytes.starts(with: "OpusHead".utf8), audio.sampleRate == 48_000,
        Int(bytes[9]) == audio.channelCount
      else { return nil }
    case .flac:
      guard bytes.count == 34,
        Int(bytes[10]) << 12 | Int(bytes[11]) << 4 | Int(bytes[12]) >> 4
          == audio.sampleRate, Int(bytes[12] >> 1 & 7) + 1 == audio.channelCount
      else { return nil }
      type = (Int(bytes[12] & 1) << 4 | Int(bytes[13] >> 4)) + 1 <= 16 ? .int16 : .int24
    case .alac:
      guard bytes.count == 24, Int(bytes[9]) == audio.channelCount else { return nil }
      frames = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
      guard (1...65_536).contains(frames) else { return nil }
      type = bytes[5] <= 16 ? .int16 : .int24
    case .aac:
      guard
        let explicit = AudioSpecificConfig(bytes)?.signalling(
          rate: audio.sampleRate, channelCount: audio.channelCount)
      else { return nil }
      bytes = explicit.bytes
      frames = explicit.coreFrameCount * (audio.sampleRate / explicit.coreRate)
    }
    framesPerPacket = frames
    format = StreamFormat(codec: codec, audio: audio, sampleType: type, configuration: bytes)
  }

  /// Returns nil for a packet that is broken, or of another format.
  package func frameCount(of packet: [UInt8]) -> Int? {
    PacketMeter(format.codec, format.audio, constant: framesPerPacket).frameCount(of: packet)
  }

  /// The forms of AAC that are passed on.
  package enum AACProfile: Hashable, Sendable {
    case lowComplexity
    /// With SBR, which doubles the sample rate of the core.
    case highEfficiency
    /// With SBR, and with PS, which makes two channels of one.
    case highEfficiencyV2
  }

  /// Nil for other codecs.
  package var profile: AACProfile? {
    guard format.codec == .aac, let configuration = AudioSpecificConfig(format.configuration)
    else { return nil }
    guard configuration.coreRate < format.audio.sampleRate else { return .lowComplexity }
    return configuration.coreChannelCount < format.audio.channelCount
      ? .highEfficiencyV2 : .highEfficiency
  }

  /// Frames before a place whose packets prepare a decoder that begins there.
  package var leadFrames: Int64 {
    Self.leadFrames(before: format, framesPerPacket: framesPerPacket)
  }

  static func leadFrames(before format: StreamFormat, framesPerPacket: Int) -> Int64 {
    let seconds: Double
    switch format.codec {
    case .pcm, .flac, .alac: return 0
    case .aac where framesPerPacket > 1_024: seconds = leadWithReplication
    case .aac, .opus, .mp3, .vorbis, .ac3, .eac3: seconds = lead
    }
    return Int64(seconds * Double(format.audio.sampleRate))
  }
}
