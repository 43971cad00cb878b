import TestSupport
import Testing
import WireProtocol

@testable import House
@testable import Sender

/// Tests of the history of rooms for pages that open later.
@Suite struct SyncHistoryTests {
  private var history = SyncHistory()

  /// The household at a second of its clock.
  private static func state(
    _ second: Double, _ rooms: [(id: String, state: HouseState.Room.State, sync: RoomSync?)]
  ) -> HouseState {
    HouseState(
      revision: 0, nowMs: second * 1_000,
      server: .init(id: "5a", name: "s", version: "1"), groups: [],
      rooms: rooms.map { id, state, sync in
        var room = HouseState.Room(
          id: id, name: id, state: state, isPaired: true, isPresent: true)
        room.sync = sync
        return room
      }, library: .init())
  }

  private static func sync(
    _ error: Double, underruns: UInt32 = 0, late: UInt32 = 0, lost: UInt32 = 0
  ) -> RoomSync {
    var sync = RoomSync(.made())
    (sync.errorUs, sync.boundUs) = (error, 15)
    (sync.underruns, sync.late, sync.lost) = (underruns, late, lost)
    return sync
  }

  @Test mutating func `one point a second is kept of each room that plays, for five minutes`() {
    for tenth in 1...4_000 {
      let second = Double(tenth) / 10
      history.note(Self.state(second, [("a", .playing, Self.sync(second)), ("b", .free, nil)]))
    }
    let report = history.report(last: 1_000)
    #expect(report.rooms.map(\.id) == ["a"])
    let points = report.rooms[0].points
    #expect((270...334).contains(points.count))
    #expect(points.allSatisfy { $0.atMs == $0.errorUs * 1_000 && $0.boundUs == 15 })
    #expect(points.map(\.atMs) == points.map(\.atMs).sorted())
    #expect(points[0].atMs > 99_000 && points[0].atMs < 102_000)
    #expect(history.report(last: 10).rooms[0].points.count <= 12)
  }

  @Test mutating func `what happens to a room leaves a mark`() {
    let syncs = [
      Self.sync(1), Self.sync(1, underruns: 1), Self.sync(1, underruns: 1, late: 2),
      Self.sync(1, underruns: 1, late: 2, lost: 1), Self.sync(1),
    ]
    for (second, sync) in syncs.enumerated() {
      history.note(Self.state(Double(second), [("a", .playing, sync)]))
    }
    history.note(Self.state(5, [("a", .away, nil)]))
    history.note(Self.state(6, [("a", .free, nil)]))
    let marks = history.report(last: SyncHistory.seconds).marks
    #expect(
      marks.map(\.text) == [
        "underrun", "late packets", "lost packets", "went away", "came back",
      ])
    #expect(marks.map(\.atMs) == [1_000, 2_000, 3_000, 5_000, 6_000])
  }

  @Test mutating func `a room that is gone is forgotten, and of marks the oldest`() {
    for second in 1...290 {
      let count = UInt32(second)
      history.note(
        Self.state(
          Double(second),
          [
            ("a", .playing, Self.sync(1, underruns: count)),
            ("b", .playing, Self.sync(1, underruns: count)),
          ]))
    }
    #expect(history.report(last: 300).marks.count == SyncHistory.markLimit)
    #expect(history.report(last: 300).marks.last?.atMs == 290_000)
    history.note(Self.state(291, [("b", .playing, Self.sync(1))]))
    #expect(history.report(last: 300).rooms.map(\.id) == ["b"])
    #expect(history.report(last: 300).marks.allSatisfy { $0.roomId == "b" })
    history.note(Self.state(590, [("b", .playing, Self.sync(1))]))
    #expect(history.report(last: 1_000).marks.isEmpty)
  }
}
