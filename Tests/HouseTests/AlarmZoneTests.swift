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

  @Test(arguments: [("Europe/Berlin", 25.0), ("Antarctica/Troll", 26), ("America/Sao_Paulo", 25)])
  func `a sleep timer ends at each time of a day on which clocks are set back`(
    name: String, longest: Double
  ) throws {
    let zone = try ZoneTime(name)
    // A year in which each of these zones had summer time.
    let year = WallTime(seconds: 1_514_764_800)
    var waits: Set<Double> = []
    for hour in Int64(0)..<365 * 24 {
      let now = year + .seconds(3_600 * hour)
      let shown = now.seconds + zone.offset(at: now)
      let wait = (zone.next(minute: Int(shown / 60 % 1_440), after: now) - now).seconds
      try Order.GroupChange.check(sleepInS: wait)
      waits.insert(wait / 3_600)
    }
    #expect(waits.max() == longest)
  }

  @Test func `a time that clocks show twice comes twice`() throws {
    let zone = try ZoneTime("Europe/Berlin")
    // 28 October 2018, 00:00 UTC: 02:00 in summer, and an hour later 02:00 again.
    let first = WallTime(seconds: 1_540_684_800)
    let quarter = first + .seconds(900)
    #expect(zone.next(minute: 135, after: first) == quarter)
    #expect(zone.next(minute: 135, after: quarter) == quarter + .seconds(3_600))
    #expect(zone.next(minute: 135, after: quarter + .seconds(3_600)) == quarter + .seconds(90_000))
    #expect(zone.next(minute: 120, after: first + .seconds(-60)) == first)
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
