internal import Audio
internal import FFmpegSource

/// What a decoder must know before the first packet of compressed audio.
public struct CompressedFormat: Hashable, Sendable {
  public enum Codec: Hashable, Sendable, CaseIterable {
    case flac
    case opus
    case mp3
    /// AAC-LC, with or without SBR and PS, in packets without ADTS headers.
    case aac
    case alac
    case ac3
    case eac3
  }

  public let codec: Codec
  let description: PacketDescription

  /// - Parameters:
  ///   - codec: of the packets.
  ///   - sampleRate: of what is decoded, in Hz; one of `PCMFormat.supportedSampleRates`, and 48 000 for Opus.
  ///   - channelCount: of what is decoded.
  ///   - configuration: the codec's own header, as containers carry it: STREAMINFO of FLAC (34 bytes), OpusHead,
  ///     AudioSpecificConfig of AAC, ALACSpecificConfig (24 bytes); nothing for the others.
  /// - Throws: `TuttiError.invalid` where they do not fit together.
  public init(
    _ codec: Codec, sampleRate: Int, channelCount: Int, configuration: [UInt8] = []
  ) throws(TuttiError) {
    let audio = AudioFormat(sampleRate: sampleRate, channelCount: channelCount)
    guard
      let description = PacketDescription(codec.codec, audio, configuration: configuration)
    else {
      throw .invalid(
        "\(codec) of \(channelCount) channels at \(sampleRate) Hz does not fit a configuration of "
          + "\(configuration.count) bytes")
    }
    self.codec = codec
    self.description = description
  }

  /// In Hz.
  public var sampleRate: Int { description.format.audio.sampleRate }
  public var channelCount: Int { description.format.audio.channelCount }
}

extension CompressedFormat.Codec {
  var codec: Codec {
    switch self {
    case .flac: .flac
    case .opus: .opus
    case .mp3: .mp3
    case .aac: .aac
    case .alac: .alac
    case .ac3: .ac3
    case .eac3: .eac3
    }
  }
}

/// One packet of compressed audio, with the time at which the first frame of it that is heard is to sound.
public struct CompressedBuffer: Hashable, Sendable {
  /// Of one packet, in bytes.
  static let byteLimit = 512 << 10

  public let format: CompressedFormat
  /// On the timeline of the `RenderSynchronizer`. Where it is within 2 ms of the end of the packet before, as containers
  /// round, it follows that without a gap.
  public let presentationTime: PlaybackTime
  public let packet: [UInt8]
  /// Frames that the packet decodes to and nobody hears, at its beginning: encoders put some before the sound.
  public let trimAtStart: Int
  /// Frames that are heard.
  public let frameCount: Int

  /// - Parameters:
  ///   - packet: without what a container puts around it.
  ///   - trimAtStart: frames that are not heard; of a packet that only prepares the decoder, all.
  ///   - trimAtEnd: the same at its end.
  /// - Throws: `TuttiError.invalid` where the packet is none of the format, or has fewer frames.
  public init(
    _ packet: [UInt8], format: CompressedFormat, at presentationTime: PlaybackTime,
    trimAtStart: Int = 0, trimAtEnd: Int = 0
  ) throws(TuttiError) {
    guard packet.count <= Self.byteLimit, let count = format.description.frameCount(of: packet)
    else { throw .invalid("\(packet.count) bytes are no packet of \(format.codec)") }
    guard trimAtStart >= 0, trimAtEnd >= 0, trimAtStart <= count, trimAtEnd <= count - trimAtStart
    else {
      throw .invalid("of \(count) frames \(trimAtStart) and \(trimAtEnd) cannot be trimmed")
    }
    self.format = format
    self.presentationTime = presentationTime
    self.packet = packet
    self.trimAtStart = trimAtStart
    frameCount = count - trimAtStart - trimAtEnd
  }

  /// Where the next packet begins, if it follows without a gap.
  public var endTime: PlaybackTime {
    PlaybackTime(
      frame: presentationTime.frame(at: format.sampleRate) + Int64(frameCount),
      at: format.sampleRate)
  }
}
