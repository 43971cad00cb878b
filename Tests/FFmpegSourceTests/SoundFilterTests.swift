import Audio
import Clock
import Foundation
import Sender
import TestSupport
import Testing

@testable import FFmpegSource

/// Tests of the effect of filters on tones, with FFmpeg itself.
@Suite struct SoundFilterTests {
  private static let rate = 48_000

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes three seconds of a sine with a peak of `level`, relative to full scale.
  private func sine(_ frequency: Double, level: Double, rate: Int = rate) throws -> FileSource {
    var recording = Recording(rate: rate, frames: 0)
    recording.samples = (0..<3 * rate).flatMap { frame in
      let angle = 2 * .pi * frequency * Double(frame) / Double(rate)
      let sample = Int32((sin(angle) * level * 32_767).rounded())
      return [sample, sample]
    }
    return try FileSource(path: recording.write(to: "\(frequency).flac", in: folder))
  }

  private func effects(_ filters: [SoundFilter]) -> Effects {
    var effects = Effects()
    effects.filters = filters
    return effects
  }

  /// Returns the power of the last second, in dB relative to a sine of full scale.
  private func level(of frames: [Float]) -> Double {
    let end = frames.suffix(2 * Self.rate)
    let power = end.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(end.count)
    return 10 * log10(2 * power + 1e-12)
  }

  /// Returns the gain of a tone by filters, in dB.
  private func gain(_ filters: String..., at frequency: Double, level: Double = 0.05) throws
    -> Double
  {
    let filters = try filters.map { try SoundFilter($0) }
    let plain = try readAll(sine(frequency, level: level))
    let source = try FilteredSource(
      sine(frequency, level: level), effects: effects(filters), path: "tone")
    let frames = try readAll(source)
    #expect(frames.count == plain.count)
    return self.level(of: frames) - self.level(of: plain)
  }

