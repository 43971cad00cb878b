import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

@Suite struct SerializerTests {
  private static func begin(
    _ location: String, at time: MediaTime = .zero, position: MediaDuration = .zero,
    generation: UInt32 = 0, continues: Bool = false, title: String? = nil
  ) -> ProductionOrder {
    .begin(
      .init(
        item: PlayItem(id: 0, location: location, title: title), position: position,
        mediaTime: time,
        generation: generation, continues: continues))
  }

  /// Returns the steps of these items, one after the other.
  private static func steps(_ items: [String], with serializer: Serializer) -> [ProducedBatch.Step]
  {
    var steps: [ProducedBatch.Step] = []
    var time = MediaTime.zero
    for item in items {
      steps += serializer.produce(begin(item, at: time, continues: !steps.isEmpty)).steps
      var isOver = false
      while !isOver {
        if case .failed(_, _, let end)? = steps.last { (time, isOver) = (end, true) }
        if case .itemEnded(let end)? = steps.last { (time, isOver) = (end, true) }
        if !isOver { steps += serializer.produce(.more(.seconds(1), generation: 0)).steps }
      }
    }
    return steps + serializer.produce(.finish(generation: 0)).steps
  }

  private static func packets(_ steps: [ProducedBatch.Step]) -> [ProducedPacket] {
    steps.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
  }

  private static func serializer() -> Serializer {
    Serializer(openSource: openTestSource, makeEncoder: makePCMEncoder)
  }

