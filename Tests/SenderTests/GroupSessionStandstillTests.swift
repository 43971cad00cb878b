import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of when rooms are told to stand still because nothing more has come, and when they go on.
/// Were it wrong, music would stutter though all is there, or begin late, and people would be told
/// of a slow source that is none.
@Suite struct GroupSessionStandstillTests {
  private static func group(_ items: [String] = ["song 0"], holdsAtCuts: Bool = true) -> TestGroup {
    TestGroup(items, producesAtOnce: false, holdsAtCuts: holdsAtCuts)
  }

  /// A group that has played half of the only second that has come.
  private static func playing() -> TestGroup {
    var group = Self.group()
    group.joinReady()
    group.give([.opening()], music: 0..<1_000)
    group.advance(by: .milliseconds(500))
    group.take()
    return group
  }

  private static func at(_ milliseconds: Int64) -> MediaTime {
    MediaTime.zero + .milliseconds(milliseconds)
  }

  private func warnings(_ group: TestGroup) -> Int {
    group.events.count { if case .buffering = $0 { true } else { false } }
  }

  // MARK: - To stand still

  @Test func `rooms that can hold no more are full, and their source is not late`() {
    var group = TestGroup(["8000x1:8000000"], producesAtOnce: false)
    group.joinReady(with: .test(span: .milliseconds(80)))
    group.producesAtOnce = true
    group.produce()
    for _ in 0..<800 { group.advance(by: .milliseconds(5)) }
    // More is ordered only where less is left than the source is usually given to deliver.
    #expect(group.session.store.end.map { $0 > Self.at(3_000) } == true)
    #expect(group.anchors.map(\.rate) == [.playing])
  }

  @Test func `where effects change, rooms stand still in time for the first packets to come`()
    throws
  {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    var effects = Effects()
    effects.pitch = 1
    group.command(.effects(effects))
    let cut = try #require(group.flushes.first?.from)
    let time = try #require(group.session.timeline.groupTime(of: cut))
    let due = try #require(group.session.holdTime)
    let horizon = group.session.commitHorizon
    #expect(due == LocalTime(onSender: time) - horizon - .milliseconds(50))
    // The item is open only now: that its frames have just been ordered gains no time.
    group.advance(by: due - group.now - .milliseconds(10))
    group.produceOne()
    #expect(group.isAwaitingProduction)
    #expect(group.session.holdTime == due)
    group.advance(by: .milliseconds(10))
    #expect(group.anchors.map(\.rate) == [.paused])
    #expect(group.anchors.first?.mediaTime == cut)
  }

  @Test(arguments: [(Int64(0), false), (10, true)])
  func `what comes in the last instant is in time, and what comes later is not`(
    delay: Int64, standsStill: Bool
  ) throws {
    var group = Self.playing()
    let due = try #require(group.session.holdTime)
    // Nothing has woken the session meanwhile.
    group.jump(by: due - group.now + .milliseconds(delay))
    group.give(music: 1_000..<1_100)
    #expect(group.anchors.map(\.rate) == (standsStill ? [.paused] : []))
    #expect(group.anchors.allSatisfy { $0.mediaTime == Self.at(980) })
  }

  @Test func `rooms that have too many anchors to keep are told to stand still later`() {
    var group = Self.group()
    group.joinReady()
    group.give([.opening()], music: 0..<1_000)
    group.say(.status(.test(.playing, horizon: .milliseconds(300))))
    group.advance(by: .milliseconds(465))
    // A pause and a start wait in the rooms from here on, 300 ms ahead.
    group.command(.pause)
    group.advance(by: .milliseconds(1))
    group.command(.resume)
    #expect(group.session.timeline.isPlaying)
    group.take()
    group.advance(by: .milliseconds(300))
    #expect(group.anchors.isEmpty)
    group.advance(by: .milliseconds(10))
    #expect(group.anchors.map(\.rate) == [.paused])
    #expect(group.anchors.first?.mediaTime == Self.at(980))
  }

  // MARK: - To say so

  @Test func `while the next item is being opened, nobody is told of it for half a second`() {
    var group = Self.group(["song 0", "song 1"])
    group.joinReady()
    group.give([.opening()], music: 0..<1_000, then: [.itemEnded(at: Self.at(1_000))])
    // The first item ends 45 ms later.
    group.advance(by: .milliseconds(1_000))
    #expect(group.anchors.last?.rate == .paused)
    #expect(group.anchors.last?.mediaTime == Self.at(1_000))
    group.advance(by: .milliseconds(540))
    #expect(warnings(group) == 0)
    #expect(group.session.status(at: group.now).state == .playing)
    group.advance(by: .milliseconds(10))
    #expect(group.session.status(at: group.now).state == .buffering)
    #expect(group.session.status(at: group.now).buffering?.item.id == 1)
  }

