import Audio

/// The part of FLAC's STREAMINFO block (RFC 9639, 8.2) that matters to a stream of packets.
struct StreamInfo: Equatable {
  static let byteCount = 34

  var sampleRate: Int
  var channelCount: Int
  var bitsPerSample: Int

  init(parsing bytes: [UInt8]) throws(CodecError) {
    guard bytes.count == Self.byteCount else {
      throw .malformed("the configuration of a FLAC stream must be a STREAMINFO block of 34 bytes")
    }
    sampleRate = Int(bytes[10]) << 12 | Int(bytes[11]) << 4 | Int(bytes[12]) >> 4
    channelCount = Int(bytes[12] >> 1 & 7) + 1
    bitsPerSample = (Int(bytes[12] & 1) << 4 | Int(bytes[13] >> 4)) + 1
    guard sampleRate > 0, (4...32).contains(bitsPerSample) else {
      throw .malformed("STREAMINFO with \(sampleRate) Hz and \(bitsPerSample) bits")
    }
  }
}
