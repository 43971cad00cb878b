import Testing

@testable import Tutti

@Suite struct PlaybackTimeTests {
  @Test(arguments: PCMFormat.supportedSampleRates)
  func `frames of every rate come back`(rate: Int) {
    for frame: Int64 in [0, 1, 44_099, 1_234_567_891] {
      let time = PlaybackTime(frame: frame, at: rate)
      #expect(time.frame(at: rate) == frame)
      #expect(time.frameFrom(at: rate) == frame)
      #expect(PlaybackTime(flicks: time.flicks + 1).frameFrom(at: rate) == frame + 1)
    }
  }

  @Test func `durations keep whole frames through attoseconds`() {
    for frame: Int64 in [1, 44_099, -7, 1_234_567_891] {
      let time = PlaybackTime(frame: frame, at: 44_100)
      #expect(PlaybackTime.zero + (time - .zero) == time)
    }
    #expect(PlaybackTime.zero + .milliseconds(1500) == .seconds(1.5))
  }

  /// As people write it, without a word about types.
  @Test func `times are added and subtracted, exact to the frame`() {
    let start = PlaybackTime(frame: 44_101, at: 44_100)
    let earlier = start - .seconds(1)
    let later = earlier + .frames(1_152, at: 44_100)
    #expect(earlier == PlaybackTime(frame: 1, at: 44_100))
    #expect(later == PlaybackTime(frame: 1_153, at: 44_100))
    let span = later - earlier
    #expect(span > .milliseconds(26) && earlier + span == later)
    // A place in an item, on the timeline where that begins.
    #expect(start + earlier == PlaybackTime(frame: 44_102, at: 44_100))
    var time = start
    time += .seconds(0.5)
    time -= .milliseconds(500)
    #expect(time == start)
    #expect(PlaybackTime(flicks: .max) + PlaybackTime(flicks: .max) > .zero)
  }

  @Test func `no number overflows`() {
    for flicks in [Int64.min, -1, 0, .max] {
      let time = PlaybackTime(flicks: flicks)
      #expect(abs((time + .seconds(1 << 40)).seconds) < 1e9)
      #expect(abs((time - .seconds(1 << 60)).seconds) < 1e9)
    }
    #expect(PlaybackTime.seconds(.nan) == .zero)
    let last = PlaybackTime(flicks: .max)
    #expect(PlaybackTime.seconds(.infinity) == last)
    #expect(PlaybackTime.seconds(1.4e10) == last)
    #expect(PlaybackTime.seconds(-1.4e10) == PlaybackTime(flicks: .min))
    #expect(PlaybackTime(frame: .max, at: 8_000).seconds > 1e8)
    let (earliest, latest) = (HostTime(nanoseconds: .min), HostTime(nanoseconds: .max))
    #expect(latest + .seconds(1) == latest && earliest - .seconds(1) == earliest)
    #expect(latest - .seconds(1) == HostTime(nanoseconds: .max - 1_000_000_000))
  }
}
