import Audio
import Clock
import TestSupport
import Testing

@Suite struct SampleFormatTests {
  @Test(arguments: [SampleFormat.int16, .int24, .int24in32])
  func `integers of up to 24 bits come back exactly`(format: SampleFormat) {
    let limit: Int32 = format == .int16 ? 32_768 : 8_388_608
    let step = limit == 32_768 ? 1 : 509
    var bytes: [UInt8] = []
    for value in stride(from: -limit, to: limit, by: step) + [limit - 1] {
      bytes += littleEndian(value).prefix(format.byteCount)
    }
    #expect(encode(decode(bytes, format), format) == bytes)
  }

  @Test(arguments: SampleFormat.allCases)
  func `full scale is one and zero is zero`(format: SampleFormat) {
    #expect(decode(encode([-1, -0.5, 0, 0.25], format), format) == [-1, -0.5, 0, 0.25])
  }

  @Test func `known bytes give known samples`() {
    let steps16 = decode([0x00, 0x80, 0xFF, 0x7F, 0x01, 0x00], .int16).map { $0 * 32_768 }
    #expect(steps16 == [-32_768, 32_767, 1])
    let steps24 = decode([0x00, 0x00, 0x80, 0xFF, 0xFF, 0xFF], .int24).map { $0 * 8_388_608 }
    #expect(steps24 == [-8_388_608, -1])
    #expect(decode([0x00, 0x00, 0x80, 0x55], .int24in32) == [-1])
    #expect(decode([0x00, 0x00, 0x00, 0xC0], .int32) == [-0.5])
    #expect(decode([0x00, 0x00, 0x00, 0x3F], .float32) == [0.5])
    let step: Float = -1 / 8_388_608
    #expect(encode([step], .int24in32) == [0xFF, 0xFF, 0xFF, 0xFF])
  }

  @Test func `floats keep their bits, beyond full scale too`() {
    let samples: [Float] = [1.5, -3e10, .leastNonzeroMagnitude, 0.1]
    #expect(decode(encode(samples, .float32), .float32) == samples)
  }

  @Test func `floats that are not finite are read as zero`() {
    let words = [Float.nan, .infinity, -.infinity].map { Int32(bitPattern: $0.bitPattern) }
    #expect(decode(words.flatMap(littleEndian), .float32) == [0, 0, 0])
  }

  @Test(arguments: [SampleFormat.int16, .int24, .int24in32, .int32])
  func `values beyond full scale saturate and NaN is silence`(format: SampleFormat) {
    let samples: [Float] = [2, .infinity, -2, -.infinity, .nan]
    let top = decode(encode([1], format), format)[0]
    #expect(top > 0.9999)
    #expect(decode(encode(samples, format), format) == [top, top, -1, -1, 0])
    #expect(decode(write(samples, format), format) == [top, top, -1, -1, 0])
  }

  @Test(arguments: [SampleFormat.int24, .int24in32, .int32])
  func `a sound card gets what the wire would get`(format: SampleFormat) {
    var generator = SplitMix64(seed: 3)
    let samples = (0..<1_000).map { _ in Float.random(in: -1.1...1.1, using: &generator) }
    #expect(write(samples, format) == encode(samples, format))
  }

  @Test func `a sound card that takes floats gets them within full scale`() {
    #expect(decode(write([0.3, 7, -7, .nan], .float32), .float32) == [0.3, 1, -1, 0])
  }

  @Test func `rounding goes to the nearest integer`() {
    let samples = [0.4, 0.6, 1.4, -0.4, -0.6, -1.4].map { Float($0 / 32_768) }
    let expected = [0, 1, 1, 0, -1, -1].map { Float($0) / 32_768 }
    #expect(decode(encode(samples, .int16), .int16) == expected)
  }

  @Test func `dithered 16 bits keep values between two steps on average`() {
    let level: Float = 10.3 / 32_768
    let found = decode(write([Float](repeating: level, count: 40_000), .int16), .int16)
    let steps = found.map { Double($0) * 32_768 }
    let mean = steps.reduce(0, +) / Double(steps.count)
    let variance = steps.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(steps.count)
    #expect(abs(mean - 10.3) < 0.02)
    // Triangular dither (1/6) plus rounding (1/12), at any level.
    #expect(abs(variance - 0.25) < 0.02)
  }

  @Test func `digital silence is not dithered`() {
    #expect(write([Float](repeating: 0, count: 100), .int16).allSatisfy { $0 == 0 })
  }
}

private func decode(_ bytes: [UInt8], _ format: SampleFormat) -> [Float] {
  var samples: [Float] = []
  format.decode(bytes, appendingTo: &samples)
  return samples
}

private func encode(_ samples: [Float], _ format: SampleFormat) -> [UInt8] {
  var bytes: [UInt8] = []
  format.encode(samples, appendingTo: &bytes)
  return bytes
}

/// Writes samples with the sound card's writer, into memory of odd alignment.
private func write(_ samples: [Float], _ format: SampleFormat) -> [UInt8] {
  var bytes = [UInt8](repeating: 0xAA, count: samples.count * format.byteCount + 2)
  var dither = Dither(seed: 42)
  bytes.withUnsafeMutableBytes { bytes in
    samples.withUnsafeBufferPointer { samples in
      format.write(
        samples.baseAddress!, count: samples.count, to: bytes.baseAddress! + 1, dither: &dither)
    }
  }
  #expect(bytes.first == 0xAA && bytes.last == 0xAA)
  return Array(bytes.dropFirst().dropLast())
}

private func littleEndian(_ value: Int32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}
