import Clock
import TestSupport
import Testing
import WireProtocol

@testable import House
@testable import Sender

/// Tests of a group that waits because all its rooms are away.
@Suite struct RoomAbsenceTests {
  private static func status(
    _ state: GroupStatus.State, holding held: MediaDuration?
  ) -> GroupStatus {
    var group = GroupStatus.resting
    group.state = state
    let connection: GroupStatus.Room.Connection =
      held.map { .connected(.made(holding: $0)) } ?? .away(reason: "gone")
    group.rooms = [.init(id: RoomID(1), name: "a", connection: connection)]
    return group
  }

  private static func time(_ seconds: Int64) -> LocalTime {
    LocalTime(nanoseconds: seconds * 1_000_000_000)
  }

  @Test func `it is paused when what the rooms held has sounded, and goes on with the first`() {
    var absence = RoomAbsence()
    #expect(absence.order(Self.status(.playing, holding: .seconds(60)), at: Self.time(0)) == nil)
    let away = Self.status(.playing, holding: nil)
    #expect(absence.order(away, at: Self.time(1)) == nil)
    #expect(absence.order(away, at: Self.time(60)) == nil)
    #expect(absence.order(away, at: Self.time(61)) == .pause)
    #expect(absence.hasPaused)
    #expect(absence.order(Self.status(.paused, holding: nil), at: Self.time(500)) == nil)
    let back = Self.status(.paused, holding: .zero)
    #expect(absence.order(back, at: Self.time(600)) == .resume)
    #expect(absence.order(back, at: Self.time(601)) == nil)
  }

  @Test func `a room that goes and comes is not noticed, and one that held little has ten seconds`()
  {
    var absence = RoomAbsence()
    let away = Self.status(.playing, holding: nil)
    #expect(absence.order(away, at: Self.time(0)) == nil)
    #expect(absence.deadline == Self.time(10))
    #expect(absence.order(Self.status(.playing, holding: .zero), at: Self.time(9)) == nil)
    #expect(absence.order(away, at: Self.time(12)) == nil)
    #expect(absence.order(away, at: Self.time(22)) == .pause)
  }

  @Test func `a pause of the user's stays one`() {
    var absence = RoomAbsence()
    #expect(absence.order(Self.status(.paused, holding: nil), at: Self.time(0)) == nil)
    #expect(absence.deadline == nil)
    #expect(absence.order(Self.status(.paused, holding: .zero), at: Self.time(99)) == nil)
    _ = absence.order(Self.status(.playing, holding: nil), at: Self.time(100))
    #expect(absence.order(Self.status(.playing, holding: nil), at: Self.time(110)) == .pause)
    absence.userDecided()
    #expect(absence.order(Self.status(.paused, holding: .zero), at: Self.time(120)) == nil)
  }
}

extension GroupStatus {
  fileprivate static var resting: GroupStatus {
    GroupSession(
      .init(
        senderID: Identifier([UInt8](repeating: 1, count: 16))!, senderName: "a", clockID: 1,
        clockPort: 1, firstSession: 1),
      playing: Playlist()
    ).status(at: LocalTime(nanoseconds: 0))
  }
}
