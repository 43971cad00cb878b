import Audio
import Codecs
import FFmpegDecoder

/// What a receiver decodes: PCM here, the rest by libraries.
enum Decoders {
  /// Asked again after a failure: with one, a library may be lost.
  @Sendable static func available() -> [Codec] {
    [Codec.pcm] + AudioCodecs.decodable + (FFmpegDecoder.isInstalled ? FFmpegDecoder.decodable : [])
  }

  @Sendable static func make(_ format: StreamFormat) throws(CodecError) -> any AudioDecoder {
    switch format.codec {
    case .pcm: try PCMDecoder(format: format)
    case .flac, .opus: try AudioCodecs.makeDecoder(for: format)
    case .mp3, .aac, .alac, .vorbis, .ac3, .eac3: try FFmpegDecoder(format: format)
    }
  }
}
