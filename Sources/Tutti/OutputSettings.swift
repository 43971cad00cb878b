internal import Driver

/// How a player or renderer sends.
public struct OutputSettings: Hashable, Sendable {
  public enum Codec: Hashable, Sendable {
    /// What a file or station holds, as it is, where all rooms decode it, such as MP3 and AAC; else FLAC for lossless
    /// sources, such as enqueued buffers, and Opus for the rest.
    case automatic
    case pcm
    case flac
    /// In kbit/s, 6 to 510; nil lets Opus choose.
    case opus(bitrate: Int?)
  }

  public var codec = Codec.automatic
  /// What busy rooms tell other senders: 1 to 63 bytes are shown whole.
  public var senderName = "Tutti"

  public init() {}

  func encoders() throws(TuttiError) -> EncoderChoice {
    do {
      return switch codec {
      case .automatic: try EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20)
      case .pcm: try EncoderChoice(codec: .pcm, bitrate: nil, packetLength: 20)
      case .flac: try EncoderChoice(codec: .flac, bitrate: nil, packetLength: 20)
      case .opus(let bitrate): try EncoderChoice(codec: .opus, bitrate: bitrate, packetLength: 20)
      }
    } catch {
      throw .invalid(error.description)
    }
  }
}
