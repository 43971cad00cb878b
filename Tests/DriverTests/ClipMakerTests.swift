import Audio
import Clock
import Codecs
import Driver
import Foundation
import Sender
import TestSupport
import Testing
import WireProtocol

/// Tests of clips that are made of words, files and the chime.
@Suite struct ClipMakerTests {
  /// The clip's sound, decoded.
  private func samples(_ made: ClipMaker.Made) throws -> [Float] {
    #expect(made.clip.format.audio == AudioFormat(sampleRate: 48_000, channelCount: 1))
    let decoder = try AudioCodecs.makeDecoder(for: made.clip.format)
    var samples: [Float] = []
    for packet in try made.clip.packets() {
      var decoded: [Float] = []
      try decoder.decode(packet.payload, appendingTo: &decoded)
      samples += decoded.dropFirst(packet.skippedFrames).prefix(packet.frameCount)
    }
    #expect(Nanoseconds(Int64(samples.count) * 1_000_000 / 48) == made.length)
    return samples
  }

  /// A voice that says the same whatever it is told: a tone.
  private func voice(
    rate: Int, seconds: Double, in folder: TemporaryFolder
  ) throws -> ClipMaker {
    var recording = Recording(rate: rate, channels: 1, bits: 16, frames: 0)
    recording.samples = (0..<Int(seconds * Double(rate))).map { frame in
      Int32(16_000 * sin(2 * .pi * 500 * Double(frame) / Double(rate)))
    }
    return ClipMaker(voice: ["cat", try recording.write(to: "voice.wav", in: folder)])
  }

  @Test func `the chime is short, and begins and ends in silence`() throws {
    let made = try ClipMaker().make(.none, withChime: true)
    #expect(made.length < .seconds(1))
    #expect(made.clip.bytes.count < 10_000)
    let samples = try samples(made)
    let peak = samples.map(\.magnitude).max() ?? 0
    #expect((0.2..<0.6).contains(peak))
    #expect(samples.prefix(24).allSatisfy { $0.magnitude < 0.05 })
    #expect(samples.suffix(480).allSatisfy { $0.magnitude < 0.01 })
  }

  @Test(arguments: [8_000, 22_050, 48_000])
  func `words are spoken at any rate, behind the chime`(rate: Int) throws {
    let folder = try TemporaryFolder()
    let maker = try voice(rate: rate, seconds: 1, in: folder)
    let alone = try maker.make(.words("Dinner\n"), withChime: false)
    #expect(abs(alone.length.seconds - 1.02) < 0.01)
    let samples = try samples(alone)
    let middle = samples[12_000..<36_000].map(\.magnitude).max() ?? 0
    #expect(abs(middle - 16_000 / 32_768) < 0.05)
    let chime = try maker.make(.none, withChime: true).length
    let both = try maker.make(.words("Dinner\n"), withChime: true).length
    #expect(abs((both - alone.length - chime).seconds + 0.02) < 0.001)
  }

  @Test
  func `a voice that goes on for ever is ended after a minute of sound, and long before its time`()
    throws
  {
    let folder = try TemporaryFolder()
    let maker = try voice(rate: 8_000, seconds: 1, in: folder)
    let path = folder.file("voice.wav")
    _ = maker
    let endless = ClipMaker(voice: ["sh", "-c", "cat \(path) /dev/zero"])
    #expect { try endless.make(.words("a\n"), withChime: false) } throws: {
      "\($0)" == "an announcement is 60 seconds long at most"
    }
  }

  @Test func `files are mixed to one channel`() throws {
    let folder = try TemporaryFolder()
    let path = try Recording(rate: 44_100, channels: 2, frames: 44_100).write(
      to: "noise.flac", in: folder)
    let made = try ClipMaker().make(.item(location: path, reach: .all), withChime: false)
    #expect(abs(made.length.seconds - 1.02) < 0.001)
    _ = try samples(made)
  }

  @Test func `what is longer than a minute, or no sound, is refused in a sentence`() throws {
    let folder = try TemporaryFolder()
    let long = try voice(rate: 8_000, seconds: 61, in: folder)
    for (maker, sound, sentence) in [
      (long, .words("a\n"), "an announcement is 60 seconds long at most"),
      (ClipMaker(voice: ["true"]), .words("a\n"), "the voice true said nothing"),
      (ClipMaker(voice: ["echo", "a text that is no sound"]), .words("a\n"), "cannot be used"),
      (ClipMaker(voice: ["/nowhere/voice"]), .words("a\n"), "cannot be started"),
      (ClipMaker(), .item(location: "/nowhere.wav", reach: .all), "no such file"),
    ] as [(ClipMaker, ClipMaker.Sound, String)] {
      #expect { try maker.make(sound, withChime: false) } throws: { "\($0)".contains(sentence) }
    }
  }

  @Test func `announcements that fail keep no descriptors until they would be late`() throws {
    func count() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    let before = try count()
    for _ in 0..<300 {
      #expect(throws: ClipMaker.Failure.self) {
        try ClipMaker().make(.item(location: "/nowhere.wav", reach: .all), withChime: false)
      }
    }
    // Each had two; other tests run beside this one.
    #expect(try count() < before + 300)
  }
}
