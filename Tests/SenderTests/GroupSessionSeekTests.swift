import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of seeks and skips, as the rooms are told.
@Suite struct GroupSessionSeekTests {
  private static let twoItems = ["8000x1:16000", "8000x1:16000"]

  @Test func `a seek cuts all rooms at one time and goes on from there`() throws {
    var group = TestGroup.playing()
    group.command(.seek(to: .seconds(7)))
    let flush = try #require(group.flushes.first)
    #expect(flush.generation == 1)
    #expect(flush.isRamped)
    let first = try #require(group.packets().first)
    #expect(first.generation == 1)
    #expect(first.startsRun)
    #expect(first.mediaTime >= flush.from)
    #expect(first.mediaTime - flush.from < .milliseconds(1))
    #expect(sample(first) == TestSource.sample(7 * 8000))
    #expect(group.anchors.map(\.rate) == [.paused, .playing])
    #expect(group.anchors.allSatisfy { $0.mediaTime == flush.from })
    group.advance(by: .seconds(1))
    let position = group.session.status(at: group.now).position
    #expect(position > .milliseconds(7900))
    #expect(position < .milliseconds(8000))
  }

  @Test func `a seek before the start, or while paused, keeps the rooms still`() throws {
    var group = TestGroup(rooms: 2)
    group.joinReady()
    group.command(.seek(to: .seconds(3)))
    #expect(group.flushes.first?.from == .zero)
    #expect(group.anchors.isEmpty)

    var paused = TestGroup.playing()
    paused.command(.pause)
    paused.advance(by: .seconds(1))
    let held = try #require(paused.anchors.last)
    paused.command(.seekBy(.seconds(3)))
    #expect(paused.flushes.first?.from == held.mediaTime)
    paused.command(.resume)
    #expect(paused.anchors.last?.mediaTime == held.mediaTime)
  }

  @Test(arguments: [PlayerCommand.seek(to: .seconds(7)), .seekBy(.seconds(7))])
  func `a seek while the source opens is carried out once it is open`(seek: PlayerCommand) {
    var group = TestGroup(producesAtOnce: false)
    group.joinReady()
    #expect(group.command(seek) == .success(.done))
    #expect(group.session.status(at: group.now).target == .seconds(7))
    group.advance(by: .seconds(5))
    group.produce()
    group.advance(by: .seconds(1))
    #expect(group.packets().first.map(sample) == TestSource.sample(56_000))
    #expect(group.session.status(at: group.now).position >= .seconds(7))
  }