  private func expect(_ gain: Double, _ wanted: Double, _ place: SourceLocation = #_sourceLocation)
  {
    #expect(abs(gain - wanted) < 0.5, "\(gain) dB for \(wanted)", sourceLocation: place)
  }

  @Test(arguments: [-24.0, -12, 3, 12, 24])
  func `an equalizer raises its band by its gain, and nothing far away`(wanted: Double) throws {
    expect(try gain("equalizer 1000:\(wanted)", at: 1_000, level: 0.02), wanted)
    expect(try gain("equalizer 1000:\(wanted):0.5", at: 50, level: 0.02), 0)
    expect(try gain("equalizer 1000:\(wanted):0.5", at: 15_000, level: 0.02), 0)
  }

  @Test func `the width of a band is in octaves`() throws {
    // At its edges, such a filter has half its gain in dB, by definition of its width.
    for edge in [-1.0, 1] {
      expect(try gain("equalizer 1000:12:2", at: 1_000 * pow(2, edge)), 6)
    }
  }

  @Test(arguments: [-12.0, 6])
  func `bass and treble raise their side alone`(wanted: Double) throws {
    expect(try gain("bass \(wanted)", at: 20), wanted)
    expect(try gain("bass \(wanted)", at: 3_000), 0)
    expect(try gain("bass \(wanted):400", at: 400), wanted / 2)
    expect(try gain("treble \(wanted)", at: 18_000), wanted)
    expect(try gain("treble \(wanted)", at: 150), 0)
    expect(try gain("treble \(wanted):6000", at: 6_000), wanted / 2)
  }

  @Test func `passes take away 3 dB at their frequency and 12 dB in each octave beyond`() throws {
    expect(try gain("highpass 1000", at: 1_000), -3)
    expect(try gain("highpass 1000", at: 10_000), 0)
    expect(try gain("highpass 1000", at: 125), -36)
    expect(try gain("lowpass 1000", at: 1_000), -3)
    expect(try gain("lowpass 1000", at: 100), 0)
    expect(try gain("lowpass 200", at: 1_600), -36)
  }

  @Test func `a compressor works above its threshold, by its ratio, and adds its makeup`() throws {
    // With a short attack and a long release, the peaks determine the gain. Those of this sine are at -3
    // dB.
    let loud = try gain("compressor -24:4:1:100", at: 1_000, level: 0.708)
    expect(loud, -(24 - 3) * 0.75)
    expect(try gain("compressor -24:4", at: 1_000, level: 0.02), 0)
    expect(try gain("compressor -24:4:20:250:6", at: 1_000, level: 0.02), 6)
  }

  @Test func `a limiter lets no peak through, and leaves alone what is below`() throws {
    let source = try FilteredSource(
      sine(1_000, level: 0.9), effects: effects([SoundFilter("limiter -12")]), path: "tone")
    let peak = try readAll(source).suffix(Self.rate).map(abs).max() ?? 0
    expect(20 * log10(Double(peak)), -12)
    expect(try gain("limiter -12", at: 1_000, level: 0.2), 0)
  }

  @Test func `filters act one after the other`() throws {
    expect(try gain("bass 6", "bass -6", "equalizer 1000:4", "equalizer 1000:2", at: 1_000), 6)
  }

  @Test func `a filter above an item's band does nothing, or cuts at its end`() throws {
    for text in ["equalizer 15000:24", "treble 24:15000", "lowpass 20000"] {
      let source = try FilteredSource(
        sine(440, level: 0.1, rate: 8_000), effects: effects([SoundFilter(text)]), path: "tone")
      expect(level(of: try readAll(source)), -20)
    }
    let source = try FilteredSource(
      sine(440, level: 0.1, rate: 8_000), effects: effects([SoundFilter("highpass 20000")]),
      path: "tone")
    #expect(try level(of: readAll(source)) < -40)
  }

  @Test func `seeks in filtered music are as exact as the filters' memory`() throws {
    let path = try Recording(rate: Self.rate, frames: 200_000).write(to: "noise.flac", in: folder)
    let wanted = effects(
      try ["highpass 80", "equalizer 1000:6:2", "bass 3", "limiter -1"].map { try SoundFilter($0) })
    let whole = try readAll(FilteredSource(FileSource(path: path), effects: wanted, path: path))
    #expect(whole.count == 400_000)
    let source = try FilteredSource(FileSource(path: path), effects: wanted, path: path)
    for place in [150_000, 7, 48_000, 199_990] {
      try source.seek(toFrame: Int64(place))
      let part = try readAll(source)
      #expect(part.count == whole.count - 2 * place)
      #expect(zip(part, whole[(2 * place)...]).allSatisfy { abs($0 - $1) < 1e-3 }, "at \(place)")
    }
  }

  /// This holds by construction: `FilterText` contains only known names and numbers.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `whatever is asked for, FFmpeg reads names and numbers, and takes bounded time and memory`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    var wanted = Effects()
    wanted.rate = .random(in: Effects.rates, using: &random)
    wanted.pitch = .random(in: Effects.pitches, using: &random)
    wanted.loudness = .random(in: Effects.loudnesses, using: &random)
    wanted.filters = try (0..<Effects.filterLimit).map { _ in
      let kind = try #require(SoundFilter.Kind.allCases.randomElement(using: &random))
      return try SoundFilter(
        kind,
        kind.parameters.map {
          Bool.random(using: &random)
            ? .random(in: $0.range, using: &random)
            : [$0.range.lowerBound, $0.range.upperBound].randomElement(using: &random) ?? 0
        })
    }
    let format = AudioFormat(
      sampleRate: [8_000, 44_100, 192_000].randomElement(using: &random) ?? 0,
      channelCount: .random(in: 1...2, using: &random))
    let text = FilterText.chain(wanted, nil, of: format, nil)
    #expect(text.utf8.count < 4_096)
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    #expect(parts.count <= 24)
    for part in parts { #expect(part.wholeMatch(of: Self.form) != nil, "\(part)") }
    let graph = try FilterGraph(text, format: format, path: "tone")
    #expect(try run(graph, format) <= 4 * format.sampleRate)
  }

  private static var form: Regex<(Substring, Substring)> {
    /[a-z]+=(:?[a-zA-Z_]*=?-?[0-9.]+(?:e-?[0-9]+)?|:?t=o|:precision=float|:[a-zA-Z]+=[0-9.e-]+)+/
  }

  /// Writes a tenth of a second of full scale. Returns the number of frames that come back, all of which
  /// are finite.
  private func run(_ graph: FilterGraph, _ format: AudioFormat) throws -> Int {
    let loud = [Float](repeating: 1, count: format.sampleRate / 10 * format.channelCount)
    var frames: [Float] = []
    for block in [loud, []] {
      #expect(graph.write(block))
      while try graph.read(appendingTo: &frames) == true {}
    }
    #expect(!frames.contains { !$0.isFinite })
    return frames.count / format.channelCount
  }

  @Test func `a chain is what this program's command line says, and nothing else`() {
    for text in ["amovie=/etc/passwd", "", "volume=2", "bass=g=3"] {
      #expect(OwnChain(text) == nil)
    }
    #expect(CommandLine.arguments.last.map { OwnChain($0) != nil } ?? false)
  }
}
