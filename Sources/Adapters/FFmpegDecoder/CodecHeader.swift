import Audio

/// Converts a configuration from the wire to the form that libavcodec expects.
enum CodecHeader {
  private static let alacSize = 24
  /// The library expects ALAC's configuration with the header of its MP4 box: size, name, version.
  private static let alacBox: [UInt8] = [0, 0, 0, 36] + Array("alac".utf8) + [0, 0, 0, 0]

  /// - Throws: `malformed` if a required configuration is missing or has the wrong size.
  static func library(of format: StreamFormat) throws(CodecError) -> [UInt8] {
    let configuration = format.configuration
    switch format.codec {
    case .pcm, .flac, .opus, .mp3, .ac3, .eac3: return []
    case .aac, .vorbis:
      guard configuration.count >= 2 else {
        throw .malformed("no configuration for \(format.codec)")
      }
      return configuration
    case .alac:
      guard configuration.count == alacSize else {
        throw .malformed("ALAC's configuration has \(configuration.count) bytes, not \(alacSize)")
      }
      return alacBox + configuration
    }
  }
}
