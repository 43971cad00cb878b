package import Audio
import Codecs
package import Sender

/// The user's choice of a codec for the rooms.
package enum CodecOption: String, CaseIterable, Sendable {
  case auto, pcm, flac, opus
}

/// Chooses the encoder of the audio for the rooms.
package struct EncoderChoice: Sendable {
  private let codec: CodecOption
  private let opus: OpusSettings

  /// - Parameters:
  ///   - bitrate: of Opus, in kbit/s, 6 to 510.
  ///   - packetLength: of Opus, in milliseconds: 2.5, 5, 10, 20, 40 or 60.
  package init(codec: CodecOption, bitrate: Int?, packetLength: Double) throws(DriverError) {
    self.codec = codec
    let frames = Int(exactly: packetLength * 48) ?? 0
    guard let length = OpusSettings.PacketLength(rawValue: frames) else {
      throw .usage("the packet length is 2.5, 5, 10, 20, 40 or 60 ms")
    }
    if let bitrate, !(6...510).contains(bitrate) {
      throw .usage("the bitrate is 6 to 510 kbit/s")
    }
    opus = OpusSettings(packetLength: length, bitrate: bitrate.map { $0 * 1000 })
  }

  /// Makes an encoder for audio whose packets are not passed on. `auto` keeps lossless audio lossless up to 24 bits, the
  /// most that FLAC holds, and compresses the rest again. Samples of 32 bits are rounded to 24: the error of −150 dBFS
  /// is far below the noise of any sound card, and PCM would take two to three times the bytes.
  package func makeEncoder(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
    if shape.isLive { return try live(shape) }
    if shape.isSmall { return try small(shape) }
    return switch codec {
    case .pcm: PCMEncoder(audio: shape.format, sampleType: shape.sampleType)
    case .flac: try flac(shape)
    case .opus: try opusEncoder(shape)
    case .auto: try automatic(shape)
    }
  }

  /// Makes an encoder for live sources: its packets hold 5 ms at most, and fit into a datagram.
  private func live(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
    if codec == .opus, shape.codecs.contains(.opus) {
      var settings = opus
      if settings.packetLength != .frames120 { settings.packetLength = .frames240 }
      return try OpusEncoder(channelCount: shape.format.channelCount, settings: settings)
    }
    var shape = shape
    if shape.sampleType != .int16 { shape.sampleType = .int24 }
    return PCMEncoder(
      audio: shape.format, sampleType: shape.sampleType, packetFrames: shape.livePacketFrames)
  }

  /// Bits per second of each channel of the small encoding: a seventh of what CDs take as FLAC.
  private static let smallBitrate = 48_000

  /// The small encoding for rooms with weak links; nil if the user has asked for a codec.
  package var small: SmallChoice? {
    guard codec == .auto else { return nil }
    return SmallChoice(codec: .opus) {
      SmallEncoder(
        makeDecoder: { format throws(CodecError) in
          switch format.codec {
          case .pcm: try PCMDecoder(format: format)
          case .flac:
            // It may be as a stranger has made it.
            MediaWorkers.shared.isStarted
              ? try WorkerDecoder(format) : try AudioCodecs.makeDecoder(for: format)
          // Small as they are.
          case .opus, .mp3, .aac, .alac, .vorbis, .ac3, .eac3:
            throw .unsupported("\(format.codec) is not made smaller")
          }
        }, makeEncoder: makeEncoder)
    }
  }

  /// Makes the encoder for rooms with weak links.
  private func small(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
    let count = shape.format.channelCount
    return try OpusEncoder(
      channelCount: count, settings: OpusSettings(bitrate: Self.smallBitrate * count))
  }

  /// True if packets of items may be passed on unchanged.
  package var passesPackets: Bool { codec == .auto }

  /// Chooses the codec for `auto`. A room may lack libraries; PCM needs none.
  private func automatic(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
    if !shape.isLossless, shape.codecs.contains(.opus) { return try opusEncoder(shape) }
    if shape.codecs.contains(.flac) { return try flac(shape) }
    return PCMEncoder(audio: shape.format, sampleType: shape.sampleType)
  }

  private func flac(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
    let type: SampleType = shape.sampleType == .int16 ? .int16 : .int24
    return try FLACEncoder(audio: shape.format, sampleType: type)
  }

  /// Makes an Opus encoder, which runs at 48 kHz; the serializer converts to the encoder's rate.
  private func opusEncoder(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
    try OpusEncoder(channelCount: shape.format.channelCount, settings: opus)
  }
}
