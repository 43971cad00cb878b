import Clock
import Testing

@testable import Sender

/// Tests of which bytes of a station are kept, and where people get who go back in it.
@Suite struct StationMemoryTests {
  /// A station of 128 kbit/s that sends `head` seconds at once, and then `seconds` as they pass.
  private static func station(
    head: Int64 = 4, seconds: Int64, longest: MediaDuration = StationMemory.longest,
    byteLimit: Int64 = StationMemory.byteLimit
  ) -> StationMemory {
    var memory = StationMemory(longest: longest, byteLimit: byteLimit)
    for tenth in 0..<(head + seconds) * 10 {
      let elapsed = MediaDuration.milliseconds(max(0, tenth + 1 - head * 10) * 100)
      memory.append(1_600, lasting: .milliseconds(100), after: elapsed)
    }
    return memory
  }

  @Test func `an hour is kept, and no more`() {
    let memory = Self.station(seconds: 8_000)
    let length = memory.end.time - memory.oldest.time
    #expect(length > .seconds(3_599) && length <= .seconds(3_601))
    #expect(
      memory.oldest.place == memory.oldest.time.flicks / MediaDuration.seconds(1).flicks * 16_000
        + memory.oldest.time.flicks % MediaDuration.seconds(1).flicks * 16_000
        / MediaDuration.seconds(1).flicks)
  }

  @Test func `no more bytes are kept than the file has`() {
    let memory = Self.station(seconds: 300, byteLimit: 1_000_000)
    let bytes = memory.end.place - memory.oldest.place
    #expect(bytes <= 1_000_000 && bytes > 990_000)
    // A block that is larger than all that is kept leaves nothing of itself.
    var small = StationMemory(byteLimit: 1_000)
    small.append(5_000, lasting: .seconds(1), after: .zero)
    #expect(small.oldest == small.end)
    #expect(small.mark(near: .zero) == small.end)
  }

  @Test func `what is forgotten is not met any more, and positions go on`() {
    var memory = Self.station(seconds: 100)
    memory.note(title: "A")
    memory.forget()
    let end = memory.end
    #expect(memory.mark(near: .seconds(50)) == end && memory.live == end.time)
    memory.append(1_600, lasting: .milliseconds(100), after: .seconds(200))
    #expect(
      memory.mark(near: .zero) == end && memory.title(at: memory.end.place, after: nil) == nil)
  }

  @Test func `live is where somebody would be who tunes in`() {
    #expect(Self.station(head: 10, seconds: 100).live == .seconds(100))
    // Few seconds are too little to play on without a break, and many are not live.
    #expect(Self.station(head: 0, seconds: 100).live == .seconds(97))
    #expect(Self.station(head: 60, seconds: 100).live == .seconds(140))
  }

  @Test func `a place is met within an eighth of a second, and exists`() {
    let memory = Self.station(seconds: 5_000)
    for place: Int64 in [2_000_000, 3_333_333, 4_999_000] {
      let mark = memory.mark(near: .milliseconds(place))
      let error = mark.time - .milliseconds(place)
      #expect(abs(error.flicks) <= MediaDuration.milliseconds(150).flicks, "at \(place)")
      #expect(memory.mark(near: mark.time) == mark)
    }
    #expect(memory.mark(near: .seconds(9_999)).time <= memory.live)
    // The oldest part is dropped before anybody has heard it.
    #expect(memory.mark(near: .zero).time > memory.oldest.time + .seconds(4))
    #expect(Self.station(seconds: 60).mark(near: .zero) == .init())
  }

  @Test func `titles come with the bytes that they belong to`() {
    var memory = StationMemory()
    memory.note(title: "One")
    memory.append(1_000, lasting: .seconds(100), after: .zero)
    memory.note(title: "One")
    memory.note(title: "Two")
    memory.append(1_000, lasting: .seconds(100), after: .zero)
    memory.note(title: "")
    memory.append(1_000, lasting: .seconds(100), after: .zero)
    #expect(memory.title(at: 500, after: nil) == "One")
    #expect(memory.title(at: 1_000, after: 500) == nil)
    #expect(memory.title(at: 1_500, after: 1_000) == "Two")
    #expect(memory.title(at: 2_500, after: 500) == "")
    #expect(memory.title(at: 0, after: nil) == "One")
    #expect(memory.stretch.titles == [.zero, .seconds(100)])
  }

  @Test func `titles are forgotten with what they belong to, and are bounded`() {
    var memory = StationMemory(longest: .seconds(1_000))
    for number in 0..<500 {
      memory.note(title: "\(number)" + String(repeating: "x", count: 10_000))
      memory.append(1_000, lasting: .seconds(1), after: .seconds(9))
    }
    #expect(memory.stretch.titles.count == StationMemory.titleLimit)
    #expect(memory.title(at: 500_000, after: nil)?.count == StationMemory.titleLength)
    memory.append(1_000_000, lasting: .seconds(1_000), after: .seconds(9))
    memory.append(1_000_000, lasting: .seconds(1_000), after: .seconds(9))
    #expect(memory.stretch.titles.isEmpty)
    #expect(memory.title(at: memory.end.place, after: nil)?.hasPrefix("499") ?? false)
  }

  @Test func `a kept place is near, and never the one where a station is opened anew`() {
    let kept = KeptStretch(from: .seconds(10), live: .seconds(100))
    #expect(kept.place(near: .seconds(9)) == .seconds(10))
    #expect(kept.place(near: .seconds(20)) == .seconds(20))
    #expect(kept.place(near: .seconds(101)) == .seconds(100))
    let fresh = KeptStretch(from: .zero, live: .seconds(100))
    #expect(fresh.place(near: .zero) > .zero)
  }

  @Test func `somebody is late who has paused, and not who has just tuned in`() {
    let kept = KeptStretch(from: .zero, live: .seconds(100))
    #expect(kept.lateness(at: .seconds(97)) == nil)
    #expect(kept.lateness(at: .seconds(40)) == .seconds(60))
  }
}
