internal import Audio
internal import FFmpegSource

/// The codec, sample rate, number of channels and configuration that a decoder of compressed audio needs.
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
  ///   - sampleRate: of the decoded audio, in Hz; one of `PCMFormat.supportedSampleRates`, and 48 000 for Opus.
  ///   - channelCount: of the decoded audio.
  ///   - configuration: the codec's own header, as containers carry it: STREAMINFO of FLAC (34 bytes), OpusHead,
  ///     AudioSpecificConfig of AAC, ALACSpecificConfig (24 bytes); empty for the others.
  /// - Throws: `TuttiError.invalid` if they do not fit together.
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

  /// The forms of AAC.
  public enum AACProfile: Hashable, Sendable {
    /// AAC-LC: packets of 1024 frames, or 960.
    case lowComplexity
    /// HE-AAC: packets of twice as many frames, at twice the rate of the core.
    case highEfficiency
    /// HE-AAC v2: the same, and two channels of one.
    case highEfficiencyV2
  }

  /// The form of AAC; nil for other codecs. Not all streams of HE-AAC say what they are: a ``MediaReader`` finds out.
  public var aacProfile: AACProfile? {
    switch description.profile {
    case .lowComplexity: .lowComplexity
    case .highEfficiency: .highEfficiency
    case .highEfficiencyV2: .highEfficiencyV2
    case nil: nil
    }
  }

  /// In Hz.
  public var sampleRate: Int { description.format.audio.sampleRate }
  public var channelCount: Int { description.format.audio.channelCount }
}

extension CompressedFormat {
  /// Returns nil for codecs whose packets cannot be enqueued.
  init?(_ format: StreamFormat) {
    guard let codec = Codec.allCases.first(where: { $0.codec == format.codec }),
      let description = PacketDescription(
        format.codec, format.audio, configuration: format.configuration)
    else { return nil }
    (self.codec, self.description) = (codec, description)
  }
}

extension CompressedFormat.Codec {
  var codec: Audio.Codec {
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

/// One packet of compressed audio, with the time at which its first audible frame is to sound.
public struct CompressedBuffer: Hashable, Sendable {
  /// Largest packet, in bytes.
  static let byteLimit = 512 << 10

  public let format: CompressedFormat
  /// Time on the timeline of the `RenderSynchronizer`. If it is within 2 ms of the end of the packet before, because
  /// containers round times, the packet follows that one without a gap.
  public let presentationTime: PlaybackTime
  public let packet: [UInt8]
  /// Inaudible frames at the beginning of the decoded packet: encoders put some before the sound.
  public let trimAtStart: Int
  /// Number of audible frames.
  public let frameCount: Int

  /// - Parameters:
  ///   - packet: without the data that a container puts around it.
  ///   - trimAtStart: number of inaudible frames at the beginning; all frames of a packet that only prepares the
  ///     decoder.
  ///   - trimAtEnd: number of inaudible frames at the end.
  /// - Throws: `TuttiError.invalid` if the packet is not of the format, or has fewer frames.
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

  /// The packet at another time.
  func moved(to time: PlaybackTime) -> CompressedBuffer {
    CompressedBuffer(self, at: time)
  }

  private init(_ buffer: CompressedBuffer, at time: PlaybackTime) {
    (format, packet, presentationTime) = (buffer.format, buffer.packet, time)
    (trimAtStart, frameCount) = (buffer.trimAtStart, buffer.frameCount)
  }

  /// A packet of a source.
  ///
  /// - Throws: `TuttiError.invalid` if it is not of the format.
  init(
    _ packet: EncodedPacket, format: CompressedFormat, at time: PlaybackTime
  ) throws(TuttiError) {
    let count = format.description.frameCount(of: packet.payload) ?? 0
    try self.init(
      packet.payload, format: format, at: time, trimAtStart: packet.skippedFrames,
      trimAtEnd: count - packet.skippedFrames - packet.frameCount)
  }

  /// The time at which the next packet begins, if it follows without a gap.
  public var endTime: PlaybackTime {
    PlaybackTime(
      frame: presentationTime.frame(at: format.sampleRate) + Int64(frameCount),
      at: format.sampleRate)
  }
}
