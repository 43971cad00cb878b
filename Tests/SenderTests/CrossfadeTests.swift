import Audio
import Clock
import Foundation
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Checks each sample of what is encoded where one item follows another.
@Suite struct CrossfadeTests {
  private typealias Sound = @Sendable (Int64) -> Float

  private static let low = tone(440)
  private static let high = tone(660)
  private static let third = tone(550)

  private static func tone(_ frequency: Double) -> Sound {
    { Float(0.5 * sin(2 * .pi * frequency * Double($0) / 8_000)) }
  }

  /// Items by their names.
  private static func open(
    _ items: [String: FadeSource]
  ) -> Serializer.OpenSource {
    { item throws(MediaError) in
      guard let source = items[item.location] else { throw .notFound(path: item.location) }
      try source.seek(toFrame: 0)
      return source
    }
  }

  private static func serializer(_ items: [String: FadeSource]) -> Serializer {
    Serializer(openSource: open(items), makeEncoder: makePCMEncoder)
  }

  private static func begin(
    _ name: String, id: Int, seconds: Double, at time: MediaTime = .zero,
    position: MediaDuration = .zero, generation: UInt32 = 0, continues: Bool = true,
    fading: ProductionOrder.Fading? = nil
  ) -> ProductionOrder {
    var effects = Effects()
    effects.crossfade = seconds
    return .begin(
      .init(
        item: PlayItem(id: id, location: name), position: position, mediaTime: time,
        generation: generation, effects: effects, continues: continues, fading: fading))
  }

  /// The audio of items that follow each other, and where each is shown from.
  private struct Played {
    var samples: [Float] = []
    var starts: [(name: String, frame: Int, opened: OpenedItem)] = []
    var failed: [String] = []
    var end = MediaTime.zero
    private var origin: MediaTime?

    mutating func take(_ steps: [ProducedBatch.Step]) {
      for step in steps {
        switch step {
        case .packet(let packet):
          var frames: [Float] = []
          SampleFormat.float32.decode(packet.encoded.payload, appendingTo: &frames)
          origin = origin ?? packet.mediaTime
          samples += frames
        case .opened(let opened, let time):
          let frame = (time - .zero).seconds * 8_000
          starts.append((opened.item.location, Int(frame.rounded()), opened))
          end = time
        case .itemEnded(let time), .finished(let time): end = time
        case .failed(let item, _, let time):
          failed.append(item.location)
          end = time
        case .format, .metadata: break
        }
      }
    }

    mutating func drain(_ serializer: Serializer, generation: UInt32 = 0) {
      while true {
        let steps = serializer.produce(.more(.seconds(1), generation: generation)).steps
        take(steps)
        switch steps.last {
        case .itemEnded?, .failed?: return
        default: if steps.isEmpty { return }
        }
      }
    }
  }

  private func play(
    _ names: [String], of items: [String: FadeSource], seconds: Double,
    repeated: Bool = false
  ) -> Played {
    let serializer = Self.serializer(items)
    var played = Played()
    for (id, name) in names.enumerated() {
      let order = Self.begin(
        name, id: repeated ? 0 : id, seconds: seconds, at: played.end, continues: id > 0)
      played.take(serializer.produce(order).steps)
      if played.failed.last != name { played.drain(serializer) }
    }
    played.take(serializer.produce(.finish(generation: 0)).steps)
    return played
  }

  private static func samples(
    _ sample: (Int64) -> Float, _ range: Range<Int>
  ) -> [Float] { range.map { sample(Int64($0)) } }

