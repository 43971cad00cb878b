import Audio
import Clock
import Foundation
import Receiver
import Testing

@Suite struct RendererFlushTests {
  private func playingRoom() -> TestRoom {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    return room
  }

  /// Returns the generations that are heard at full gain, in order.
  private func generations(_ heard: [TestRoom.Heard]) -> [Int] {
    var found: [Int] = []
    for frame in heard where frame.gain == 1 && frame.generation != found.last {
      found.append(frame.generation)
    }
    return found
  }

  @Test func `a flush inside the ring keeps what lies before it`() {
    let room = playingRoom()
    let rewinds = room.rewindCount
    room.sendCut(from: 20_000, generation: 2)
    room.feed(20_000..<60_000, generation: 2)
    room.run(toDevice: 36_000)
    #expect(room.rewindCount == rewinds)
    #expect(room.heard(29_300).generation == 1 && room.heard(29_300).gain == 1)
    #expect(room.heard(29_900).generation == 2 && room.heard(29_900).gain == 1)
    #expect(room.heard(29_601).gain < 0.01)
    #expect(abs(room.heard(30_000).position - 20_400) < 0.02)
    #expect(room.largestGainStep(19_200..<36_000) < RendererTests.steepestFade)
    #expect(room.lastReport.cutGeneration == 2)
    #expect(room.lastReport.cutFrom == TestRoom.mediaTime(ofFrame: 20_000))
  }

  @Test func `a flush of what is written to the card is heard on time`() {
    let room = playingRoom()
    room.sendCut(from: 11_000, generation: 2)
    room.feed(11_000..<60_000, generation: 2)
    room.run(toDevice: 26_400)
    #expect(room.rewindCount > 0)
    #expect(room.heard(20_300).generation == 1 && room.heard(20_300).gain == 1)
    #expect(room.heard(20_900).generation == 2 && room.heard(20_900).gain > 0.9999)
    #expect(room.largestGainStep(19_200..<26_400) < RendererTests.steepestFade)
  }

  @Test func `a flush without a ramp joins seamlessly`() {
    let room = playingRoom()
    room.sendCut(from: 11_000, generation: 2, isRamped: false)
    room.feed(11_000..<60_000, generation: 2)
    room.run(toDevice: 26_400)
    #expect(room.heard(20_550).generation == 1)
    #expect(room.heard(20_650).generation == 2)
    #expect(room.largestGainStep(19_200..<26_400) < 1e-3)
  }

  /// Error of what a room plays around a cut, against an ideal cross-fade at the place in the stream that sounds, in dB of the
  /// largest generation.
  private func crossFadeError(_ room: TestRoom, at cut: Int64, from old: Double, to new: Double)
    -> Double
  {
    var power = 0.0
    for place in -300..<600 {
      let device = Int(cut) + 9_600 + place
      let (heard, samples) = (room.heard(device), room.samples(device..<device + 1))
      #expect(abs(heard.position - Double(Int(cut) + place)) < 1)
      let share = Double(fadeIn(at: Double(heard.position - Double(cut)) / 240))
      let error = Double(samples[1]) - (old + (new - old) * share) / 10
      power += error * error + (heard.gain - 1) * (heard.gain - 1)
    }
    return 10 * log10(power / 900 / (new * new / 100))
  }

  @Test(arguments: [Int64(11_000), 20_000])
  func `a cross-faded flush mixes the old with the new for 5 ms`(cut: Int64) {
    let room = playingRoom()
    room.sendCut(from: cut, generation: 2, isCrossed: true)
    room.feed(cut..<60_000, generation: 2)
    room.run(toDevice: 36_000)
    #expect(crossFadeError(room, at: cut, from: 1, to: 2) < -80)
  }

  @Test func `a cross-fade goes on from what was heard, though another was to follow it`() {
    let room = playingRoom()
    room.sendCut(from: 20_000, generation: 2, isCrossed: true)
    room.feed(20_000..<60_000, generation: 2)
    room.turn()
    room.sendCut(from: 20_000, generation: 3, isCrossed: true)
    room.feed(20_000..<60_000, generation: 3)
    room.run(toDevice: 36_000)
    #expect(crossFadeError(room, at: 20_000, from: 1, to: 3) < -80)
  }

