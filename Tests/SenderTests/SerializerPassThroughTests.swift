import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

@Suite struct SerializerPassThroughTests {
  private static func begin(
    _ location: String = "8000x1:8123", at time: MediaTime = .zero, position: MediaDuration = .zero,
    continues: Bool = false, codecs: CodecSet = .all
  ) -> ProductionOrder {
    .begin(
      .init(
        item: PlayItem(id: 0, location: location), position: position, mediaTime: time,
        generation: 0, continues: continues, codecs: codecs))
  }

  private static func serializer(
    passesPackets: Bool = true, open: @escaping Serializer.OpenSource = openPassedSource
  ) -> Serializer {
    Serializer(passesPackets: passesPackets, openSource: open, makeEncoder: makePCMEncoder)
  }

  private static func packets(_ steps: [ProducedBatch.Step]) -> [ProducedPacket] {
    steps.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
  }

  private static func choice(_ steps: [ProducedBatch.Step]) -> WireChoice? {
    steps.compactMap { if case .opened(let opened, _) = $0 { opened.wire } else { nil } }.first
  }

  private static func formats(_ steps: [ProducedBatch.Step]) -> [Codec] {
    steps.compactMap { if case .format(_, let format) = $0 { format.codec } else { nil } }
  }

  /// Returns everything that is left of the current item.
  private static func rest(_ serializer: Serializer) -> (
    steps: [ProducedBatch.Step], end: MediaTime
  ) {
    var steps: [ProducedBatch.Step] = []
    for _ in 0..<100 {
      steps += serializer.produce(.more(.milliseconds(300), generation: 0)).steps
      if case .itemEnded(let end)? = steps.last { return (steps, end) }
      if case .failed(_, _, let end)? = steps.last { return (steps, end) }
    }
    Issue.record("no end")
    return (steps, .zero)
  }

