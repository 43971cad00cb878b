import Foundation
import Sender
import TestSupport
import Testing

@testable import FFmpegSource

@Suite struct FilteredSourceTests {
  private static let rate = 48_000

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes two seconds of 1000 Hz at a quarter of full scale.
  private func sine(_ name: String = "a.flac", _ tags: [String] = []) throws -> FileSource {
    var recording = Recording(rate: Self.rate, frames: 0)
    recording.samples = (0..<2 * Self.rate).flatMap { frame in
      let sample = Int32(
        (sin(2 * .pi * 1_000 * Double(frame) / Double(Self.rate)) * 8_192).rounded())
      return [sample, sample]
    }
    return try FileSource(path: recording.write(to: name, tags, in: folder))
  }

  private func effects(_ change: (inout Effects) -> Void) -> Effects {
    var effects = Effects()
    change(&effects)
    return effects
  }

  /// Returns the frequency in Hz by counting rising zero crossings of the left channel, without the
  /// ends.
  private func frequency(of frames: [Float]) -> Double {
    let left = stride(from: 0, to: frames.count, by: 2).map { frames[$0] }
    let middle = left[left.count / 5..<left.count * 4 / 5]
    let rises = zip(middle, middle.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
    return Double(rises) * Double(Self.rate) / Double(middle.count)
  }

  @Test(arguments: [0.25, 0.5, 0.8, 1.25, 2, 3.3, 4])
  func `the rate changes the length and not the pitch`(rate: Double) throws {
    let source = try FilteredSource(sine(), effects: effects { $0.rate = rate }, path: "a.flac")
    #expect(source.rate == rate)
    #expect(source.frameCount == 96_000)
    let frames = try readAll(source)
    #expect(abs(Double(frames.count / 2) - 96_000 / rate) < 2_500)
    #expect(Double(frames.count / 2) <= (96_000 / rate).rounded())
    #expect(abs(frequency(of: frames) - 1_000) < 20)
  }

  @Test(arguments: [0.25, 0.9999, 1.25, 4])
  func `a pitch that is not kept follows the rate`(rate: Double) throws {
    let source = try FilteredSource(
      sine(),
      effects: effects {
        $0.rate = rate
        $0.keepsPitch = false
      }, path: "a.flac")
    let frames = try readAll(source)
    #expect(abs(Double(frames.count / 2) - 96_000 / rate) < 100)
    #expect(abs(frequency(of: frames) / (1_000 * rate) - 1) < 0.002)
  }

  @Test(arguments: [-12, -2, 0.5, 7, 12])
  func `the pitch changes and the length does not`(pitch: Double) throws {
    let source = try FilteredSource(sine(), effects: effects { $0.pitch = pitch }, path: "a.flac")
    let frames = try readAll(source)
    #expect(abs(frames.count / 2 - 96_000) < 2_500)
    let expected = 1_000 * pow(2, pitch / 12)
    #expect(abs(frequency(of: frames) / expected - 1) < 0.02)
  }

  @Test func `a place is sought in the item's own time`() throws {
    let source = try FilteredSource(sine(), effects: effects { $0.rate = 2 }, path: "a.flac")
    try source.seek(toFrame: 48_000)
    #expect(abs(try readAll(source).count / 2 - 24_000) < 1_300)
    try source.seek(toFrame: 96_000)
    #expect(try readAll(source).isEmpty)
    try source.seek(toFrame: 0)
    #expect(abs(try readAll(source).count / 2 - 48_000) < 1_300)
  }

  @Test func `tags of loudness are a plain gain, to the frame and within full scale`() throws {
    let gain = ["-metadata", "REPLAYGAIN_TRACK_GAIN=-4.00 dB"]
    let plain = try sine("a.flac", gain)
    #expect(plain.metadata.loudness == -14)
    let quieter = try FilteredSource(plain, effects: effects { $0.loudness = -20 }, path: "a.flac")
    let frames = try readAll(quieter)
    #expect(frames.count == 2 * 96_000)
    #expect(abs((frames.max() ?? 0) - Float(0.25 * pow(10, -6 / 20.0))) < 0.001)
    let peak = gain + ["-metadata", "REPLAYGAIN_TRACK_PEAK=0.5"]
    let louder = try FilteredSource(
      sine("b.flac", peak), effects: effects { $0.loudness = -5 }, path: "b.flac")
    #expect(abs((try readAll(louder).max() ?? 0) - 0.5) < 0.001)
    let opus = try sine("a.opus", ["-metadata", "R128_TRACK_GAIN=-512"])
    #expect(opus.metadata.loudness == -21)
    // Its tags name no peak, so nobody knows how much louder it may be.
    let same = try FilteredSource(opus, effects: effects { $0.loudness = -5 }, path: "a.opus")
    #expect(abs((try readAll(same).max() ?? 0) - 0.25) < 0.01)
  }

  @Test func `without tags the loudness is measured on the way`() throws {
    let source = try FilteredSource(sine(), effects: effects { $0.loudness = -30 }, path: "a.flac")
    let frames = try readAll(source)
    #expect(frames.count == 2 * 96_000)
    // A sine of this level in both channels has -12 LUFS.
    #expect((0.02...0.06).contains(frames[96_000...].prefix(20_000).max() ?? 0))
  }

  @Test func `a chain of the user's own can be had, and seeks in it go to the frame`() throws {
    let recording = Recording(rate: Self.rate, frames: 200_000)
    let path = try recording.write(to: "noise.flac", in: folder)
    func source(_ chain: String) throws -> FilteredSource {
      try FilteredSource(
        FileSource(path: path), effects: Effects(), chain: OwnChain(trusted: chain), path: path)
    }
    #expect(try readAll(source("lowpass=f=500,volume=0.5")).count == 400_000)
    let inverted = try source("volume=-1")
    #expect(try readAll(inverted) == recording.floats.map { -$0 })
    for place in [150_000, 7, 48_000, 199_990] {
      try inverted.seek(toFrame: Int64(place))
      #expect(try readAll(inverted) == recording.floats[(2 * place)...].map { -$0 }, "at \(place)")
    }
  }

  @Test func `a wrong chain is named in one line`() throws {
    for chain in ["nosuchfilter", "lowpass=nosuchoption=5", "anullsink"] {
      let error = #expect(throws: MediaError.self) {
        try FilteredSource.check(Effects(), chain: OwnChain(trusted: chain))
      }
      #expect(error.map { !"\($0)".contains("\n") && "\($0)".contains(chain) } ?? false)
    }
    let chain = OwnChain(trusted: "equalizer=f=100:width_type=o:w=2:g=3")
    try FilteredSource.check(Effects(), chain: chain)
  }
}