  @Test func `cross-fades follow each other, and a seek behind them is a ramp`() {
    let room = playingRoom()
    for (index, cut) in [Int64(12_000), 13_000, 13_300].enumerated() {
      room.sendCut(from: cut, generation: UInt32(index + 2), isCrossed: true)
      room.feed(cut..<60_000, generation: UInt32(index + 2))
      room.turn()
    }
    room.sendCut(from: 15_000, generation: 5)
    room.feed(15_000..<60_000, generation: 5)
    room.run(toDevice: 36_000)
    #expect(crossFadeError(room, at: 12_000, from: 1, to: 2) < -80)
    #expect(generations(room.heard(19_200..<31_200)) == [1, 2, 3, 4, 5])
    #expect(room.heard(9_600 + 13_300).gain > 0.999)
    #expect(room.heard(9_600 + 15_000).gain < 0.01)
    #expect(room.largestGainStep(19_200..<31_200) < RendererTests.steepestFade)
  }

  @Test func `a cross-faded flush makes a ramp where the old frames have not come`() {
    let room = TestRoom()
    room.feed(0..<20_100)
    room.sendAnchor(.playing, frame: 0, atDevice: 9600)
    room.run(toDevice: 19_200)
    room.sendCut(from: 20_000, generation: 2, isCrossed: true)
    room.feed(20_000..<60_000, generation: 2)
    room.run(toDevice: 36_000)
    #expect(room.heard(29_601).gain < 0.01)
    #expect(room.heard(29_300).gain == 1 && room.heard(29_900).gain == 1)
    #expect(room.largestGainStep(19_200..<36_000) < RendererTests.steepestFade)
  }

  @Test func `a cross-faded flush in the past acts at once`() {
    let room = playingRoom()
    room.sendCut(from: 5000, generation: 2, isCrossed: true)
    room.feed(9700..<60_000, generation: 2)
    room.run(toDevice: 26_400)
    let earliest = 19_200 + TestRoom.rewindMargin
    #expect(room.heard(earliest - 1).generation == 1 && room.heard(earliest - 1).gain == 1)
    #expect(generations(room.heard(earliest + 700..<26_400)) == [2])
    #expect(room.largestGainStep(19_200..<26_400) < RendererTests.steepestFade)
  }

  @Test func `of two flushes in a row both hold`() {
    let room = playingRoom()
    room.sendCut(from: 12_000, generation: 2)
    room.feed(12_000..<60_000, generation: 2)
    room.sendCut(from: 13_000, generation: 3)
    room.feed(13_000..<60_000, generation: 3)
    room.run(toDevice: 31_200)
    #expect(generations(room.heard(19_200..<31_200)) == [1, 2, 3])
    #expect(room.heard(22_599).gain < 0.01)
    #expect(room.largestGainStep(19_200..<31_200) < RendererTests.steepestFade)
  }

  @Test func `a second flush before the first leaves nothing of what lies between`() {
    let room = playingRoom()
    room.sendCut(from: 13_000, generation: 2)
    room.feed(13_000..<60_000, generation: 2)
    room.turn()
    room.sendCut(from: 12_000, generation: 3)
    room.feed(12_000..<60_000, generation: 3)
    room.run(toDevice: 31_200)
    #expect(generations(room.heard(19_200..<31_200)) == [1, 3])
    #expect(room.largestGainStep(19_200..<31_200) < RendererTests.steepestFade)
  }

  @Test func `a flush in the past takes effect at once and says where`() {
    let room = playingRoom()
    room.sendCut(from: 5000, generation: 2)
    room.feed(9700..<60_000, generation: 2)
    room.run(toDevice: 26_400)
    let earliest = 19_200 + TestRoom.rewindMargin
    #expect(room.heard(earliest - 1).generation == 1 && room.heard(earliest - 1).gain == 1)
    #expect(generations(room.heard(earliest + 240..<26_400)) == [2])
    #expect(room.heard(earliest + 800).gain == 1)
    #expect(room.largestGainStep(19_200..<26_400) < RendererTests.steepestFade)
    #expect(abs(room.lastReport.cutFrom.flicks / 14_700 - Int64(earliest + 240 - 9600)) <= 2)
  }