  /// The power of the difference to an ideal fade, in dB of the power of that.
  private static func error(
    of samples: ArraySlice<Float>, from old: [Float], to new: [Float]
  ) -> Double {
    var (power, wrong) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let angle = (Double(index) + 0.5) / Double(samples.count) * .pi / 2
      let ideal = cos(angle) * Double(old[index]) + sin(angle) * Double(new[index])
      power += ideal * ideal
      wrong += (Double(sample) - ideal) * (Double(sample) - ideal)
    }
    return 10 * log10(wrong / power)
  }

  // MARK: - The mix

  @Test func `one tone fades into another at equal power, and all else is as it was`() {
    let items = [
      "a": FadeSource(16_000, sample: Self.low), "b": FadeSource(24_000, sample: Self.high),
    ]
    let played = play(["a", "b"], of: items, seconds: 0.5)
    #expect(played.samples.count == 16_000 + 24_000 - 4_000)
    #expect(Array(played.samples[..<12_000]) == Self.samples(Self.low, 0..<12_000))
    #expect(Array(played.samples[16_000...]) == Self.samples(Self.high, 4_000..<24_000))
    let error = Self.error(
      of: played.samples[12_000..<16_000], from: Self.samples(Self.low, 12_000..<16_000),
      to: Self.samples(Self.high, 0..<4_000))
    print("The mix differs from the ideal one by \(error) dB.")
    #expect(error < -80)
    // The next item is shown from where it is heard.
    #expect(played.starts.map(\.frame) == [0, 12_000])
    let fade = played.starts[1].opened.fade
    #expect(fade?.position == .milliseconds(1_500) && fade?.length == .milliseconds(500))
    #expect(played.end == .zero + .milliseconds(4_500))
  }

  @Test func `stereo fades as mono does, and 16 bits fade into more`() {
    let items = [
      "a": FadeSource(16_000, channels: 2, sampleType: .int16, sample: Self.low),
      "b": FadeSource(24_000, channels: 2, sample: Self.high),
    ]
    let played = play(["a", "b"], of: items, seconds: 0.5)
    #expect(played.samples.count == 2 * 36_000)
    let left = stride(from: 24_000, to: 32_000, by: 2).map { played.samples[$0] }
    #expect(stride(from: 24_001, to: 32_000, by: 2).map { played.samples[$0] } == left)
    let error = Self.error(
      of: left[...], from: Self.samples(Self.low, 12_000..<16_000),
      to: Self.samples(Self.high, 0..<4_000))
    #expect(error < -80)
  }

  @Test func `music that has nothing in common is as loud as before while it fades`() {
    var random = SplitMix64(seed: 7)
    let noise = (0..<2).map { _ in
      (0..<48_000).map { _ in Float(Double(random.next() >> 11) / Double(1 << 53) - 0.5) }
    }
    let items = [
      "a": FadeSource(48_000) { noise[0][Int($0)] }, "b": FadeSource(48_000) { noise[1][Int($0)] },
    ]
    let played = play(["a", "b"], of: items, seconds: 3)
    func power(_ range: Range<Int>) -> Double {
      10 * log10(played.samples[range].reduce(0) { $0 + Double($1 * $1) } / Double(range.count))
    }
    for begin in stride(from: 24_000, to: 48_000, by: 4_000) {
      #expect(abs(power(begin..<begin + 4_000) - power(0..<24_000)) < 0.3)
    }
  }

  // MARK: - No fade

  private static func track(
    _ length: Int64, _ sample: @escaping (Int64) -> Float, album: String?, artist: String? = nil,
    track: Int? = nil, disc: Int? = nil
  ) -> FadeSource {
    let source = FadeSource(length, sample: sample)
    (source.metadata.album, source.metadata.albumArtist) = (album, artist)
    (source.metadata.track, source.metadata.disc) = (track, disc)
    return source
  }

  @Test(
    arguments: [(1, 2, 1, 1), (nil, nil, nil, nil), (12, 1, 1, 2), (3, 4, nil, 1)]
      as [(Int?, Int?, Int?, Int?)])
  func `tracks that follow each other on an album join bit for bit`(
    one: Int?, other: Int?, disc: Int?, otherDisc: Int?
  ) {
    let items = [
      "a": Self.track(16_000, Self.low, album: "X", artist: "Y", track: one, disc: disc),
      "b": Self.track(16_000, Self.high, album: "X", artist: "Y", track: other, disc: otherDisc),
    ]
    let played = play(["a", "b"], of: items, seconds: 1)
    #expect(
      played.samples == Self.samples(Self.low, 0..<16_000) + Self.samples(Self.high, 0..<16_000))
    #expect(played.starts.map(\.frame) == [0, 16_000])
    #expect(played.starts[1].opened.fade == nil)
  }

  @Test(
    arguments: [
      ("X", "Z", 2, 1), ("W", "Y", 2, 1), ("X", "Y", 3, 1), ("X", "Y", 1, 1), ("X", "Y", 2, 2),
      ("X", nil, 2, 1), (nil, "Y", 2, 1),
    ] as [(String?, String?, Int, Int)])
  func `other tracks fade`(album: String?, artist: String?, track: Int, disc: Int) {
    let items = [
      "a": Self.track(16_000, Self.low, album: "X", artist: "Y", track: 1, disc: 1),
      "b": Self.track(16_000, Self.high, album: album, artist: artist, track: track, disc: disc),
    ]
    #expect(play(["a", "b"], of: items, seconds: 1).samples.count == 32_000 - 8_000)
  }

  @Test func `what has another rate or other channels, or no known length, joins without a gap`() {
    for (rate, channels, isKnown) in [(16_000, 1, true), (8_000, 2, true), (8_000, 1, false)] {
      let next = FadeSource(
        16_000, rate: rate, channels: channels, isKnown: isKnown, sample: Self.high)
      for names in [["a", "b"], ["b", "a"]] {
        let items = ["a": FadeSource(16_000, sample: Self.low), "b": next]
        let played = play(names, of: items, seconds: 1)
        #expect(played.samples.count == 16_000 + 16_000 * channels)
      }
    }
  }

  @Test func `a song that repeats joins itself, and without a crossfade all do`() {
    let items = [
      "a": FadeSource(16_000, sample: Self.low), "b": FadeSource(8_000, sample: Self.high),
    ]
    let whole = Self.samples(Self.low, 0..<16_000)
    #expect(play(["a", "a"], of: items, seconds: 1, repeated: true).samples == whole + whole)
    #expect(
      play(["a", "b"], of: items, seconds: 0).samples
        == whole + Self.samples(Self.high, 0..<8_000))
  }

  @Test func `the last song comes to its end`() {
    let played = play(["a"], of: ["a": FadeSource(16_000, sample: Self.low)], seconds: 1)
    #expect(played.samples == Self.samples(Self.low, 0..<16_000))
    #expect(played.end == .zero + .seconds(2))
  }

  // MARK: - Limits

  @Test func `short songs fade over at most half of their length`() {
    let items = [
      "a": FadeSource(16_000, sample: Self.low), "b": FadeSource(1_600, sample: Self.high),
      "c": FadeSource(16_000, sample: Self.third), "d": FadeSource(1, sample: Self.low),
    ]
    let played = play(["a", "b", "c", "d", "b"], of: items, seconds: 1)
    #expect(played.starts.map(\.frame) == [0, 15_200, 16_000, 32_000, 32_001])
    #expect(played.samples.count == 16_000 + 1_600 + 16_000 + 1 + 1_600 - 2 * 800)
    // From the middle of the short one on, it fades out.
    let first = Self.error(
      of: played.samples[15_200..<16_000], from: Self.samples(Self.low, 15_200..<16_000),
      to: Self.samples(Self.high, 0..<800))
    let second = Self.error(
      of: played.samples[16_000..<16_800], from: Self.samples(Self.high, 800..<1_600),
      to: Self.samples(Self.third, 0..<800))
    #expect(max(first, second) < -80)
  }

  @Test func `what is left behind a seek fades over at most half of that`() {
    let items = [
      "a": FadeSource(16_000, sample: Self.low), "b": FadeSource(16_000, sample: Self.high),
    ]
    let serializer = Self.serializer(items)
    var played = Played()
    let sought = Self.begin(
      "a", id: 0, seconds: 1, position: .milliseconds(1_500), continues: false)
    played.take(serializer.produce(sought).steps)
    played.drain(serializer)
    played.take(serializer.produce(Self.begin("b", id: 1, seconds: 1, at: played.end)).steps)
    #expect(played.starts.map(\.frame) == [0, 2_000])
  }

  @Test func `no more of an end is held than the limit`() throws {
    let source = FadeSource(40 * 192_000, rate: 192_000, channels: 8) { _ in 0 }
    let opened = OpenedItem(
      item: PlayItem(id: 0, location: "a"), duration: nil, position: .zero, isSeekable: true,
      metadata: ItemMetadata())
    var held = try #require(HeldEnd(of: source, from: 0, opened, at: .zero, seconds: 12))
    #expect(held.length == .seconds(3))
    let block = [Float](repeating: 0, count: 8 * 19_200)
    var passed = 0
    // It has more than it says.
    for _ in 0..<420 {
      var frames = block
      held.hold(&frames)
      passed += frames.count
      #expect(held.samples.count <= HeldEnd.sampleLimit)
    }
    #expect(held.samples.count == HeldEnd.sampleLimit)
    #expect(passed + held.samples.count == 420 * block.count)
  }

  @Test(arguments: [Int64.max, 0, 1, -5]) func `an item that lies about its length breaks nothing`(
    length: Int64
  ) {
    let liar = FadeSource(length, sample: Self.high)
    liar.length = 4_000
    let items = ["a": FadeSource(16_000, sample: Self.low), "b": liar]
    for names in [["a", "b"], ["b", "a"]] {
      let played = play(names, of: items, seconds: 1)
      #expect((20_000 - 4_000...20_000).contains(played.samples.count), "\(names)")
    }
  }

  // MARK: - What goes wrong

  @Test func `where an item cannot be opened the one behind it fades in`() {
    let items = [
      "a": FadeSource(16_000, sample: Self.low), "b": FadeSource(16_000, sample: Self.high),
    ]
    let played = play(["a", "gone", "b"], of: items, seconds: 0.5)
    #expect(played.failed == ["gone"])
    #expect(played.samples.count == 28_000)
    #expect(played.starts.map(\.frame) == [0, 12_000])
  }

  @Test func `where the next item breaks off the one before still comes to its end`() {
    let torn = FadeSource(16_000, sample: Self.high)
    torn.brokenAt = 1_000
    let items = ["a": FadeSource(16_000, sample: Self.low), "b": torn]
    let played = play(["a", "b"], of: items, seconds: 0.5)
    #expect(played.failed == ["b"])
    #expect(played.samples.count == 16_000)
    let silent = Self.samples(Self.high, 0..<1_000) + [Float](repeating: 0, count: 3_000)
    let error = Self.error(
      of: played.samples[12_000...], from: Self.samples(Self.low, 12_000..<16_000), to: silent)
    #expect(error < -80)
  }

  @Test func `where an item breaks off in its end all of it that there is was played`() {
    let torn = FadeSource(16_000, sample: Self.low)
    torn.brokenAt = 15_000
    let items = ["a": torn, "b": FadeSource(16_000, sample: Self.high)]
    let played = play(["a", "b"], of: items, seconds: 0.5)
    #expect(
      played.samples == Self.samples(Self.low, 0..<15_000) + Self.samples(Self.high, 0..<16_000))
  }

  // MARK: - Edits

  private static var three: [String: FadeSource] {
    [
      "a": FadeSource(16_000, sample: low), "b": FadeSource(16_000, sample: high),
      "c": FadeSource(16_000, sample: third),
    ]
  }

  @Test func `an item that was only opened gives the end back for another`() {
    let serializer = Self.serializer(Self.three)
    var played = Played()
    played.take(
      serializer.produce(Self.begin("a", id: 0, seconds: 0.5, continues: false)).steps)
    played.drain(serializer)
    let end = played.end
    played.take(serializer.produce(Self.begin("b", id: 1, seconds: 0.5, at: end)).steps)
    played.take(serializer.produce(Self.begin("c", id: 2, seconds: 0.5, at: end)).steps)
    played.drain(serializer)
    played.take(serializer.produce(.finish(generation: 0)).steps)
    #expect(played.samples == play(["a", "c"], of: Self.three, seconds: 0.5).samples)
  }

  private static let fading = ProductionOrder.Fading(
    item: PlayItem(id: 0, location: "a"), position: .milliseconds(1_500),
    span: .milliseconds(500))

  @Test func `an end that is read again fades as it did the first time`() {
    let serializer = Self.serializer(Self.three)
    var played = Played()
    let time = MediaTime.zero + .milliseconds(1_500)
    let order = Self.begin(
      "c", id: 2, seconds: 0.5, at: time, generation: 1, continues: false, fading: Self.fading)
    played.take(serializer.produce(order).steps)
    played.drain(serializer, generation: 1)
    played.take(serializer.produce(.finish(generation: 1)).steps)
    let whole = play(["a", "c"], of: Self.three, seconds: 0.5)
    #expect(played.samples == Array(whole.samples[12_000...]))
    #expect(played.starts.map(\.frame) == [12_000])
  }

  @Test func `a fade goes on in its middle`() {
    let serializer = Self.serializer(Self.three)
    var played = Played()
    var fading = Self.fading
    (fading.position, fading.span) = (.milliseconds(1_750), .milliseconds(250))
    fading.elapsed = .milliseconds(250)
    let order = Self.begin(
      "c", id: 2, seconds: 0.5, at: .zero + .milliseconds(1_750), position: .milliseconds(250),
      generation: 1, continues: false, fading: fading)
    played.take(serializer.produce(order).steps)
    played.drain(serializer, generation: 1)
    played.take(serializer.produce(.finish(generation: 1)).steps)
    let whole = play(["a", "c"], of: Self.three, seconds: 0.5)
    #expect(played.samples == Array(whole.samples[14_000...]))
  }

  @Test func `an end that nothing follows any more is heard as it is`() {
    let serializer = Self.serializer(Self.three)
    var played = Played()
    let time = MediaTime.zero + .milliseconds(1_500)
    played.take(serializer.produce(.leave(from: time, generation: 1, end: Self.fading)).steps)
    #expect(played.end == time)
    played.take(serializer.produce(.finish(generation: 1)).steps)
    #expect(played.samples == Self.samples(Self.low, 12_000..<16_000))
    #expect(played.end == .zero + .seconds(2))
  }

  @Test func `while songs fade none is passed on, and the choice says why`() {
    for (seconds, isPassed) in [(0.0, true), (1, false)] {
      let serializer = Serializer(
        passesPackets: true, openSource: Self.open(Self.three), makeEncoder: makePCMEncoder)
      let steps = serializer.produce(
        Self.begin("a", id: 0, seconds: seconds, continues: false)
      ).steps
      guard case .opened(let opened, _)? = steps.last else {
        Issue.record("not opened")
        return
      }
      #expect(opened.wire?.isUnchanged == isPassed)
      if !isPassed { #expect(opened.wire?.sentence == "songs fade into each other") }
    }
  }
}
