import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of recoding that begins exactly where an item does, and of items that cannot be read
/// again. The rooms that play hear no seam, and people are told of no item twice.
@Suite struct GroupSessionRecodingEdgeTests {
  private static let able = Welcome.test(codecs: [.pcm, .mp3])
  private static let unable = Welcome.test(codecs: [.pcm])

  /// An item that is passed on as MP3 and can only be read from its beginning to its end, so that
  /// nothing of it can be made anew.
  private static func openOnce(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    let source = TestSource(rate: 8_000, channels: 1, length: 16_000, isSeekable: false)
    source.passed = (.mp3, nil)
    return source
  }

  /// A file and a station, which is live and passed on as MP3.
  private static func openStation(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    guard item.location == "station" else { return try openTestSource(item) }
    return TestLive(length: 800_000, passing: [(.mp3, 800_000)])
  }

  /// Lets a room that decodes MP3 play for half a second, so that the first item is announced.
  private static func play(_ group: inout TestGroup) {
    group.joinReady(with: able)
    group.advance(by: .milliseconds(500))
    group.take()
  }

  /// Adds a room that decodes only PCM, so that the codec of all rooms changes.
  private static func joinAnother(_ group: inout TestGroup) {
    group.handle(.roomAdded(TestGroup.other, name: "late", receiverID: nil))
    group.join(TestGroup.other, with: unable)
  }

  private func isToldOfRecoding(_ group: TestGroup) -> Bool {
    group.events.changes(of: TestGroup.other).contains(.recoded(from: .mp3))
  }

  /// True if the producer was told to go on in another codec, without opening the item anew.
  private func isRecodedOnTheWay(_ group: TestGroup) -> Bool {
    group.outputs.contains { if case .produce(.recode(_, _)) = $0 { true } else { false } }
  }

  /// Returns the events that tell people which items ended and began.
  private func told(_ group: TestGroup) -> [String] {
    group.events.compactMap { event -> String? in
      switch event {
      case .itemEnded(let item): "end \(item.id)"
      case .itemStarted(let opened): "start \(opened.item.id)"
      default: nil
      }
    }
  }

  // MARK: - Items that can be read again

  @Test func `an item that is made anew from its first frame follows the one before it`() throws {
    var group = TestGroup(
      ["8000x1:32000", "8000x1:40000"],
      openSource: { (item) throws(MediaError) in
        item.id == 1 ? try openPassedSource(item) : try openTestSource(item)
      })
    Self.play(&group)
    group.producesAtOnce = false
    Self.joinAnother(&group)
    let boundary = MediaTime.zero + .seconds(4)
    #expect(group.flushes.map(\.from) == [boundary])
    #expect(isToldOfRecoding(group))
    let begun = try #require(group.beginnings.first)
    #expect(begun.item.id == 1)
    #expect(begun.position == .zero)
    #expect(begun.mediaTime == boundary)
    #expect(!begun.isRecoding && !begun.continues)
    // An edit of the list looks for what follows this one.
    #expect(group.session.production.predecessor?.id == 0)
    group.producesAtOnce = true
    group.produce()
    #expect(group.session.timeline.segments.last?.isChosen == false)
    group.advance(by: .seconds(4))
    #expect(told(group) == ["end 0", "start 1"])
  }

  @Test func `an item that is made anew in its middle is the same item to those who follow it`()
    throws
  {
    var group = TestGroup(openSource: openPassedSource)
    Self.play(&group)
    Self.joinAnother(&group)
    let cut = try #require(group.flushes.first?.from)
    #expect(cut > .zero)
    #expect(cut.flicks % MediaDuration.milliseconds(40).flicks == 0)
    let begun = try #require(group.beginnings.first)
    #expect(begun.mediaTime == cut)
    #expect(begun.position == cut - MediaTime.zero)
    #expect(begun.isRecoding)
    #expect(group.session.timeline.segments.last?.start == cut)
    #expect(group.session.timeline.segments.last?.isChosen == true)
    group.advance(by: .seconds(2))
    #expect(told(group).isEmpty)
    #expect(group.session.mediaTime(at: group.now) > cut)
  }

  // MARK: - Items that can be read once

  @Test func `behind an item that can be read once, the next one is made anew from its beginning`()
    throws
  {
    var group = TestGroup(
      ["8000x1:16000", "8000x1:80000"],
      openSource: { (item) throws(MediaError) in
        item.id == 1 ? try openPassedSource(item) : try Self.openOnce(item)
      })
    Self.play(&group)
    Self.joinAnother(&group)
    let boundary = MediaTime.zero + .seconds(2)
    #expect(group.flushes.map(\.from) == [boundary])
    #expect(isToldOfRecoding(group))
    #expect(!isRecodedOnTheWay(group))
    let begun = try #require(group.beginnings.first)
    #expect(begun.item.id == 1)
    #expect(begun.position == .zero)
    #expect(begun.mediaTime == boundary)
  }

  @Test func `an item that can be read once, and was read to its end, is left as it is`() {
    var group = TestGroup(openSource: Self.openOnce)
    Self.play(&group)
    Self.joinAnother(&group)
    #expect(group.flushes.isEmpty)
    #expect(!isToldOfRecoding(group))
    #expect(!isRecodedOnTheWay(group))
    #expect(group.beginnings.isEmpty)
  }

  /// A station that is opened anew has lost what it sent meanwhile.
  @Test func `a station that is still to sound goes on in another codec from its first frame`() {
    var group = TestGroup(
      ["8000x1:32000", "station"], producesAtOnce: false, openSource: Self.openStation)
    // All of the file, and the station's first second.
    for _ in 0..<20 { group.produceOne() }
    Self.play(&group)
    group.produceOne()
    #expect(group.session.timeline.segments.last?.start == .zero + .seconds(4))
    group.take()
    Self.joinAnother(&group)
    group.produceOne()
    #expect(isRecodedOnTheWay(group))
    #expect(isToldOfRecoding(group))
    #expect(group.flushes.isEmpty)
    #expect(group.beginnings.isEmpty)
  }
}