  @Test func `a flush in the past leaves nothing old to go back to`() {
    let room = playingRoom()
    room.sendCut(from: 9000, generation: 2)
    room.feed(9000..<60_000, generation: 2)
    room.sendAnchor(.paused, frame: 9000, atDevice: 19_200)
    room.run(toDevice: 26_400)
    room.sendAnchor(.playing, frame: 9000, atDevice: 31_200)
    room.run(toDevice: 40_800)
    #expect(generations(room.heard(31_200..<40_800)) == [2])
    #expect(room.heard(31_200 + 480).gain == 1)
    #expect(room.largestGainStep(19_200..<40_800) < RendererTests.steepestFade)
  }

  @Test func `a flush before an anchor holds once it plays`() {
    let room = TestRoom()
    room.feed(0..<20_000)
    room.run(toDevice: 4800)
    room.sendCut(from: 5000, generation: 2)
    room.feed(5000..<60_000, generation: 2)
    room.run(toDevice: 9600)
    room.sendAnchor(.playing, frame: 0, atDevice: 14_400)
    room.run(toDevice: 28_800)
    #expect(room.isSilent(0..<14_400))
    #expect(generations(room.heard(14_400..<28_800)) == [1, 2])
    #expect(room.heard(19_100).generation == 1 && room.heard(19_700).generation == 2)
    #expect(room.lastReport.starvations == 0)
  }

  @Test func `a flush before there is anything holds for what comes`() {
    let room = TestRoom()
    room.sendCut(from: 3000, generation: 2)
    room.run(toDevice: 4800)
    room.feed(0..<5000)
    room.feed(3000..<60_000, generation: 2)
    room.sendAnchor(.playing, frame: 0, atDevice: 14_400)
    room.run(toDevice: 28_800)
    #expect(generations(room.heard(14_400..<28_800)) == [1, 2])
    #expect(room.heard(17_100).generation == 1 && room.heard(17_700).generation == 2)
  }

  @Test func `a flush of everything during priming plays the new from its first frame`() {
    let room = TestRoom()
    room.feed(0..<60_000)
    room.sendAnchor(.playing, frame: 0, atDevice: 14_400)
    room.run(toDevice: 9600)
    room.sendCut(from: 0, generation: 2)
    room.feed(0..<60_000, generation: 2)
    room.run(toDevice: 19_200)
    #expect(room.isSilent(0..<14_400))
    #expect(room.heard(14_400).gain > 0)
    #expect(generations(room.heard(14_400..<19_200)) == [2])
    #expect(room.lastReport.starvations == 0)
  }

  @Test(arguments: [Int64(500_000), 2000])
  func `a skip to elsewhere plays what it skips to, exactly on time`(target: Int64) {
    let room = playingRoom()
    room.sendCut(from: 10_400, generation: 2)
    room.sendAnchor(.playing, frame: target, atDevice: 24_000)
    room.feed(target..<target + 7000, generation: 2)
    room.run(toDevice: 30_001)
    #expect(room.isSilent(20_100..<24_000))
    #expect(generations(room.heard(24_000..<30_001)) == [2])
    #expect(abs(room.heard(30_000).position - Double(target + 6000)) < 0.2)
    #expect(room.largestGainStep(19_200..<30_001) < RendererTests.steepestFade)
  }

  @Test func `a skip while paused keeps what comes before its anchor`() {
    let room = playingRoom()
    room.sendAnchor(.paused, frame: 14_400, atDevice: 24_000)
    room.run(toDevice: 28_800)
    room.sendCut(from: 14_400, generation: 2)
    room.feed(2000..<60_000, generation: 2)
    room.run(toDevice: 33_600)
    room.sendAnchor(.paused, frame: 2000, atDevice: 36_000)
    room.run(toDevice: 38_400)
    room.sendAnchor(.playing, frame: 2000, atDevice: 43_200)
    room.run(toDevice: 52_800)
    #expect(room.isSilent(24_000..<43_200))
    #expect(generations(room.heard(43_200..<52_800)) == [2])
    #expect(abs(room.heard(48_000).position - 6800) < 0.02)
    #expect(room.lastReport.starvations == 0)
  }
}
