import Clock
import TestSupport
import Testing

@testable import FFmpegSource

@Suite struct AudioSpecificConfigTests {
  @Test func `AAC-LC, plain`() throws {
    let config = try #require(AudioSpecificConfig([0x12, 0x10]))
    #expect(config.coreRate == 44_100 && config.coreChannelCount == 2)
    #expect(config.coreFrameCount == 1_024 && !config.signalsBandReplication)
    #expect(config.signalling(rate: 44_100, channelCount: 2) == config)
  }

  @Test func `SBR is seen in both ways of saying it`() throws {
    for bytes: [UInt8] in [[0x2b, 0x92, 0x08, 0], [0x13, 0x90, 0x56, 0xe5, 0xa0]] {
      let config = try #require(AudioSpecificConfig(bytes))
      #expect(config.coreRate == 22_050 && config.signalsBandReplication)
      #expect(config.signalling(rate: 44_100, channelCount: 2)?.bytes == bytes)
    }
    let without = try #require(AudioSpecificConfig([0x13, 0x90, 0x56, 0xe5, 0]))
    #expect(!without.signalsBandReplication)
  }

  @Test func `properties that only the decoder found are put into the configuration`() throws {
    let stereo = try #require(AudioSpecificConfig([0x13, 0x90]))
    #expect(stereo.signalling(rate: 44_100, channelCount: 2)?.bytes == [0x2b, 0x92, 0x08, 0])
    let mono = try #require(AudioSpecificConfig([0x13, 0x88]))
    #expect(mono.signalling(rate: 44_100, channelCount: 2)?.bytes == [0xeb, 0x8a, 0x08, 0])
    #expect(mono.signalling(rate: 44_100, channelCount: 1)?.bytes == [0x2b, 0x8a, 0x08, 0])
    #expect(stereo.signalling(rate: 48_000, channelCount: 2) == nil)
    #expect(stereo.signalling(rate: 44_100, channelCount: 6) == nil)
  }

  @Test func `other object types, and channels defined in packets, are refused`() {
    // Empty, half a configuration, AAC Main, no channel configuration, an explicit rate.
    for bytes: [UInt8] in [[], [0x12], [0x0a, 0x10], [0x12, 0x00], [0x16, 0x90]] {
      #expect(AudioSpecificConfig(bytes) == nil, "\(bytes)")
    }
  }

  @Test func `an ADTS header becomes a configuration`() throws {
    // AAC-LC, 44.1 kHz, stereo, 11 bytes, without a checksum.
    let packet: [UInt8] = [0xff, 0xf1, 0x50, 0x80, 0x01, 0x7f, 0xfc, 1, 2, 3, 4]
    let header = try #require(ADTSHeader(packet))
    #expect(header.byteCount == 7)
    #expect(AudioSpecificConfig(header)?.bytes == [0x12, 0x10])
    for (place, value) in [(0, 0xfe), (2, 0x10), (4, 0x02), (6, 0xfd)] as [(Int, UInt8)] {
      var broken = packet
      broken[place] = value
      #expect(ADTSHeader(broken) == nil, "\(place)")
    }
    #expect(ADTSHeader([]) == nil)
  }

  @Test func `no bytes stop the readers`() {
    for seed in UInt64(1)...2_000 {
      var random = SplitMix64(seed: seed)
      let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      _ = AudioSpecificConfig(bytes)
      _ = ADTSHeader([0xff, 0xf1] + bytes)
    }
  }
}
