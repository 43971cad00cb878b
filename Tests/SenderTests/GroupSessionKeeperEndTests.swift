import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of when there is nothing that another process could go on with. Were a record left over,
/// rooms would play after a crash what somebody had stopped or left.
@Suite struct GroupSessionKeeperEndTests {
  private static let nothing: [StreamRecord?] = [nil]

  @Test(arguments: [true, false]) func `nothing is left of what somebody has stopped`(
    isHalt: Bool
  ) {
    var group = SuccessionGroup.playing()
    group.take()
    group.command(isHalt ? .halt : .stop)
    #expect(group.records == Self.nothing)
    group.advance(by: .seconds(1))
    #expect(group.records == Self.nothing)
  }

  @Test(arguments: [true, false]) func `nothing is left of a list that is over`(
    endsWithPlaylist: Bool
  ) {
    var group = SuccessionGroup.playing(["8000x1:16000"], endsWithPlaylist: endsWithPlaylist)
    group.take()
    group.advance(by: .seconds(2))
    #expect(group.records == Self.nothing)
  }

  @Test func `while a choice is not carried out nothing is left of what it replaces`() {
    var group = SuccessionGroup.playing()
    group.producesAtOnce = false
    group.take()
    group.command(.seek(to: .seconds(10)))
    #expect(group.record?.state == .holding)
    #expect(group.record?.beginning?.position == .seconds(10))
    // The source is still being opened for the first choice.
    group.command(.seek(to: .seconds(20)))
    #expect(group.records.count == 2 && group.record == nil)
    group.advance(by: .milliseconds(100))
    #expect(group.record?.beginning?.position == .seconds(20))
  }

  @Test func `what is heard as it happens is not taken over`() {
    var group = SuccessionGroup(["input"], producesAtOnce: false) { _ in
      TestInput(at: LocalTime(nanoseconds: 1_000_000_000), latency: .milliseconds(30))
    }
    group.join()
    for _ in 0..<5 { group.produceOne() }
    group.advance(by: .milliseconds(500))
    #expect(group.session.timeline.isPlaying && group.session.live.item != nil)
    #expect(group.records.isEmpty)
  }

  @Test func `groups that share their time with others are not taken over`() {
    let group = SuccessionGroup.playing(holdsAtCuts: false)
    #expect(group.session.timeline.isPlaying && group.records.isEmpty)
  }
}
