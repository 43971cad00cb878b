import Clock
import Testing

@testable import House

/// The zone of a household, as surfaces see it.
@Suite struct AlarmZoneTests {
  /// An hour ahead of UTC, two hours from half past midnight on.
  private struct Summer: CivilTime {
    func offset(at time: WallTime) -> Int64 { time.seconds < 1_800 ? 3_600 : 7_200 }
  }

  @Test func `the next time of a day comes within a day, also where clocks change`() {
    let zone = Summer()
    // 00:59 in winter; clocks are put forward at half past one.
    let evening = WallTime(seconds: -60)
    #expect(zone.next(minute: 60, after: evening) == WallTime(seconds: 0))
    #expect(zone.next(minute: 150, after: evening) == WallTime(seconds: 1_800))
    #expect(zone.next(minute: 59, after: evening) == WallTime(seconds: 82_740))
    #expect(zone.next(minute: 60, after: WallTime(seconds: 0)) == WallTime(seconds: 82_800))
  }

  @Test func `the state says how far the zone is ahead of UTC, also after clocks change`() throws {
    let world = try SimulatedWorld(rooms: 1, holding: .zero, zone: Summer())
    var news = HouseNews()
    var before = world.session.state(at: world.now)
    #expect(before.server.zoneOffsetS == 3_600)
    _ = news.change(to: &before)
    world.advance(by: .seconds(1_799))
    world.setWall(by: .zero)
    var after = world.session.state(at: world.now)
    #expect(after.server.zoneOffsetS == 7_200)
    #expect(news.change(to: &after)?.server == after.server)
  }
}
