import House
import Sender
import Testing

@testable import Library

/// Tests of what counts as played. Times in seconds.
@Suite struct PlayWatchTests {
  private func group(
    _ state: HouseState.Group.State, entry: Int? = 1, durationS: Double? = 200, title: String = "A"
  ) -> HouseState.Group {
    var item = entry.map {
      HouseState.Item(entryId: $0, title: title, isSeekable: true, isLive: false, hasVideo: false)
    }
    item?.durationS = durationS
    return HouseState.Group(
      id: "g1", name: "Kitchen", isNamed: false, roomIds: ["1"], state: state, item: item,
      volume: 50, muted: false, repeat: .off, effects: EffectsReport(Effects()),
      queue: .init(revision: 1, count: 3, index: entry.map { $0 - 1 }, canUndo: nil))
  }

  private typealias Step = (Double, HouseState.Group)

  private func heard(
    _ steps: [Step], at end: Double
  ) -> [PlayWatch.Heard] {
    var (watch, heard) = (PlayWatch(), [PlayWatch.Heard]())
    for (time, group) in steps {
      watch.take(group, at: time * 1_000)
      heard += watch.heard(at: time * 1_000)
    }
    return heard + watch.heard(at: end * 1_000)
  }

  @Test func `an item counts once, after twenty seconds of playing`() {
    #expect(heard([(0, group(.playing))], at: 19.9).isEmpty)
    let found = heard([(0, group(.playing)), (21, group(.playing)), (50, group(.playing))], at: 99)
    #expect(found.map(\.item.entryId) == [1])
    #expect(found.first?.agoMs == 21_000 && found.first?.index == 0)
  }

  @Test func `pauses and what was skipped do not count`() {
    let pausing: [Step] = [(0, group(.playing)), (10, group(.paused)), (100, group(.playing))]
    #expect(heard(pausing, at: 109).isEmpty)
    #expect(heard(pausing, at: 110).count == 1)
    let skipping = (0..<9).map { (Double($0) * 10, group(.playing, entry: $0 + 1)) }
    #expect(heard(skipping, at: 81).isEmpty)
    #expect(heard([(0, group(.starting))], at: 60).isEmpty)
    #expect(heard([(0, group(.playing)), (15, group(.stopped, entry: nil))], at: 60).isEmpty)
  }

  @Test func `a short item counts after its half, and a station with what it plays then`() {
    #expect(heard([(0, group(.playing, durationS: 10))], at: 4.9).isEmpty)
    #expect(heard([(0, group(.playing, durationS: 10))], at: 5).count == 1)
    let station: [Step] = [
      (0, group(.playing, durationS: nil, title: "News")),
      (18, group(.playing, durationS: nil, title: "Music")),
    ]
    #expect(heard(station, at: 25).map(\.item.title) == ["Music"])
  }

  @Test func `it waits only while something plays that does not count yet`() {
    var watch = PlayWatch()
    #expect(!watch.isWaiting)
    watch.take(group(.playing), at: 0)
    #expect(watch.isWaiting)
    watch.take(group(.paused), at: 1_000)
    #expect(!watch.isWaiting)
    watch.take(group(.playing), at: 2_000)
    _ = watch.heard(at: 40_000)
    #expect(!watch.isWaiting)
    watch.forget("g1")
    #expect(watch.heard(at: 90_000).isEmpty)
  }
}
