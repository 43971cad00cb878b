/// The layout of samples in memory, little-endian: the types of the wire, and those that only sound cards and codec
/// libraries have.
package enum SampleFormat: CaseIterable, Sendable {
  case int16
  /// Three bytes.
  case int24
  /// The lower three of four bytes. The fourth is ignored when read, and repeats the sign when written.
  case int24in32
  case int32
  case float32

  package var byteCount: Int {
    @_noLocks @_noAllocation get {
      switch self {
      case .int16: 2
      case .int24: 3
      case .int24in32, .int32, .float32: 4
      }
    }
  }

  /// The integer just beyond full scale.
  fileprivate var fullScale: Double {
    @_noLocks @_noAllocation get {
      switch self {
      case .int16: 32_768
      case .int24, .int24in32: 8_388_608
      case .int32: 2_147_483_648
      case .float32: 1
      }
    }
  }
}

extension SampleType {
  package var format: SampleFormat {
    switch self {
    case .int16: .int16
    case .int24: .int24
    case .int32: .int32
    case .float32: .float32
    }
  }
}

// MARK: Bytes to samples

extension SampleFormat {
  /// Appends the samples in `bytes`, full scale ±1. Exact, except that `int32` keeps 24 significant bits. A float
  /// that is not finite becomes 0, because a filter would spread it to its neighbours. Bytes at the end that do not
  /// make a whole sample are left out.
  package func decode(_ bytes: [UInt8], appendingTo samples: inout [Float]) {
    let count = bytes.count / byteCount
    samples.reserveCapacity(samples.count + count)
    let scale = 1 / fullScale
    for index in 0..<count {
      let word = self.word(in: bytes, at: index * byteCount)
      if self == .float32 {
        let value = Float(bitPattern: word)
        samples.append(value.isFinite ? value : 0)
      } else {
        // The word holds the sample at its upper end, where the sign is; shift it back down.
        let value = Int32(bitPattern: word) >> unusedBits
        samples.append(Float(Double(value) * scale))
      }
    }
  }

  /// Returns one sample at the upper end of a word, so that its sign is the word's.
  private func word(in bytes: [UInt8], at offset: Int) -> UInt32 {
    var word: UInt32 = 0
    for index in 0..<byteCount {
      word |= UInt32(bytes[offset + index]) << UInt32(8 * index)
    }
    return word << UInt32(unusedBits)
  }

  private var unusedBits: Int {
    switch self {
    case .int16: 16
    case .int24, .int24in32: 8
    case .int32, .float32: 0
    }
  }
}

// MARK: Samples to bytes

extension SampleFormat {
  /// Appends the samples as bytes, without dither: samples that `decode` made of up to 24 bits come back exactly.
  /// Values beyond full scale saturate; NaN becomes 0.
  package func encode(_ samples: [Float], appendingTo bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + samples.count * byteCount)
    for sample in samples {
      var word = self == .float32 ? cleared(sample).bitPattern : integer(sample, dither: 0)
      for _ in 0..<byteCount {
        bytes.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
  }

  /// Writes samples to a sound card's memory. Values beyond full scale saturate, also those of `float32`;
  /// NaN becomes 0. `int16` is dithered. For the render thread.
  ///
  /// - Parameters:
  ///   - samples: `count` of them, all channels together.
  ///   - output: `count * byteCount` bytes, of any alignment.
  @_noLocks @_noAllocation
  package func write(
    _ samples: UnsafePointer<Float>, count: Int, to output: UnsafeMutableRawPointer,
    dither: inout Dither
  ) {
    switch self {
    case .int16:
      for index in 0..<count {
        let sample = unsafe cleared(samples[index])
        let word = integer(sample, dither: sample == 0 ? 0 : dither.next())
        unsafe output.storeBytes(
          of: UInt16(truncatingIfNeeded: word).littleEndian, toByteOffset: 2 * index,
          as: UInt16.self)
      }
    case .int24:
      for index in 0..<count {
        let word = unsafe integer(samples[index], dither: 0)
        let place = unsafe output + 3 * index
        unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: word), as: UInt8.self)
        unsafe (place + 1).storeBytes(of: UInt8(truncatingIfNeeded: word >> 8), as: UInt8.self)
        unsafe (place + 2).storeBytes(of: UInt8(truncatingIfNeeded: word >> 16), as: UInt8.self)
      }
    case .int24in32, .int32:
      for index in 0..<count {
        let word = unsafe integer(samples[index], dither: 0)
        unsafe output.storeBytes(of: word.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
      }
    case .float32:
      for index in 0..<count {
        let sample = unsafe min(max(cleared(samples[index]), -1), 1)
        unsafe output.storeBytes(
          of: sample.bitPattern.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
      }
    }
  }

  /// Returns the nearest integer in two's complement. `dither` is in units of the last place.
  @_noLocks @_noAllocation
  private func integer(_ sample: Float, dither: Double) -> UInt32 {
    let scaled = Double(cleared(sample)) * fullScale + dither
    let limited = min(max(scaled, -fullScale), fullScale - 1)
    // Adding 1.5 · 2⁵² rounds to nearest and leaves the integer in the low bits of the significand; the
    // conversion `Int32(_:)` would round toward zero, and has a trap in it.
    return UInt32(truncatingIfNeeded: (limited + 6_755_399_441_055_744).bitPattern)
  }
}

/// Noise of triangular distribution, ±1 in units of the last place. It turns the distortion that rounding to 16
/// bits would cause in quiet passages into an even hiss. The writer does not dither digital silence, so that
/// amplifiers that switch themselves off still do.
package struct Dither: Sendable {
  private var state: UInt32

  /// A seed of zero, from which the generator would never move, is replaced.
  @_noLocks @_noAllocation
  package init(seed: UInt32) { state = seed == 0 ? 0x9E37_79B9 : seed }

  /// Returns the sum of two even distributions of ±½.
  @_noLocks @_noAllocation
  mutating func next() -> Double {
    // The upper and the lower half of one number of G. Marsaglia's xorshift (2003), which is plenty here.
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    let sum = Int32(state >> 16) + Int32(state & 0xFFFF) - 65_535
    return Double(sum) * (1 / 65_536)
  }
}

@_noLocks @_noAllocation
private func cleared(_ sample: Float) -> Float { sample == sample ? sample : 0 }
