import Audio
import Clock
import FFmpegDecoder
import TestSupport
import Testing

@Suite struct FFmpegDecoderTests {
  private static let stereo = AudioFormat(sampleRate: 44_100, channelCount: 2)
  private static let alac: [UInt8] = [
    0, 0, 0x10, 0, 0, 16, 40, 10, 14, 2, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xac, 0x44,
  ]
  /// Object type 5, core at 22 050 Hz, stereo, output at 44.1 kHz, AAC-LC.
  private static let heAAC: [UInt8] = [0x2b, 0x92, 0x08, 0]

  private static func format(_ codec: Codec, _ configuration: [UInt8] = []) -> StreamFormat {
    StreamFormat(
      codec: codec, audio: stereo, sampleType: .float32, configuration: configuration)
  }

  @Test func `the library is known to be there without being loaded`() {
    #expect(FFmpegDecoder.isInstalled)
  }

  @Test func `a codec of another library is refused`() {
    for codec in [Codec.pcm, .flac, .opus] {
      #expect(throws: CodecError.self) { try FFmpegDecoder(format: Self.format(codec)) }
    }
  }

  @Test func `a configuration that is none is refused`() {
    for (codec, bytes) in [
      (Codec.alac, []), (.alac, Array(Self.alac.dropLast())), (.aac, []), (.vorbis, []),
      (.vorbis, [2, 255, 255, 255, 1, 0]), (.vorbis, [9, 9, 9]),
    ] {
      #expect(throws: CodecError.self, "\(codec) \(bytes)") {
        try FFmpegDecoder(format: Self.format(codec, bytes))
      }
    }
  }

  @Test func `an ALAC packet that says how few frames it has gives just these`() throws {
    let decoder = try FFmpegDecoder(format: Self.format(.alac, Self.alac))
    // Two channels (001), instance 0, 12 bits unused, has a size (1), no shift, uncompressed (1), 3 frames of two
    // times 16 bits, and the end (111).
    var bits = "001" + "0000" + "000000000000" + "1" + "00" + "1" + Self.binary(3, 32)
    for sample in [1, -1, 16_384, -16_384, 32_767, -32_768] { bits += Self.binary(sample, 16) }
    bits += "111"
    var frames: [Float] = []
    try decoder.decode(Self.bytes(bits), appendingTo: &frames)
    #expect(frames == [1, -1, 16_384, -16_384, 32_767, -32_768].map { Float($0) / 32_768 })
  }

  @Test func `a packet of another shape than its format is corrupt`() throws {
    let mono = AudioFormat(sampleRate: 44_100, channelCount: 1)
    let decoder = try FFmpegDecoder(
      format: StreamFormat(
        codec: .alac, audio: mono, sampleType: .int16, configuration: Self.alac))
    var bits = "001" + "0000" + "000000000000" + "1" + "00" + "1" + Self.binary(1, 32)
    bits += Self.binary(0, 32) + "111"
    var frames: [Float] = []
    #expect(throws: CodecError.self) { try decoder.decode(Self.bytes(bits), appendingTo: &frames) }
    #expect(frames.isEmpty)
  }

  @Test(arguments: FFmpegDecoder.decodable)
  func `no bytes stop a decoder`(codec: Codec) throws {
    for seed in UInt64(1)...200 {
      var random = SplitMix64(seed: seed)
      var configuration = codec == .alac ? Self.alac : codec == .aac ? Self.heAAC : []
      if codec == .vorbis || seed % 4 == 0 {
        let count = codec == .alac ? 24 : Int.random(in: 0...60, using: &random)
        configuration = random.bytes(count)
      }
      guard let decoder = try? FFmpegDecoder(format: Self.format(codec, configuration)) else {
        continue
      }
      for _ in 0..<8 {
        var frames: [Float] = []
        let packet = Self.start(of: codec) + random.bytes(Int.random(in: 0...900, using: &random))
        _ = try? decoder.decode(packet, appendingTo: &frames)
        #expect(frames.count <= 2 * 2 * 65_536 + 2 * 65_536)
      }
    }
  }

  /// A prefix that leads a decoder beyond its first check.
  private static func start(of codec: Codec) -> [UInt8] {
    switch codec {
    case .mp3: [0xff, 0xfb, 0x90, 0x64]
    case .ac3: [0x0b, 0x77, 0, 0, 0x10, 0x40]
    case .eac3: [0x0b, 0x77, 0x00, 0x40, 0x34, 0x80]
    case .pcm, .flac, .opus, .aac, .alac, .vorbis: []
    }
  }

  private static func binary(_ value: Int, _ count: Int) -> String {
    String((0..<count).reversed().map { value >> $0 & 1 == 1 ? "1" : "0" })
  }

  private static func bytes(_ bits: String) -> [UInt8] {
    let digits = bits.map { $0 == "1" ? UInt8(1) : 0 }
    return stride(from: 0, to: digits.count, by: 8).map { start in
      (0..<8).reduce(0) { $0 << 1 | (start + $1 < digits.count ? digits[start + $1] : 0) }
    }
  }
}