  @Test func `items of one shape share a run`() {
    let steps = Self.steps(["8000x1:8123", "8000x1:8123"], with: Self.serializer())
    let packets = Self.packets(steps)
    #expect(packets.map(\.startsRun) == [true] + packets.dropFirst().map { _ in false })
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 2 * 8123)
    #expect(packets.filter(\.endsStream).count == 1)
    #expect(packets.last?.endsStream == true)
  }

  @Test func `an item that changes its format goes on where it was, without a gap`() throws {
    let serializer = Serializer(
      openSource: { _ throws(MediaError) in
        let source = TestSource(rate: 8_000, channels: 1, length: 8_123)
        // The same time at the other rate.
        source.next = TestSource(rate: 16_000, channels: 2, length: 32_000)
        return source
      }, makeEncoder: makePCMEncoder)
    let packets = Self.packets(Self.steps(["x"], with: serializer))
    #expect(packets.filter(\.startsRun).count == 2)
    for (packet, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime == packet.mediaTime + packet.duration)
    }
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 23_877)
  }

  @Test func `a seek in an item that takes long to open goes on with the source that is open`() {
    var sources: [TestSource] = []
    let serializer = Serializer(
      openSource: { item throws(MediaError) in
        let source = TestSource(length: 480_000)
        source.isReusable = item.location == "far"
        sources.append(source)
        return source
      }, makeEncoder: makePCMEncoder)
    func begin(_ location: String, at seconds: Int64, generation: UInt32) {
      let batch = serializer.produce(
        Self.begin(location, position: .seconds(seconds), generation: generation))
      if case .opened? = batch.steps.last { return }
      Issue.record("not opened")
    }
    begin("far", at: 0, generation: 0)
    begin("far", at: 3, generation: 1)
    #expect(sources.count == 1)
    #expect(sources.last?.position == 144_000)
    begin("far", at: 0, generation: 2)
    #expect(sources.count == 2)
    begin("near", at: 0, generation: 3)
    begin("near", at: 3, generation: 4)
    #expect(sources.count == 4)
    begin("far", at: 3, generation: 5)
    #expect(sources.count == 5)
    sources[4].isReusable = false
    begin("far", at: 4, generation: 6)
    #expect(sources.count == 6)
  }

  /// An input, or a file, that says when it is closed.
  private final class Listening: MediaSource {
    let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
    let sampleType = SampleType.float32
    let isLossless = true
    let frameCount: Int64? = nil
    let isSeekable = false
    let metadata = ItemMetadata()
    let supply: Supply
    private let onEnd: () -> Void

    init(_ supply: Supply, onEnd: @escaping () -> Void) {
      (self.supply, self.onEnd) = (supply, onEnd)
    }

    deinit { onEnd() }
    func read(_ count: Int, appendingTo frames: inout [Float]) {
      frames += [Float](repeating: 0.5, count: count)
    }
    func seek(toFrame frame: Int64) {}
  }

  @Test(arguments: [Supply.input, .piped])
  func `an input that begins anew is not closed meanwhile`(supply: Supply) {
    var log: [String] = []
    let serializer = Serializer(
      openSource: { item throws(MediaError) in
        log.append("opens \(item.location)")
        return Listening(supply) { log.append("closes") }
      }, makeEncoder: makePCMEncoder)
    for (generation, location) in ["a", "a", "b"].enumerated() {
      _ = serializer.produce(Self.begin(location, generation: UInt32(generation)))
    }
    #expect(
      log.dropLast()
        == (supply == .input
          ? ["opens a", "opens a", "closes", "closes"]
          : ["opens a", "closes", "opens a", "closes"]))
  }

  @Test(arguments: [nil, "", "Own"] as [String?])
  func `an item without a title has that of its list`(own: String?) {
    let source = TestSource(length: 48_000)
    source.metadata.title = own
    let serializer = Serializer(
      openSource: { _ throws(MediaError) in source }, makeEncoder: makePCMEncoder)
    let steps = serializer.produce(Self.begin("a", title: "Listed")).steps
    guard case .opened(let opened, _)? = steps.last else {
      Issue.record("not opened")
      return
    }
    #expect(opened.metadata.title == (own == "Own" ? "Own" : "Listed"))
    let more = serializer.produce(.more(.seconds(60), generation: 0)).steps
    #expect(!more.contains { if case .metadata = $0 { true } else { false } })
  }

  @Test func `what a station says comes before the title of its list`() {
    let station = TestStation(titles: ["One"])
    let serializer = Serializer(
      openSource: { _ throws(MediaError) in station }, makeEncoder: makePCMEncoder)
    let steps =
      serializer.produce(Self.begin("radio", title: "Listed")).steps
      + serializer.produce(.more(.seconds(60), generation: 0)).steps
    let titles = steps.compactMap { step -> String? in
      switch step {
      case .opened(let item, _), .metadata(let item, _): item.metadata.title
      default: nil
      }
    }
    #expect(titles == ["Listed", "One"])
  }

  @Test func `what a station says belongs to the frames that were read with it, at once`() {
    let station = TestStation(titles: ["One", "One", "Two"])
    let serializer = Serializer(
      openSource: { _ throws(MediaError) in station }, makeEncoder: makePCMEncoder)
    let begin = Self.begin("radio", position: .seconds(10))
    guard case .opened(let opened, _)? = serializer.produce(begin).steps.last else {
      Issue.record("not opened")
      return
    }
    #expect(opened.metadata.title == nil)
    #expect(!opened.isSeekable)
    var told: [(String?, MediaDuration, MediaTime)] = []
    for _ in 0..<3 {
      for step in serializer.produce(.more(.seconds(60), generation: 0)).steps {
        if case .metadata(let item, let time) = step {
          told.append((item.metadata.title, item.position, time))
        }
      }
    }
    #expect(station.readCount == 3)
    let second = MediaDuration(frames: 2 * 4_096, at: 48_000)
    #expect(told.map(\.0) == ["One", "Two"])
    #expect(told.map(\.1) == [.zero, second])
    #expect(told.map(\.2) == [.zero, MediaTime.zero + second])
  }

  @Test func `items of other shapes begin runs of their own, on their own grid`() {
    let steps = Self.steps(["44100x1:44101", "48000x1:4801"], with: Self.serializer())
    let packets = Self.packets(steps)
    #expect(packets.filter(\.startsRun).count == 2)
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime >= one.mediaTime + one.duration)
      #expect(next.mediaTime - (one.mediaTime + one.duration) < .milliseconds(1))
    }
    #expect(packets.last.map { $0.mediaTime.flicks % 14_700 } == 0)
    #expect(packets.filter(\.endsStream).count == 1)
  }

  @Test func `a format comes before the first packet that names it`() {
    let steps = Self.steps(
      ["8000x1:100", "16000x1:100", "8000x1:100"], with: Self.serializer())
    var known: Set<UInt16> = []
    for step in steps {
      if case .format(let id, _) = step { known.insert(id) }
      if case .packet(let packet) = step { #expect(known.contains(packet.formatID)) }
    }
    #expect(known == [0, 1, 2])
  }

  @Test func `a position is met to the frame, and said`() {
    let serializer = Self.serializer()
    let begun = serializer.produce(Self.begin("8000x1:8000", position: .milliseconds(500)))
    guard case .opened(let opened, let start)? = begun.steps.last else {
      Issue.record("not opened")
      return
    }
    #expect(opened.position == .milliseconds(500))
    #expect(opened.duration == .seconds(1))
    #expect(start == .zero)
    let rest = serializer.produce(.more(.seconds(9), generation: 0)).steps
    #expect(rest.last == .itemEnded(at: .zero + .milliseconds(500)))
  }

  @Test func `what cannot be opened or read fails with its reason`() {
    let serializer = Serializer(
      openSource: { (item) throws(MediaError) in
        switch item.location {
        case "torn": TestSource(rate: 8000, channels: 1, length: 8000, brokenAt: 4000)
        default: throw .notFound(path: item.location)
        }
      }, makeEncoder: makePCMEncoder)
    let missing = serializer.produce(Self.begin("x", at: .zero + .seconds(3))).steps
    #expect(
      missing
        == [
          .failed(
            PlayItem(id: 0, location: "x"), .notFound(path: "x"), at: MediaTime.zero + .seconds(3))
        ])
    _ = serializer.produce(Self.begin("torn"))
    let torn = serializer.produce(.more(.seconds(9), generation: 0)).steps
    guard case .failed(_, .broken, let time)? = torn.last else {
      Issue.record("what is torn was read")
      return
    }
    #expect(time == .zero + .milliseconds(500))
  }

  @Test func `what has no places begins at its beginning`() {
    let serializer = Serializer(
      openSource: { (_) throws(MediaError) in
        TestSource(rate: 8000, channels: 1, length: 8000, isSeekable: false)
      }, makeEncoder: makePCMEncoder)
    let sought = serializer.produce(Self.begin("pipe", position: .seconds(1))).steps
    guard case .opened(let opened, _)? = sought.last else {
      Issue.record("not opened")
      return
    }
    #expect(!opened.isSeekable)
    #expect(opened.position == .zero)
  }

  @Test func `a cut behind an item brings out what the encoder still holds of it`() {
    let serializer = Self.serializer()
    var packets: [ProducedPacket] = []
    var steps = serializer.produce(Self.begin("8000x1:8123")).steps
    steps += serializer.produce(.more(.seconds(9), generation: 0)).steps
    guard case .itemEnded(let end)? = steps.last else {
      Issue.record("no end")
      return
    }
    steps += serializer.produce(Self.begin("8000x1:100", at: end, continues: true)).steps
    packets += Self.packets(steps)
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) < 8123)
    let cut = serializer.produce(Self.begin("8000x1:50", at: end, generation: 1))
    #expect(cut.generation == 1)
    #expect(Self.packets(cut.steps).allSatisfy { $0.generation == 0 && $0.mediaTime < end })
    packets += Self.packets(cut.steps)
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == 8123)
    let left = serializer.produce(.leave(from: end, generation: 2))
    #expect(left.steps == [.itemEnded(at: end)])
  }

  @Test func `what lies before a cut is given before the next item is opened`() {
    var given: [ProducedBatch] = []
    var frameCounts: [Int] = []
    let serializer = Serializer(
      openSource: { item throws(MediaError) in
        frameCounts.append(
          Self.packets(given.flatMap(\.steps)).map(\.encoded.frameCount).reduce(0, +))
        return try openTestSource(item)
      }, makeEncoder: makePCMEncoder)
    serializer.giveEarly = { batch in
      given.append(batch)
      return true
    }
    var batches = [serializer.produce(Self.begin("8000x1:8123"))]
    batches.append(serializer.produce(.more(.seconds(9), generation: 0)))
    let produced = Self.packets(batches.flatMap(\.steps)).map(\.encoded.frameCount).reduce(0, +)
    guard case .itemEnded(let end)? = batches.last?.steps.last else {
      Issue.record("no end")
      return
    }
    let cut = serializer.produce(Self.begin("8000x1:50", at: end, generation: 1))
    #expect(produced < 8123)
    #expect(frameCounts == [0, 8123 - produced])
    // This is not the answer to the order; the session still waits for that.
    #expect(given.map(\.generation) == [0])
    #expect(cut.generation == 1)
    #expect(Self.packets(cut.steps).isEmpty)
  }

  @Test(arguments: [false, true])
  func `a portion ends where another order makes the rest obsolete`(passesPackets: Bool) throws {
    let serializer = Serializer(
      passesPackets: passesPackets, openSource: openPassedSource, makeEncoder: makePCMEncoder)
    let second = MediaTime.zero + .seconds(1)
    serializer.isObsolete = { $0 >= second }
    var steps = serializer.produce(Self.begin("8000x1:80000")).steps
    #expect((serializer.packets != nil) == passesPackets)
    steps += serializer.produce(.more(.seconds(9), generation: 0)).steps
    let end = try #require(Self.packets(steps).map { $0.mediaTime + $0.duration }.max())
    #expect(end >= second - .milliseconds(100) && end < second + .seconds(1))
  }

  @Test func `an item that claims to be endless has no duration`() {
    let serializer = Serializer(
      openSource: { (_) throws(MediaError) in TestSource(rate: 8000, length: .max) },
      makeEncoder: makePCMEncoder)
    guard case .opened(let opened, _)? = serializer.produce(Self.begin("x")).steps.last else {
      Issue.record("not opened")
      return
    }
    #expect(opened.duration == nil)
  }

  @Test func `orders for another generation than the last begun give nothing`() {
    let serializer = Self.serializer()
    _ = serializer.produce(Self.begin("8000x1:8000", generation: 3))
    #expect(serializer.produce(.more(.seconds(1), generation: 2)).steps.isEmpty)
    #expect(serializer.produce(.finish(generation: 4)).steps.isEmpty)
  }

  @Test func `an item without an encoder leaves no overlap behind it`() {
    let serializer = Serializer(
      openSource: openTestSource,
      makeEncoder: { (shape) throws(CodecError) in
        guard shape.format.channelCount == 1 else { throw .unsupported("stereo") }
        return PCMEncoder(
          audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)
      })
    let packets = Self.packets(
      Self.steps(["11025x1:11026", "8000x2:100", "8000x1:8000"], with: serializer))
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime >= one.mediaTime + one.duration)
    }
  }

  @Test func `format identifiers stay within the protocol's range`() {
    let serializer = Self.serializer()
    for generation in UInt32(0)..<600 {
      for step in serializer.produce(Self.begin("8000x1:10", generation: generation)).steps {
        if case .format(let id, _) = step { #expect(id < ProtocolLimits.formats) }
      }
    }
  }

  /// Random lists of items of random shapes and lengths: nothing overlaps, nothing is lost, and
  /// there is one end.
  @Test(arguments: 0..<20) func `any list of items is one stream`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let items = (0..<6).map { _ -> String in
      let rate = random.element([8000, 11_025, 16_000])
      return random.next() % 8 == 0
        ? "gone" : "\(rate)x\(random.pick(1...2)):\(random.pick(0...3000))"
    }
    let steps = Self.steps(items, with: Self.serializer())
    let packets = Self.packets(steps)
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime >= one.mediaTime + one.duration, "\(items)")
      #expect(next.mediaTime - (one.mediaTime + one.duration) < .milliseconds(1), "\(items)")
      #expect(!one.endsStream)
    }
    let frames = items.compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
    #expect(packets.map(\.encoded.frameCount).reduce(0, +) == frames.reduce(0, +))
  }
}
