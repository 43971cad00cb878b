import Audio
import Clock
import Receiver
import Testing

@Suite struct RendererTests {
  /// The steepest step in a frame of a 5 ms fade along a raised cosine.
  static let steepestFade = 0.5 * .pi / 240 * 1.01

  @Test func `the first frame sounds exactly when it should`() {
    let room = TestRoom()
    room.feed(1000..<40_000)
    room.sendAnchor(.playing, frame: 1000, atDevice: 9600)
    room.run(toDevice: 12_000)
    #expect(room.isSilent(0..<9600))
    #expect(room.heard(9600).gain > 0)
    #expect(room.largestGainStep(9000..<12_000) < Self.steepestFade)
    for device in 9850..<12_000 {
      #expect(room.heard(device).gain == 1)
      #expect(abs(room.heard(device).position - Double(device - 8600)) < 0.02)
    }
    #expect(room.lastReport.activity == .playing)
    #expect(room.lastReport.starvations == 0)
  }

  @Test func `an anchor between two frames is met with its fraction`() {
    let room = TestRoom()
    room.feed(1000..<40_000)
    let time = TestRoom.groupTime(ofDevice: 9600) - Nanoseconds(5_208)
    room.send(
      .anchor(Anchor(mediaTime: TestRoom.mediaTime(ofFrame: 1000), groupTime: time, rate: .playing))
    )
    room.run(toDevice: 12_000)
    #expect(room.isSilent(0..<9600))
    #expect(abs(room.heard(11_000).position - 2400.25) < 0.02)
  }

  @Test func `who joins late begins where the others are`() {
    let room = TestRoom()
    room.feed(60_000..<90_000)
    room.sendAnchor(.playing, frame: 0, atDevice: -60_000)
    room.run(toDevice: 10_000)
    #expect(abs(room.heard(9000).position - 69_000) < 0.05)
    #expect(room.largestGainStep(0..<10_000) < Self.steepestFade)
  }

