/// Why a file has no filter.
package enum ImpulseFileError: Error, Hashable, CustomStringConvertible {
  case notWave
  case unknownFormat
  case unsuitable

  package var description: String {
    switch self {
    case .notWave: "it is not a WAV file"
    case .unknownFormat:
      "its samples are none of 16, 24 or 32 bits, or of 32 or 64 bits with floating point"
    case .unsuitable:
      "a filter has one or two channels, 1 to \(ImpulseResponse.mostFrames) frames, a usual sample rate, and its "
        + "largest value among the first \(ImpulseResponse.mostFramesBeforePeak)"
    }
  }
}

/// Reads filters from WAV files, as REW and others export them. Nothing in the bytes can trap.
package enum ImpulseFile {
  /// Two channels of the longest filter in 64 bits, and as much again for chunks that are skipped.
  package static let mostBytes = 2 << 20

  private struct Shape {
    var isFloat: Bool
    var bits: Int
    var channels: Int
    var rate: Int
  }

  package static func read(_ bytes: [UInt8]) throws(ImpulseFileError) -> ImpulseResponse {
    guard bytes.count >= 12, bytes[0..<4].elementsEqual("RIFF".utf8),
      bytes[8..<12].elementsEqual("WAVE".utf8)
    else { throw .notWave }
    var (place, shape): (Int, Shape?) = (12, nil)
    while bytes.count - place >= 8 {
      let size = Int(number(bytes[(place + 4)..<(place + 8)]))
      let content = bytes[(place + 8)..<min(place + 8 + size, bytes.count)]
      if bytes[place..<(place + 4)].elementsEqual("fmt ".utf8) {
        shape = try read(format: content)
      } else if bytes[place..<(place + 4)].elementsEqual("data".utf8) {
        guard let shape else { throw .notWave }
        return try read(samples: content, shape)
      }
      // Chunks begin at even places.
      place += 8 + size + size % 2
    }
    throw .notWave
  }

  /// Little-endian, at most eight bytes.
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func read(format: ArraySlice<UInt8>) throws(ImpulseFileError) -> Shape {
    let bytes = Array(format)
    guard bytes.count >= 16 else { throw .notWave }
    var code = number(bytes[0..<2])
    // An extensible header has the code at the beginning of an identifier.
    if code == 0xFFFE, bytes.count >= 26 { code = number(bytes[24..<26]) }
    let shape = Shape(
      isFloat: code == 3, bits: Int(number(bytes[14..<16])), channels: Int(number(bytes[2..<4])),
      rate: Int(number(bytes[4..<8])))
    let known = shape.isFloat ? [32, 64] : [16, 24, 32]
    guard code == 1 || code == 3, known.contains(shape.bits) else { throw .unknownFormat }
    return shape
  }

  private static func read(
    samples: ArraySlice<UInt8>, _ shape: Shape
  ) throws(ImpulseFileError) -> ImpulseResponse {
    let width = shape.bits / 8
    guard (1...2).contains(shape.channels) else { throw .unsuitable }
    let count = samples.count / (width * shape.channels)
    guard (1...ImpulseResponse.mostFrames).contains(count) else { throw .unsuitable }
    var channels = [[Float]](repeating: [], count: shape.channels)
    var place = samples.startIndex
    for _ in 0..<count {
      for channel in 0..<shape.channels {
        channels[channel].append(sample(number(samples[place..<(place + width)]), shape))
        place += width
      }
    }
    guard let response = ImpulseResponse(rate: shape.rate, channels: channels) else {
      throw .unsuitable
    }
    return response
  }

  private static func sample(_ bits: UInt64, _ shape: Shape) -> Float {
    switch (shape.isFloat, shape.bits) {
    case (true, 32): Float(bitPattern: UInt32(truncatingIfNeeded: bits))
    case (true, _): Float(Double(bitPattern: bits))
    case (false, 16): Float(Int16(truncatingIfNeeded: bits)) / 32_768
    case (false, 24): Float(Int32(truncatingIfNeeded: bits << 8)) / 2_147_483_648
    case (false, _): Float(Int32(truncatingIfNeeded: bits)) / 2_147_483_648
    }
  }
}
