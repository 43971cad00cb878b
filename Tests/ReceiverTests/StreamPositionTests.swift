import Audio
import Clock
import Receiver
import Testing

@Suite struct StreamPositionTests {
  @Test func `a position keeps its fraction within one frame`() {
    #expect(StreamPosition(frame: 5, offset: -0.25) == StreamPosition(frame: 4, offset: 0.75))
    #expect(StreamPosition(frame: 5, offset: 2.5) == StreamPosition(frame: 7, offset: 0.5))
    #expect(StreamPosition(frame: 5, offset: -1e-20) == StreamPosition(frame: 5))
    #expect(StreamPosition(frame: 7, offset: 0.5) - StreamPosition(frame: 4, offset: 0.75) == 2.75)
  }

  @Test(arguments: AudioFormat.supportedRates)
  func `each frame of each rate has a media time of its own`(rate: Int) {
    let grid = StreamGrid(sampleRate: rate)
    for frame in [0, 1, 12_345, 1 << 34, -7] as [Int64] {
      let time = MediaTime(flicks: frame * (705_600_000 / Int64(rate)))
      #expect(grid.position(of: time) == StreamPosition(frame: frame))
      #expect(grid.firstFrame(from: time) == frame)
      #expect(grid.firstFrame(from: time + MediaDuration(flicks: 1)) == frame + 1)
      #expect(grid.mediaTime(of: StreamPosition(frame: frame)) == time)
    }
  }

  @Test func `an anchor is as exact after a month as at its start`() {
    let grid = StreamGrid(sampleRate: 44_100)
    let anchor = Anchor(
      mediaTime: .zero, groupTime: GroupTime(nanoseconds: 3), rate: .playing)
    let month: Int64 = 30 * 86_400
    let time = GroupTime(nanoseconds: 3 + month * 1_000_000_000 + 500_000_000)
    #expect(grid.position(of: anchor, at: time) == StreamPosition(frame: month * 44_100 + 22_050))
  }
}