  @Test func `who missed that media time stood still jumps when it hears of a later anchor`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 24_000)
    // Meanwhile the others stood still for 480 frames.
    room.sendAnchor(.playing, frame: 20_000, atDevice: 30_080)
    room.run(toDevice: 36_000)
    #expect(abs(room.heard(29_800).position - 20_200) < 0.02)
    #expect(abs(room.heard(30_400).position - 20_320) < 0.02)
    #expect(room.largestGainStep(9000..<36_000) < Self.steepestFade)
  }

  @Test func `a pause is silent from its frame on, and playing goes on where it stopped`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 14_400)
    room.sendAnchor(.paused, frame: 10_398, atDevice: 19_998)
    room.run(toDevice: 24_000)
    #expect(room.lastReport.activity == .paused)
    #expect(room.lastReport.playhead == TestRoom.mediaTime(ofFrame: 10_398))
    room.sendAnchor(.playing, frame: 10_398, atDevice: 30_000)
    room.run(toDevice: 36_000)
    #expect(room.heard(19_758).gain > 0.99)
    #expect(room.heard(19_997).gain > 0)
    #expect(room.isSilent(19_998..<30_000))
    #expect(room.heard(30_000).gain > 0)
    #expect(abs(room.heard(31_000).position - 11_398) < 0.02)
    #expect(room.largestGainStep(9000..<36_000) < Self.steepestFade)
    #expect(room.lastReport.starvations == 0)
  }

  @Test func `a pause that is written over already is heard on time`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    let rewinds = room.rewindCount
    room.sendAnchor(.paused, frame: 11_400, atDevice: 21_000)
    room.run(toDevice: 24_000)
    #expect(room.rewindCount == rewinds + 1)
    #expect(room.heard(20_750).gain > 0.99)
    #expect(room.isSilent(21_000..<24_000))
    #expect(room.largestGainStep(19_000..<24_000) < Self.steepestFade)
  }

  @Test func `a pause that comes too late is obeyed at once, with a fade`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.sendAnchor(.paused, frame: 8400, atDevice: 18_000)
    room.run(toDevice: 24_000)
    #expect(room.isSilent(19_200 + TestRoom.rewindMargin + 240..<24_000))
    #expect(room.largestGainStep(19_000..<24_000) < Self.steepestFade)
  }

  @Test func `nothing sounds by the clock of the sender before`() {
    let room = TestRoom()
    room.feed(0..<90_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.send(.forgetSchedule)
    room.sendCut(from: 0, generation: 2)
    room.feed(0..<90_000, generation: 2)
    // An anchor by the next sender's clock, which is half a second ahead of the first one's.
    let ahead = Nanoseconds.milliseconds(500)
    room.send(
      .anchor(
        Anchor(
          mediaTime: .zero, groupTime: TestRoom.groupTime(ofDevice: 28_800) + ahead, rate: .playing)
      ))
    room.run(toDevice: 60_000)
    #expect(room.isSilent(19_200 + TestRoom.rewindMargin + 240..<60_000))
    #expect(room.lastReport.activity == .idle)
    #expect(room.lastReport.replacements == 0)
    room.send(.clock(TestRoom.estimate(ahead: 5_000_000_000 + ahead.count), isStep: true))
    room.run(toDevice: 72_000)
    #expect(abs(room.heard(70_000).position - 41_200) < 0.05)
  }

  @Test func `without anchors there is silence`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.send(.forgetSchedule)
    room.run(toDevice: 24_000)
    #expect(room.isSilent(19_200 + TestRoom.rewindMargin + 240..<24_000))
    #expect(room.lastReport.activity == .idle)
  }

  @Test func `missing frames are silence, counted once, and what follows is in its place`() {
    let room = TestRoom()
    room.feed(0..<12_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 24_000)
    #expect(room.lastReport.activity == .starved)
    room.feed(12_000..<40_000)
    room.run(toDevice: 36_000)
    #expect(room.heard(21_300).gain == 1)
    #expect(room.isSilent(21_600..<24_000))
    #expect(abs(room.heard(33_000).position - 23_400) < 0.02)
    #expect(room.largestGainStep(9000..<36_000) < Self.steepestFade)
    #expect(room.lastReport.starvations == 1)
    #expect(room.lastReport.activity == .playing)
  }

  @Test func `a lost packet is a hole with soft edges`() {
    let room = TestRoom()
    room.feed(0..<6000)
    room.feed(7000..<40_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 24_000)
    #expect(room.heard(15_350).gain > 0.99)
    #expect(room.isSilent(15_600..<16_600))
    #expect(room.heard(16_850).gain > 0.9999)
    #expect(room.largestGainStep(9000..<24_000) < Self.steepestFade)
  }

  @Test func `what follows a cut behind the end is waited for, the silence before it is not`() {
    let room = TestRoom()
    room.feed(0..<12_000)
    room.send(.end(at: TestRoom.mediaTime(ofFrame: 12_000)))
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.sendCut(from: 13_000, generation: 2)
    room.run(toDevice: 19_680)
    room.feed(13_000..<40_000, generation: 2)
    room.run(toDevice: 26_400)
    #expect(room.isSilent(21_600..<22_600))
    #expect(room.heard(22_900).gain == 1)
    #expect(room.lastReport.starvations == 0)
  }

  @Test func `silence after the end of the stream is no starvation`() {
    let room = TestRoom()
    room.feed(0..<12_000)
    room.send(.end(at: TestRoom.mediaTime(ofFrame: 12_000)))
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 26_400)
    #expect(room.lastReport.activity == .ended)
    #expect(room.lastReport.starvations == 0)
    room.sendCut(from: 12_000, generation: 2)
    room.run(toDevice: 31_200)
    #expect(room.lastReport.activity == .starved)
  }

  @Test func `a positive delay sounds later`() {
    let room = TestRoom()
    room.feed(0..<40_000)
    room.send(.delay(.milliseconds(20)))
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 14_400)
    #expect(room.isSilent(0..<10_560))
    #expect(abs(room.heard(12_000).position - 1440) < 0.02)
  }

  @Test func `a changed delay is obeyed by a jump, faded on both sides`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.send(.delay(.milliseconds(-10)))
    room.run(toDevice: 30_000)
    #expect(abs(room.heard(29_000).position - 19_880) < 0.02)
    #expect(room.largestGainStep(9000..<30_000) < Self.steepestFade)
    #expect(room.lastReport.replacements == 1)
  }

  @Test func `an error too large to steer is jumped over once it lasts`() {
    let room = TestRoom()
    room.feed(0..<90_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.send(.clock(TestRoom.estimate(ahead: 5_006_000_000), isStep: false))
    room.run(toDevice: 36_000)
    #expect(abs(room.heard(35_000).position - 25_688) < 0.02)
    #expect(room.largestGainStep(9000..<36_000) < Self.steepestFade)
    #expect(room.lastReport.replacements == 1)
  }

  @Test func `a small error is steered away, at no more than 300 ppm`() {
    let room = TestRoom()
    room.feed(0..<400_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.send(.clock(TestRoom.estimate(ahead: 5_000_500_000), isStep: false))
    room.run(toDevice: 24_000)
    #expect(abs(room.lastReport.syncError.count + 500_000) < 50_000)
    let before = room.heard(24_000 - 4800).position
    let after = room.heard(24_000 + 2400).position
    #expect((200e-6...310e-6).contains(abs((after - before) / 7200 - 1)))
    room.run(toDevice: 24_000 + 48_000 * 6)
    #expect(abs(room.lastReport.syncError.count) < 30_000)
    #expect(room.lastReport.replacements == 0)
    #expect(room.largestGainStep(12_000..<300_000) < 1e-5)
  }

  @Test func `after the card ran dry playback is placed exactly once more`() {
    let room = TestRoom()
    room.feed(0..<200_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.restartCard()
    room.run(toDevice: 33_600)
    #expect(room.isSilent(19_200..<20_000))
    #expect(abs(room.heard(30_000).position - 68_400) < 0.05)
    #expect(room.largestGainStep(19_200..<33_600) < Self.steepestFade)
    #expect(room.lastReport.underruns == 1)
  }

  @Test func `silence written ahead while the card's clock settled is taken back`() {
    let room = TestRoom()
    room.feed(0..<200_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.restartCard()
    room.run(toDevice: 33_600)
    let first = (19_200..<33_600).first { room.heard($0).gain > 0 } ?? 33_600
    #expect(first < 19_200 + TestRoom.lead)
  }

  @Test func `a volume is heard before what was written ahead has been`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.send(.gain(0.5))
    room.run(toDevice: 24_000)
    #expect(room.heard(19_200 + TestRoom.rewindMargin).gain == 1)
    #expect(room.heard(19_200 + TestRoom.rewindMargin + 961).gain == 0.5)
    #expect(room.largestGainStep(19_000..<24_000) < Self.steepestFade)
  }

  @Test func `until the card's clock has settled there is silence`() {
    let room = TestRoom()
    room.observes = false
    room.feed(0..<40_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 4800)
    room.run(toDevice: 9600)
    #expect(room.isSilent(0..<9600))
    #expect(room.lastReport.activity == .settling)
    room.observes = true
    room.run(toDevice: 24_000)
    #expect(abs(room.heard(20_000).position - 15_200) < 0.02)
  }

  @Test func `reports that find their queue full are dropped and counted`() {
    let room = TestRoom()
    let reports = room.reports
    while reports.send(RenderReport()) {}
    room.turn()
    room.run(toDevice: 9600)
    #expect(room.lastReport.lostReports == 2)
  }

  @Test func `a room is not idle before its card's clock is known`() {
    let room = TestRoom()
    room.observes = false
    room.run(toDevice: 10 * TestRoom.periodFrames)
    #expect(room.lastReport.activity == .settling)
    room.observes = true
    room.run(toDevice: 40 * TestRoom.periodFrames)
    #expect(room.lastReport.activity == .idle)
  }
}