  @Test func `steps while the source opens add up to no place that cannot be counted`() {
    var group = TestGroup(producesAtOnce: false)
    group.joinReady()
    func target() -> MediaDuration? { group.session.status(at: group.now).target }
    // As far as an order can say.
    for _ in 0..<40 {
      #expect(group.command(.seekBy(MediaDuration(seconds: .infinity))) == .success(.done))
    }
    #expect(target() == .seconds(400_000_000))
    group.command(.seekBy(MediaDuration(flicks: .max)))
    group.command(.seek(to: MediaDuration(flicks: .max)))
    #expect(target() == .seconds(400_000_000))
    group.command(.seekBy(MediaDuration(flicks: .min)))
    #expect(target() == nil)
    group.command(.seekBy(.seconds(7)))
    #expect(target() == .seconds(7))
    group.advance(by: .seconds(5))
    group.produce()
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).position >= .seconds(7))
  }

  @Test(arguments: [PlayerCommand.seek(to: .seconds(1)), .seekBy(.seconds(1))])
  func `a seek while the chosen source opens leads into that, and not into what sounds`(
    seek: PlayerCommand
  ) {
    var group = TestGroup.playing(Self.twoItems)
    group.producesAtOnce = false
    group.command(.next)
    #expect(group.command(seek) == .success(.done))
    #expect(group.session.status(at: group.now).chosen?.id == 1)
    #expect(group.session.status(at: group.now).target == .seconds(1))
    group.advance(by: .seconds(5))
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(group.session.status(at: group.now).item?.item.id == 1)
    #expect(group.session.status(at: group.now).position >= .seconds(1))
  }

  @Test func `while the first source opens, next goes to the second item`() {
    var group = TestGroup(Self.twoItems, producesAtOnce: false)
    group.joinReady()
    group.command(.next)
    #expect(group.session.status(at: group.now).chosen?.id == 1)
  }

  @Test func `where nothing is to be played, a seek is refused`() {
    var group = TestGroup([], endsWithPlaylist: false)
    group.joinReady()
    #expect(group.command(.seek(to: .seconds(7))) == .failure(.nothingPlays))
    #expect(group.command(.seekBy(.seconds(7))) == .failure(.nothingPlays))
  }

  @Test func `a seek before the beginning goes to the beginning`() {
    var group = TestGroup.playing()
    group.command(.seekBy(.seconds(-100)))
    #expect(group.packets().first.map(sample) == TestSource.sample(0))
  }

  @Test func `a seek beyond the end goes to the next item, and in the last one to its last second`()
  {
    var group = TestGroup.playing(Self.twoItems)
    group.command(.seek(to: .seconds(2)))
    group.advance(by: .milliseconds(200))
    #expect(group.session.status(at: group.now).itemNumber == 2)
    group = TestGroup.playing()
    group.command(.seek(to: .seconds(999)))
    group.advance(by: .milliseconds(200))
    var position = group.session.status(at: group.now).position
    #expect(position >= .seconds(9) && position < .milliseconds(9_300))
    // A key that is held does not go back.
    group.command(.seekBy(.seconds(10)))
    group.advance(by: .milliseconds(200))
    let before = position
    position = group.session.status(at: group.now).position
    #expect(position > before)
    group.advance(by: .seconds(2))
    #expect(group.events.last == .finished)
  }

  @Test func `producing that takes long moves the start, not the music`() throws {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(7)))
    let flush = try #require(group.flushes.first)
    group.advance(by: .milliseconds(300))
    group.produce()
    #expect(group.anchors.map(\.rate) == [.paused, .playing])
    let anchor = try #require(group.anchors.last)
    #expect(anchor.mediaTime == flush.from)
    #expect(anchor.groupTime >= GroupTime(ofSender: group.now) + .milliseconds(40))
  }

  @Test func `what was produced for an older generation is thrown away`() {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(7)))
    let obsolete = ProducedBatch(
      generation: 0, steps: [.itemEnded(at: .zero), .finished(at: .zero)])
    group.handle(.produced(obsolete))
    group.produce()
    group.advance(by: .seconds(1))
    #expect(!group.session.isFinished)
    #expect(group.packets().allSatisfy { $0.generation == 1 })
  }

  @Test func `next and previous go where a listener expects`() {
    var group = TestGroup.playing(["8000x1:80000", "8000x1:80000"])
    group.command(.next)
    group.advance(by: .milliseconds(500))
    #expect(group.session.status(at: group.now).itemNumber == 2)
    group.command(.previous)
    group.advance(by: .milliseconds(500))
    #expect(group.session.status(at: group.now).itemNumber == 1)
    group.command(.seek(to: .seconds(5)))
    group.advance(by: .milliseconds(500))
    group.command(.previous)
    group.advance(by: .milliseconds(500))
    #expect(group.session.status(at: group.now).itemNumber == 1)
    #expect(group.session.status(at: group.now).position < .seconds(1))
  }

  @Test func `more than two hundred and fifty-six seeks are no trouble`() {
    var group = TestGroup.playing(["8000x1:800000"], with: .test(span: .milliseconds(200)))
    seekThreeHundredTimes(&group)
    var ids: Set<UInt16> = []
    var announced: Set<UInt16> = [0]
    for message in group.streamed() {
      switch message {
      case .format(let id, _): announced.insert(id)
      case .packet(let packet):
        ids.insert(packet.formatID)
        #expect(announced.contains(packet.formatID))
      case .attach, .artwork: break
      }
    }
    #expect(group.packets().last?.generation == 300)
    #expect(ids.allSatisfy { $0 <= 255 })
  }

  @Test func `an identifier that comes round again is announced again with its new meaning`() {
    var group = TestGroup.playing(
      ["8000x1:800000", "11025x1:110250"], with: .test(span: .milliseconds(200)))
    group.command(.next)
    group.advance(by: .milliseconds(500))
    let begun = group.session.status(at: group.now).item
    #expect(begun?.item.id == 1)
    seekThreeHundredTimes(&group)
    var formats: [UInt16: StreamFormat] = [:]
    for message in group.streamed() {
      switch message {
      case .format(let id, let format): formats[id] = format
      case .packet(let packet):
        #expect(packet.generation == 0 || formats[packet.formatID]?.audio.sampleRate == 11_025)
      case .attach, .artwork: break
      }
    }
  }

  /// Seeks slowly enough for each seek to be carried out.
  private func seekThreeHundredTimes(_ group: inout TestGroup) {
    for place in Int64(0)..<300 {
      group.command(.seek(to: .milliseconds(place * 10)))
      group.advance(by: .milliseconds(60))
      group.handle(.received(TestGroup.room, .control, []))
    }
  }

  private func sample(_ packet: AudioPacket) -> Float {
    let bits = packet.encoded.payload.prefix(4).reversed().reduce(UInt32(0)) {
      $0 << 8 | UInt32($1)
    }
    return Float(bitPattern: bits)
  }
}
