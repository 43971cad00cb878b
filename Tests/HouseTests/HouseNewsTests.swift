import TestSupport
import Testing
import WireProtocol

@testable import House
@testable import Sender

/// Tests of what surfaces are told, and what they are not bothered with.
@Suite struct HouseNewsTests {
  private static func state(at ms: Double = 0) -> HouseState {
    let group = HouseState.Group(
      id: "g1", name: "Kitchen", isNamed: false, roomIds: ["a"], state: .playing, positionS: 10,
      positionAtMs: 0, volume: 50, muted: false, repeat: .off,
      effects: EffectsReport(Effects()),
      queue: .init(revision: 1, count: 2, index: 0, canUndo: nil))
    return HouseState(
      revision: 0, nowMs: ms, server: .init(id: "5a", name: "s", version: "1"),
      groups: [group],
      rooms: [.init(id: "a", name: "Kitchen", state: .playing, isPaired: true, isPresent: true)],
      library: .init())
  }

  /// Returns the news of a change of the state.
  private func told(
    of change: (inout HouseState) -> Void
  ) -> (change: HouseChange?, revision: UInt64) {
    var news = HouseNews()
    var state = Self.state()
    #expect(news.change(to: &state) == nil)
    change(&state)
    return (news.change(to: &state), state.revision)
  }

  @Test func `what stays as it is is no news`() {
    let (change, revision) = told { $0.nowMs = 500 }
    #expect(change == nil)
    #expect(revision == 1)
  }

  @Test func `what plays on is where it is expected, and that is no news`() {
    #expect(
      told { state in
        state.nowMs = 2000
        (state.groups[0].positionS, state.groups[0].positionAtMs) = (12.05, 2000)
        state.groups[0].bufferedUntilS = 90
      }.change == nil)
  }

  @Test func `a leap is news, and so is standing still`() {
    for position in [12.2, 11.8, 10] {
      let (change, revision) = told { state in
        state.nowMs = 2000
        (state.groups[0].positionS, state.groups[0].positionAtMs) = (position, 2000)
      }
      #expect(change?.groups.map(\.positionS) == [position])
      #expect(change?.rooms.isEmpty ?? false)
      #expect(revision == 2 && change?.revision == 2)
    }
  }

  @Test func `small leaps add up`() {
    var news = HouseNews()
    var state = Self.state()
    _ = news.change(to: &state)
    var count = 0
    for step in 1...10 {
      let ms = Double(step) * 1000
      state.groups[0].positionS = 10 + ms / 1000 * 1.05
      state.groups[0].positionAtMs = ms
      if news.change(to: &state) != nil { count += 1 }
    }
    #expect((3...5).contains(count))
  }

  @Test func `a room is told of when it changes, and not for its sync error`() {
    #expect(told { $0.rooms[0].volume = 3 }.change?.rooms.map(\.volume) == [3])
    #expect(told { $0.rooms[0].state = .away }.change?.groups.isEmpty ?? false)
    let sync = RoomSync(.made())
    #expect(told { $0.rooms[0].sync = sync }.change == nil)
  }

  @Test func `what is gone is told by its identity, and what is new whole`() {
    let change = told { state in
      state.groups[0].id = "g2"
      state.rooms = []
      state.library.trackCount = 5
    }.change
    #expect(change?.removedGroups == ["g1"])
    #expect(change?.groups.map(\.id) == ["g2"])
    #expect(change?.removedRooms == ["a"])
    #expect(change?.library?.trackCount == 5)
  }
}