  @Test func `after a pause, nobody is told for half a second that there is too little`() {
    var group = Self.playing()
    group.advance(by: .seconds(1))
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.take()
    group.command(.resume)
    #expect(warnings(group) == 0)
    #expect(group.session.status(at: group.now).buffering == nil)
    group.advance(by: .milliseconds(490))
    #expect(warnings(group) == 0)
    #expect(group.session.status(at: group.now).buffering == nil)
    group.advance(by: .milliseconds(20))
    #expect(warnings(group) == 1)
    #expect(group.session.status(at: group.now).buffering?.item.id == 0)
  }

  @Test func `an item that was chosen before the first sounded is opened without a word`() {
    var group = TestGroup(["8000x1:80000", "8000x1:80000"])
    group.joinReady()
    group.producesAtOnce = false
    group.command(.next)
    #expect(group.flushes.map(\.from) == [.zero])
    // Nothing is known of it, so there is nothing to tell, however long it takes.
    group.advance(by: .seconds(3))
    #expect(warnings(group) == 0)
    group.produce()
    #expect(group.anchors.last?.rate == .playing)
    #expect(!group.events.contains { if case .buffered = $0 { true } else { false } })
  }

  // MARK: - To go on

  @Test func `playing begins with the very packet that fills the reserve`() {
    var group = Self.group()
    group.joinReady()
    group.give([.opening()], music: 0..<249)
    #expect(group.anchors.isEmpty)
    group.give(music: 249..<250)
    #expect(group.anchors.count == 1)
  }

  @Test(arguments: [(Int64(99), 0), (100, 1)])
  func `an item of a tenth of a second does not wait for the next one, and a shorter one does`(
    length: Int64, expected: Int
  ) {
    var group = Self.group(["song 0", "song 1"])
    group.join()
    let end = Self.at(length)
    group.give([.opening()], music: 0..<length, then: [.itemEnded(at: end)])
    group.give([.opening(1, at: end)])
    group.say(.status(.test(.ready)))
    #expect(group.anchors.count == expected)
  }

  @Test func `what lies before a cut is played, however little it is`() {
    var group = Self.playing()
    group.advance(by: .seconds(1))
    // The rooms stand still at 980, and would wait for more than this.
    group.give(music: 1_000..<1_100)
    #expect(group.anchors.last?.rate == .paused)
    group.command(.renew(from: .milliseconds(1_100)))
    #expect(group.anchors.last?.rate == .playing)
  }

  @Test(arguments: [(true, 0), (false, 1)])
  func `where several groups keep the same time, none of them waits for a reserve`(
    holdsAtCuts: Bool, expected: Int
  ) {
    var group = Self.group(holdsAtCuts: holdsAtCuts)
    group.joinReady()
    group.give([.opening()], music: 0..<50)
    #expect(group.anchors.count == expected)
  }
}

// MARK: - What a producer gives

extension TestGroup {
  /// Answers an order with packets that sound in this span of milliseconds, and with steps before
  /// and behind them. Only for groups whose producer is the test.
  mutating func give(
    _ first: [ProducedBatch.Step] = [], music span: Range<Int64>? = nil,
    then last: [ProducedBatch.Step] = [], in generation: UInt32? = nil
  ) {
    let current = session.timeline.generation
    handle(.produced(.given(first, music: span, then: last, in: generation ?? current)))
  }
}

extension ProducedBatch {
  private static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 8_000, channelCount: 1), sampleType: .float32)

  static func given(
    _ first: [Step], music span: Range<Int64>?, then last: [Step], in generation: UInt32
  ) -> Self {
    var steps: [Step] = [.format(id: 0, format)]
    steps += first
    if let span { steps += music(span, in: generation) }
    steps += last
    return ProducedBatch(generation: generation, steps: steps)
  }

  /// Returns packets of 50 ms, and a shorter one at the end.
  private static func music(_ span: Range<Int64>, in generation: UInt32) -> [Step] {
    stride(from: span.lowerBound, to: span.upperBound, by: 50).map { begin -> Step in
      let length = min(50, span.upperBound - begin)
      let packet = ProducedPacket(
        generation: generation, mediaTime: MediaTime.zero + .milliseconds(begin), formatID: 0,
        startsRun: begin == 0, endsStream: false, duration: .milliseconds(length),
        encoded: EncodedPacket(payload: [0], frameCount: Int(length) * 8))
      return .packet(packet)
    }
  }
}

extension ProducedBatch.Step {
  /// The item with this identity is open. Its location is "song 0", or as its number says.
  static func opening(
    _ id: Int = 0, at start: MediaTime = .zero, position: MediaDuration = .zero,
    supply: Supply = .stored, live: LiveTiming? = nil
  ) -> Self {
    var opened = OpenedItem(
      item: PlayItem(id: id, location: "song \(id)"), duration: nil, position: position,
      isSeekable: live == nil, metadata: ItemMetadata())
    (opened.supply, opened.live) = (supply, live)
    return .opened(opened, at: start)
  }
}
