import House
import Sender
import Testing

@testable import Library

/// Tests of how far long items are heard. Times in seconds.
@Suite struct PlaceWatchTests {
  private func group(
    _ state: HouseState.Group.State, at positionS: Double = 0, heardAt time: Double = 0,
    entry: Int? = 1, durationS: Double? = 3_600, track: String? = nil, target: Double? = nil,
    rate: Double = 1
  ) -> HouseState.Group {
    var item = entry.map {
      HouseState.Item(entryId: $0, title: "A", isSeekable: true, isLive: false, hasVideo: false)
    }
    item?.durationS = durationS
    item?.trackId = track
    var group = HouseState.Group(
      id: "g1", name: "Kitchen", isNamed: false, roomIds: ["1"], state: state, item: item,
      positionS: positionS, positionAtMs: time * 1_000, rate: rate, volume: 50, muted: false,
      repeat: .off, effects: EffectsReport(Effects()),
      queue: .init(revision: 1, count: 3, index: entry.map { $0 - 1 }, canUndo: nil))
    group.targetS = target
    return group
  }

  private func places(_ steps: [(Double, HouseState.Group)]) -> [String] {
    var watch = PlaceWatch()
    return steps.compactMap { time, group in
      watch.take(group, at: time * 1_000).map {
        "\($0.item.entryId): \($0.seconds)\($0.isOver ? " over" : "")"
      }
    }
  }

  @Test func `a place is told as the music goes on, and where it rests`() {
    let playing = group(.playing)
    #expect(
      places([
        (0, playing), (29, playing), (30, playing), (59, playing), (61, playing),
        (70, group(.paused, at: 70)), (99, group(.paused, at: 70)),
      ]) == ["1: 30.0", "1: 61.0", "1: 70.0"])
    #expect(
      places([
        (0, playing), (25, group(.stopped)), (99, group(.stopped)),
        (99, group(.playing, heardAt: 99)),
      ]) == ["1: 25.0"])
    #expect(places([(0, group(.playing, rate: 2)), (20, group(.playing, rate: 2))]) == ["1: 40.0"])
  }

  @Test func `what ends is told once more, with how far it came`() {
    let playing = group(.playing, at: 100)
    #expect(places([(0, playing), (20, group(.playing, entry: 2))]) == ["1: 120.0"])
    #expect(places([(0, playing), (3_445, group(.playing, entry: 2))]) == ["1: 3545.0 over"])
    #expect(places([(0, playing), (9_999, group(.stopped, entry: nil))]) == ["1: 3600.0 over"])
    #expect(places([(0, playing), (3_435, group(.stopped, entry: nil))]) == ["1: 3535.0"])
    // A short one is heard once its last tenth begins.
    let short = group(.playing, durationS: 100)
    #expect(places([(0, short), (89, group(.stopped, entry: nil))]) == ["1: 89.0"])
    #expect(places([(0, short), (91, group(.stopped, entry: nil))]) == ["1: 91.0 over"])
    var watch = PlaceWatch()
    _ = watch.take(playing, at: 0)
    #expect(watch.isWaiting && watch.forget("g1", at: 50_000)?.seconds == 150)
    #expect(!watch.isWaiting && watch.forget("g1", at: 50_000) == nil)
  }

  @Test func `a seek counts once it is heard`() {
    let seeking = group(.playing, at: 20, target: 2_000)
    #expect(
      places([(0, group(.playing)), (20, seeking), (21, group(.playing, at: 2_000, heardAt: 21))])
        == ["1: 2000.0"])
  }

  @Test func `short tracks and what is live have no place`() {
    for track in ["t1", nil] {
      let length: Double? = track == nil ? nil : 1_199
      let told = places([
        (0, group(.playing, durationS: length, track: track)),
        (90, group(.playing, durationS: length, track: track)),
      ])
      // An address may be an episode of which nobody knows the length.
      #expect(told == (track == nil ? ["1: 90.0"] : []))
    }
    var live = group(.playing)
    live.item?.isLive = true
    #expect(places([(0, live), (90, live)]) == [])
    let long = group(.playing, durationS: 1_200, track: "t1")
    #expect(places([(0, long), (90, long)]) == ["1: 90.0"])
  }
}
