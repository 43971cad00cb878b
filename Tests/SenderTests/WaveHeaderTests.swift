import Audio
import Clock
import Sender
import TestSupport
import Testing

@Suite struct WaveHeaderTests {
  private static func word(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + word(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
  }

  private static func format(
    kind: Int = 1, channels: Int = 2, rate: Int = 48_000, bits: Int = 16
  ) -> [UInt8] {
    let frame = channels * bits / 8
    return chunk(
      "fmt ",
      word(kind, 2) + word(channels, 2) + word(rate, 4) + word(rate * frame, 4) + word(frame, 2)
        + word(bits, 2))
  }

  private static func wave(_ chunks: [UInt8]) -> [UInt8] {
    Array("RIFF".utf8) + word(0x7FFF_FFFF, 4) + Array("WAVE".utf8) + chunks
      + Array("data".utf8) + word(0x7FFF_FFFF, 4)
  }

  @Test(arguments: [
    (1, 16, SampleType.int16), (1, 24, .int24), (1, 32, .int32), (3, 32, .float32),
  ])
  func `it is read whatever chunks stand before the samples`(
    kind: Int, bits: Int, type: SampleType
  ) {
    let header = Self.wave(
      Self.chunk("LIST", [1, 2, 3]) + Self.format(kind: kind, rate: 44_100, bits: bits))
    let found = WaveHeader.Found(
      format: AudioFormat(sampleRate: 44_100, channelCount: 2), sampleType: type,
      length: header.count)
    #expect(WaveHeader.read(header + [1, 2, 3, 4]) == .found(found))
    for count in 0..<header.count {
      #expect(WaveHeader.read(Array(header.prefix(count))) == .incomplete, "\(count) bytes")
    }
  }

  @Test func `what is no WAV, or one that cannot be played, is refused with the reason`() {
    #expect(WaveHeader.read([0, 0, 1, 0]) == .refused("it has no WAV header"))
    #expect(
      WaveHeader.read(Self.wave(Self.format(bits: 8)))
        == .refused("samples of 8 bits, kind 1, are not supported"))
    #expect(
      WaveHeader.read(Self.wave(Self.format(rate: 47_999)))
        == .refused("47999 Hz with 2 channels is not supported"))
    #expect(WaveHeader.read(Self.wave([])) == .refused("its WAV header says no format"))
    let endless = Self.chunk("LIST", [UInt8](repeating: 0, count: 70_000))
    #expect(WaveHeader.read(Self.wave(endless)) == .refused("its WAV header has no end"))
  }

  @Test func `random bytes trap nothing`() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<5000 {
      var bytes = Self.wave(Self.format())
      for _ in 0..<4 {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() % 256)
      }
      _ = WaveHeader.read(bytes)
      _ = WaveHeader.read(random.bytes(64))
    }
  }
}
