import Audio
import Clock
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

@Suite struct BrokenPacketsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a file that breaks off ends with what decoding says of it`() throws {
    let file = try #require(PassedFile.all.first)
    let path = try file.write(Recording(frames: 44_100 * 6), as: file.name, in: folder)
    let bytes = try folder.bytes(of: file.name)
    let torn = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "torn.mp3")
    #expect(throws: MediaError.self) {
      let packets = try FileSource(path: torn).packets()
      while try packets.next() != nil {}
    }
    _ = path
  }

  @Test func `effects, more channels and live streams are reasons`() throws {
    let path = try Recording(channels: 6, frames: 44_100).write(to: "a.flac", in: folder)
    #expect(throws: PassObstacle.isMixed(channels: 6)) { try FileSource(path: path).packets() }
    let plain = try Recording(frames: 44_100).write(to: "b.flac", in: folder)
    var effects = Effects()
    effects.pitch = 1
    let filtered = try FilteredSource(FileSource(path: plain), effects: effects, path: plain)
    #expect(throws: PassObstacle.soundIsChanged) { try filtered.packets() }
    let wave = try Recording(frames: 44_100).write(to: "c.wav", in: folder)
    #expect(throws: PassObstacle.notPassable(codec: "pcm_s16le")) {
      try FileSource(path: wave).packets()
    }
  }

  /// Overwrites bytes of a file at random: the packets must end, or an error must be thrown.
  @Test(arguments: [
    "cbr.mp3", "lc.m4a", "lc.aac", "a.ogg", "a.opus", "a.flac", "alac.m4a", "a.eac3",
  ])
  func `damaged files stop nothing`(name: String) throws {
    let file = try #require(PassedFile.all.first { $0.name == name })
    _ = try file.write(Recording(rate: file.rate, frames: file.rate), as: file.name, in: folder)
    let bytes = try folder.bytes(of: name)
    for seed in UInt64(1)...12 {
      var random = SplitMix64(seed: seed)
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let isHeader = Bool.random(using: &random)
        let place = Int.random(
          in: 0..<(isHeader ? min(600, bytes.count) : bytes.count), using: &random)
        damaged[place] = UInt8.random(in: 0...255, using: &random)
      }
      let path = try folder.write(damaged, to: "damaged-" + name)
      guard let packets = try? FileSource(path: path).packets() else { continue }
      for frame in [0, 20_000, 3] {
        try? packets.seek(toFrame: Int64(frame))
        var count = 0
        while count < 10_000, let packet = try? packets.next() {
          #expect(packet.frameCount <= 65_536 && packet.skippedFrames <= 65_536)
          count += 1
        }
        #expect(count < 10_000)
      }
    }
  }
}
