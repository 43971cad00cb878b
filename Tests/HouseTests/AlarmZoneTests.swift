import Clock
import Testing

@testable import House

/// The zone of a household, as surfaces see it.
@Suite struct AlarmZoneTests {
  /// An hour ahead of UTC, two hours from half past midnight on.
  private struct Summer: CivilTime {
    func offset(at time: WallTime) -> Int64 { time.seconds < 1_800 ? 3_600 : 7_200 }
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