  @Test func `packets are passed on as they are, and items join without a gap`() throws {
    let serializer = Self.serializer()
    var steps = serializer.produce(Self.begin()).steps
    #expect(Self.choice(steps) == WireChoice(codec: .mp3, reason: .passedOn))
    let first = Self.rest(serializer)
    steps += first.steps
    steps += serializer.produce(Self.begin(at: first.end, continues: true)).steps
    steps += Self.rest(serializer).steps + serializer.produce(.finish(generation: 0)).steps
    let packets = Self.packets(steps)
    #expect(Self.formats(steps) == [.mp3, .mp3])
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 2 * 8_123)
    #expect(packets.filter(\.startsRun).map(\.mediaTime) == [.zero, first.end])
    #expect(packets.filter(\.endsStream).count == 1 && packets.last?.endsStream == true)
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime == one.mediaTime + one.duration)
    }
    let whole = TestPackets(TestSource(rate: 8_000, channels: 1, length: 8_123), as: .mp3)
    for packet in packets where packet.mediaTime < first.end {
      let expected = try whole.next()
      #expect(packet.encoded == expected)
    }
  }

  @Test func `what a room does not decode is encoded, and so is what was asked for`() {
    let lacking = CodecSet([.pcm, .flac])
    var steps = Self.serializer().produce(Self.begin(codecs: lacking)).steps
    #expect(Self.choice(steps) == WireChoice(codec: .pcm, reason: .roomsLack(.mp3)))
    #expect(Self.formats(steps) == [.pcm])
    steps = Self.serializer(passesPackets: false).produce(Self.begin()).steps
    #expect(Self.choice(steps) == WireChoice(codec: .pcm, reason: .asked))
    steps = Self.serializer(open: openTestSource).produce(Self.begin()).steps
    #expect(
      Self.choice(steps)
        == WireChoice(codec: .pcm, reason: .obstacle(.notPassable(codec: "PCM"))))
  }

  @Test func `an item begun within has packets that only prepare, at its very beginning`() {
    let serializer = Self.serializer()
    let begin = Self.begin(at: MediaTime(flicks: 705_600_000), position: .milliseconds(500))
    var steps = serializer.produce(begin).steps
    steps += Self.rest(serializer).steps + serializer.produce(.finish(generation: 0)).steps
    let packets = Self.packets(steps)
    #expect(packets.prefix(3).map(\.encoded.frameCount) == [0, 0, 160])
    #expect(Set(packets.prefix(3).map(\.mediaTime)).count == 1)
    #expect(packets.map(\.startsRun) == [true] + packets.dropFirst().map { _ in false })
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 8_123 - 4_000)
  }

  @Test func `where packets cannot be passed on any further, the item is decoded from there on`() {
    let serializer = Self.serializer { (item) throws(MediaError) in
      let source = try openTestSource(item)
      (source as? TestSource)?.passed = (.mp3, 1_600)
      return source
    }
    var steps = serializer.produce(Self.begin()).steps
    steps += Self.rest(serializer).steps + serializer.produce(.finish(generation: 0)).steps
    #expect(Self.formats(steps) == [.mp3, .pcm])
    let packets = Self.packets(steps)
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 8_123)
    #expect(packets.filter(\.startsRun).count == 2)
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime == one.mediaTime + one.duration)
    }
  }

  @Test func `recoding encodes what lies before as well, and counts it as skipped`() {
    let serializer = Self.serializer()
    var begin = ProductionOrder.Beginning(
      item: PlayItem(id: 0, location: "8000x1:8123"), position: .milliseconds(500),
      mediaTime: MediaTime(flicks: 705_600_000), generation: 0, continues: false,
      codecs: CodecSet([.pcm]))
    begin.isRecoding = true
    var steps = serializer.produce(.begin(begin)).steps
    steps += Self.rest(serializer).steps + serializer.produce(.finish(generation: 0)).steps
    let packets = Self.packets(steps)
    #expect(packets.prefix(7).map(\.encoded.skippedFrames) == [160, 160, 160, 160, 160, 160, 0])
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 8_123 - 4_000)
    #expect(packets.first { $0.encoded.frameCount > 0 }?.mediaTime == begin.mediaTime)
    // The first frame that counts is number 4000 of the item.
    let first = packets.first { $0.encoded.frameCount > 0 }?.encoded.payload.prefix(4) ?? []
    let bits = first.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    #expect(Float(bitPattern: bits) == TestSource.sample(4_000))
  }

  private static func wires(_ steps: [ProducedBatch.Step]) -> [WireChoice?] {
    steps.compactMap {
      switch $0 {
      case .opened(let item, _), .metadata(let item, _): item.wire
      default: nil
      }
    }
  }

  private static func expectNoGap(_ packets: [ProducedPacket]) {
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime == one.mediaTime + one.duration)
    }
  }

  @Test func `a live stream that breaks off is passed on again, also as another one`() {
    let serializer = Self.serializer { (_) throws(MediaError) in
      TestLive(length: 8_000, passing: [(.mp3, 1_600), (.aac, 1_600)])
    }
    var steps = serializer.produce(Self.begin()).steps
    steps += Self.rest(serializer).steps + serializer.produce(.finish(generation: 0)).steps
    #expect(Self.formats(steps) == [.mp3, .aac, .pcm])
    #expect(
      Self.wires(steps) == [
        WireChoice(codec: .mp3, reason: .passedOn), WireChoice(codec: .aac, reason: .passedOn),
        WireChoice(codec: .pcm, reason: .obstacle(.isLive)),
      ])
    let packets = Self.packets(steps)
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 8_000)
    #expect(packets.filter(\.startsRun).count == 3)
    Self.expectNoGap(packets)
  }

  @Test func `what is live is encoded from where it is, once a room does not decode it`() throws {
    let serializer = Self.serializer { (_) throws(MediaError) in
      TestLive(length: 8_000, passing: [(.mp3, 80_000)])
    }
    var steps = serializer.produce(Self.begin()).steps
    steps += serializer.produce(.more(.milliseconds(100), generation: 0)).steps
    // Rooms that decode it change nothing.
    let able = CodecSet([.pcm, .mp3])
    #expect(serializer.produce(.recode(able, generation: 0)).steps.isEmpty)
    steps += serializer.produce(.recode(CodecSet([.pcm]), generation: 0)).steps
    #expect(Self.wires(steps).last == WireChoice(codec: .pcm, reason: .roomsLack(.mp3)))
    steps += Self.rest(serializer).steps + serializer.produce(.finish(generation: 0)).steps
    #expect(Self.formats(steps) == [.mp3, .pcm])
    let packets = Self.packets(steps)
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 8_000)
    Self.expectNoGap(packets)
    let first = try #require(packets.last { $0.startsRun })
    let bits = first.encoded.payload.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    #expect(Float(bitPattern: bits) == TestSource.sample(first.mediaTime.flicks / 88_200))
  }

  @Test func `what is held back before a cut is given, and nothing behind it`() {
    let serializer = Self.serializer()
    _ = serializer.produce(Self.begin())
    let given = Self.packets(serializer.produce(.more(.milliseconds(100), generation: 0)).steps)
    let cut = MediaTime(flicks: 705_600_000 / 10)
    let left = serializer.produce(.leave(from: cut, generation: 1)).steps
    #expect(given.count == 4)
    #expect(Self.packets(left).map(\.mediaTime) == [MediaTime(flicks: 705_600_000 / 50 * 4)])
    #expect(serializer.produce(.more(.seconds(1), generation: 1)).steps.isEmpty)
  }
}
