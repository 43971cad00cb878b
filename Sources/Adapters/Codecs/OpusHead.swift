import Audio

/// The header of an Opus stream (RFC 7845, 5.1), with the order in which the stream codes channels.
struct OpusHead: Equatable {
  /// Frames at 48 kHz to discard at the start of the stream.
  var preSkip: Int
  var inputSampleRate: Int
  /// Gain to apply to the output, in 1/256 dB.
  var gain: Int
  var streamCount: Int
  var coupledCount: Int
  /// For each channel in the order of the header's mapping family, the coded channel; 255 is silence.
  var mapping: [UInt8]

  var channelCount: Int { mapping.count }
}

extension OpusHead {
  private static let magic = Array("OpusHead".utf8)

  init(parsing bytes: [UInt8]) throws(CodecError) {
    guard bytes.count >= 19, Array(bytes[0..<8]) == Self.magic else {
      throw .malformed("the configuration of an Opus stream must be an OpusHead")
    }
    guard bytes[8] >> 4 == 0 else { throw .unsupported("OpusHead version \(bytes[8])") }
    let channelCount = Int(bytes[9])
    guard (1...AudioFormat.maximumChannelCount).contains(channelCount) else {
      throw .unsupported("Opus with \(channelCount) channels")
    }
    preSkip = Int(bytes[10]) | Int(bytes[11]) << 8
    inputSampleRate =
      Int(bytes[12]) | Int(bytes[13]) << 8 | Int(bytes[14]) << 16 | Int(bytes[15]) << 24
    gain = Int(Int16(bitPattern: UInt16(bytes[16]) | UInt16(bytes[17]) << 8))
    switch bytes[18] {
    case 0 where channelCount <= 2:
      streamCount = 1
      coupledCount = channelCount - 1
      mapping = Array(0..<UInt8(channelCount))
    case 1 where bytes.count >= 21 + channelCount:
      streamCount = Int(bytes[19])
      coupledCount = Int(bytes[20])
      mapping = Array(bytes[21..<21 + channelCount])
    default:
      throw .unsupported("Opus channel mapping family \(bytes[18]) of \(channelCount) channels")
    }
    try checkMapping()
  }

  private func checkMapping() throws(CodecError) {
    let coded = streamCount + coupledCount
    guard streamCount >= 1, coupledCount <= streamCount, coded <= 255,
      mapping.allSatisfy({ $0 == 255 || Int($0) < coded })
    else { throw .malformed("the channel mapping of the OpusHead contradicts itself") }
  }

  var encoded: [UInt8] {
    let family: UInt8 = channelCount <= 2 ? 0 : 1
    var bytes = Self.magic + [1, UInt8(truncatingIfNeeded: channelCount)]
    bytes += [UInt8(truncatingIfNeeded: preSkip), UInt8(truncatingIfNeeded: preSkip >> 8)]
    bytes += (0..<4).map { UInt8(truncatingIfNeeded: inputSampleRate >> (8 * $0)) }
    bytes += [UInt8(truncatingIfNeeded: gain), UInt8(truncatingIfNeeded: gain >> 8), family]
    guard family == 1 else { return bytes }
    bytes += [UInt8(truncatingIfNeeded: streamCount), UInt8(truncatingIfNeeded: coupledCount)]
    return bytes + mapping
  }

  /// Returns for each channel in the order of WAVE (front left, front right, centre, LFE, back, side)
  /// its place in the order of Vorbis, which mapping family 1 prescribes (RFC 7845, 5.1.1.2).
  static func vorbisOrder(ofChannels count: Int) -> [Int] {
    switch count {
    case 3: [0, 2, 1]
    case 5: [0, 2, 1, 3, 4]
    case 6: [0, 2, 1, 5, 3, 4]
    case 7: [0, 2, 1, 6, 5, 3, 4]
    case 8: [0, 2, 1, 7, 5, 6, 3, 4]
    default: Array(0..<count)
    }
  }
}
