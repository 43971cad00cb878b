package import Audio

/// The codecs that need a library. PCM needs none: `Audio` has it, and callers ask there first.
package enum AudioCodecs {
  /// The codecs that `makeDecoder` accepts.
  package static let decodable: [Codec] = [.flac, .opus]

  /// Makes a decoder.
  ///
  /// - Throws: `CodecError.unsupported` for a codec that is not in `decodable`, `malformed` for a configuration that
  ///   does not fit the codec.
  package static func makeDecoder(for format: StreamFormat) throws(CodecError) -> any AudioDecoder {
    switch format.codec {
    case .pcm: throw .unsupported("PCM is not decoded by a library")
    case .flac: try FLACDecoder(format: format)
    case .opus: try OpusDecoder(format: format)
    case .mp3, .aac, .alac, .vorbis, .ac3, .eac3:
      throw .unsupported("\(format.codec) is not decoded here")
    }
  }
}
