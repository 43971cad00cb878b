import ALSAOutput
import Output
import Testing

/// Returns the bytes that a card gets for `frames`, interleaved stereo.
private func convert<Sample: BitwiseCopyable>(
  _ frames: [Float], to format: DeviceFormat, channelCount: Int = 2, as type: Sample.Type
) -> [Sample] {
  var writer = SampleWriter(format, channelCount: channelCount, capacity: frames.count / 2)
  for (i, sample) in frames.enumerated() { writer.frames[i] = sample }
  writer.convert(frames.count / 2)
  let size = frames.count / 2 * channelCount * format.bytesPerSample
  return (0..<(size / MemoryLayout<Sample>.size)).map {
    writer.bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Sample>.size, as: Sample.self)
  }
}

private let extremes: [Float] = [1, -1, 0, 0x1p-23, .nan, -2, .infinity, -0.5]

@Suite struct SampleWriterTests {
  @Test func `32 bits keep all that a float holds`() {
    #expect(
      convert(extremes, to: .int32, as: Int32.self)
        == [.max, .min, 0, 256, 0, .min, .max, -0x4000_0000])
  }

  @Test func `24 bits in four bytes lie in the lower three`() {
    #expect(
      convert(extremes, to: .int24, as: Int32.self)
        == [0x7F_FFFF, -0x80_0000, 0, 1, 0, -0x80_0000, 0x7F_FFFF, -0x40_0000])
  }

  @Test func `24 bits in three bytes are little-endian`() {
    #expect(
      convert([1, -1, 0x1p-23, -0x1p-23], to: .packed24, as: UInt8.self)
        == [0xFF, 0xFF, 0x7F, 0, 0, 0x80, 1, 0, 0, 0xFF, 0xFF, 0xFF])
  }

  @Test func `floats stay as they are`() {
    #expect(convert([0.1, -3], to: .float32, as: Float.self) == [0.1, -3])
  }

  @Test func `16 bits are dithered by a step at most, and silence is not`() {
    let level: Float = 1000.25 / 0x1p15
    let values = convert(.init(repeating: level, count: 20_000), to: .int16, as: Int16.self)
    #expect(values.allSatisfy { (998...1002).contains($0) })
    #expect(Set(values).count > 2)
    let mean = values.reduce(0) { $0 + Double($1) } / Double(values.count)
    #expect(abs(mean - 1000.25) < 0.03)
    #expect(convert([0, 0, 1, -1], to: .int16, as: Int16.self).prefix(2) == [0, 0])
    #expect(convert([2, -2], to: .int16, as: Int16.self).allSatisfy { abs(Int($0)) > 32_765 })
  }

  @Test func `a mono card gets the mean of both channels`() {
    #expect(
      convert([1, 0, 0.5, -0.5], to: .float32, channelCount: 1, as: Float.self) == [0.5, 0])
  }

  @Test func `channels beyond stereo are silent`() {
    #expect(
      convert([0.1, 0.2, 0.3, 0.4], to: .float32, channelCount: 3, as: Float.self)
        == [0.1, 0.2, 0, 0.3, 0.4, 0])
  }
}
