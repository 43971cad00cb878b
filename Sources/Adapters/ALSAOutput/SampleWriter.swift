package import Output

/// Turns stereo floats into what the card takes. Output thread only; allocates only when made.
package struct SampleWriter: ~Copyable {
  private let format: DeviceFormat
  private let channelCount: Int
  /// Frames that fit.
  package let capacity: Int
  /// Interleaved stereo, full scale ±1, to be filled by the caller.
  package let frames: UnsafeMutablePointer<Float>
  /// The result of `convert`.
  package let bytes: UnsafeMutableRawPointer
  private let mapped: UnsafeMutablePointer<Float>
  private var dither = Dither()

  package init(_ format: DeviceFormat, channelCount: Int, capacity: Int) {
    self.format = format
    self.channelCount = channelCount
    self.capacity = capacity
    frames = .allocate(capacity: 2 * capacity)
    frames.initialize(repeating: 0, count: 2 * capacity)
    mapped = .allocate(capacity: channelCount * capacity)
    mapped.initialize(repeating: 0, count: channelCount * capacity)
    let size = format.bytesPerSample * channelCount * capacity
    bytes = .allocate(byteCount: size, alignment: 16)
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: size)
  }

  deinit {
    frames.deallocate()
    mapped.deallocate()
    bytes.deallocate()
  }

  /// Puts the first `count` of `frames` into `bytes`.
  package mutating func convert(_ count: Int) {
    let samples = channelCount == 2 ? frames : mapped
    if channelCount != 2 { mapChannels(count) }
    let sampleCount = count * channelCount
    switch format {
    case .int32:
      let out = bytes.assumingMemoryBound(to: Int32.self)
      for i in 0..<sampleCount { out[i] = quantise(samples[i], scale: 0x1p31, limit: .max) }
    case .int24:
      let out = bytes.assumingMemoryBound(to: Int32.self)
      for i in 0..<sampleCount { out[i] = quantise(samples[i], scale: 0x1p23, limit: 0x7F_FFFF) }
    case .packed24:
      let out = bytes.assumingMemoryBound(to: UInt8.self)
      for i in 0..<sampleCount {
        let value = quantise(samples[i], scale: 0x1p23, limit: 0x7F_FFFF)
        out[3 * i] = UInt8(truncatingIfNeeded: value)
        out[3 * i + 1] = UInt8(truncatingIfNeeded: value >> 8)
        out[3 * i + 2] = UInt8(truncatingIfNeeded: value >> 16)
      }
    case .float32:
      bytes.copyMemory(from: samples, byteCount: sampleCount * 4)
    case .int16:
      let out = bytes.assumingMemoryBound(to: Int16.self)
      for i in 0..<sampleCount { out[i] = dither.quantise16(samples[i]) }
    }
  }

  /// Makes all of `bytes` silence, which is zero in every format.
  package func silence() {
    bytes.initializeMemory(
      as: UInt8.self, repeating: 0, count: format.bytesPerSample * channelCount * capacity)
  }

  /// Mono is the mean of both; channels beyond stereo stay silent.
  private func mapChannels(_ count: Int) {
    if channelCount == 1 {
      for i in 0..<count { mapped[i] = 0.5 * (frames[2 * i] + frames[2 * i + 1]) }
    } else {
      for i in 0..<count {
        mapped[i * channelCount] = frames[2 * i]
        mapped[i * channelCount + 1] = frames[2 * i + 1]
      }
    }
  }
}

/// Triangular dither of ±1 step, which turns the error of 16 bits into a constant hiss far below the
/// music. Digital silence stays silence, so that amplifiers can switch off.
private struct Dither {
  private var state = UInt32(0x9E37_79B9)

  /// Uniform, 0..<1.
  @inline(__always)
  private mutating func draw() -> Float {
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return Float(state >> 8) * 0x1p-24
  }

  @inline(__always)
  mutating func quantise16(_ sample: Float) -> Int16 {
    guard sample != 0, !sample.isNaN else { return 0 }
    let value = min(max(sample, -1), 1) * 0x1p15 + (draw() - draw())
    return Int16(min(max(value.rounded(.toNearestOrEven), -0x1p15), 0x1p15 - 1))
  }
}
