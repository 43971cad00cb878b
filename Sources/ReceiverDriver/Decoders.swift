import Audio
import Codecs
import FFmpegDecoder

/// The decoders of a receiver: PCM is built in, the other codecs come from libraries.
enum Decoders {
  /// The codecs that can be decoded now. The session asks again after a decoder has failed, because
  /// its library may have gone.
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
