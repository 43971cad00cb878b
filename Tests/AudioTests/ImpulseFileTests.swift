import Audio
import Clock
import TestSupport
import Testing

@Suite struct ImpulseFileTests {
  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + bytes(UInt64(content.count), 4) + content
      + (content.count % 2 == 1 ? [0] : [])
  }

  /// A file of one channel; `code` 3 is floating point.
  private static func file(
    code: UInt64, bits: Int, channels: Int = 1, rate: Int = 48_000, _ samples: [UInt8],
    before: [UInt8] = []
  ) -> [UInt8] {
    let width = channels * bits / 8
    let format =
      bytes(code, 2) + bytes(UInt64(channels), 2) + bytes(UInt64(rate), 4)
      + bytes(UInt64(rate * width), 4) + bytes(UInt64(width), 2) + bytes(UInt64(bits), 2)
    let content = Array("WAVE".utf8) + before + chunk("fmt ", format) + chunk("data", samples)
    return chunk("RIFF", content)
  }

  @Test func `all sample formats are read`() throws {
    let values: [Float] = [0, 0.5, -0.25]
    let float = values.flatMap { Self.bytes(UInt64($0.bitPattern), 4) }
    let double = values.flatMap { Self.bytes(Double($0).bitPattern, 8) }
    for (code, bits, samples) in [(3, 32, float), (3, 64, double)] as [(UInt64, Int, [UInt8])] {
      let response = try ImpulseFile.read(Self.file(code: code, bits: bits, samples))
      #expect(response.channels == [values])
      #expect((response.rate, response.peak) == (48_000, 1))
    }
    for bits in [16, 24, 32] {
      let samples = values.flatMap {
        Self.bytes(UInt64(bitPattern: Int64(Double($0) * Double(Int64(1) << (bits - 1)))), bits / 8)
      }
      let file = Self.file(code: 1, bits: bits, samples, before: Self.chunk("LIST", [1, 2, 3]))
      #expect(try ImpulseFile.read(file).channels == [values])
    }
  }

  @Test func `two channels are told apart`() throws {
    let samples = ([1, 2, 3, 4] as [Float]).flatMap { Self.bytes(UInt64($0.bitPattern), 4) }
    let response = try ImpulseFile.read(
      Self.file(code: 3, bits: 32, channels: 2, rate: 44_100, samples))
    #expect(response.channels == [[1, 3], [2, 4]])
  }

  @Test func `what is no filter is refused with its reason`() {
    let one = Self.bytes(UInt64(Float(1).bitPattern), 4)
    let zero = [UInt8](repeating: 0, count: 4)
    let late = [UInt8](repeating: 0, count: 4 * 32_769) + one
    let long = (0...65_536).flatMap { _ in one }
    let cases: [([UInt8], ImpulseFileError)] = [
      ([], .notWave), (Array("RIFFxxxxWAVE".utf8), .notWave),
      (Self.file(code: 2, bits: 32, one), .unknownFormat),
      (Self.file(code: 3, bits: 16, one), .unknownFormat),
      (Self.file(code: 3, bits: 32, zero), .unsuitable),
      (Self.file(code: 3, bits: 32, Self.bytes(UInt64(Float.nan.bitPattern), 4)), .unsuitable),
      (Self.file(code: 3, bits: 32, []), .unsuitable),
      (Self.file(code: 3, bits: 32, channels: 3, one + one + one), .unsuitable),
      (Self.file(code: 3, bits: 32, rate: 12_345, one), .unsuitable),
      (Self.file(code: 3, bits: 32, late), .unsuitable),
      (Self.file(code: 3, bits: 32, long), .unsuitable),
    ]
    for (file, error) in cases {
      #expect(throws: error) { try ImpulseFile.read(file) }
    }
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `no bytes trap`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var file = Self.file(code: 3, bits: 32, (0..<64).flatMap { _ in Self.bytes(0x3F80_0000, 4) })
    for _ in 0..<8 {
      file[.random(in: 0..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
    }
    _ = try? ImpulseFile.read(Array(file.prefix(.random(in: 0...file.count, using: &generator))))
  }
}
