import Clock
import TestSupport
import Testing

@testable import House
@testable import Sender

/// Stories of what rooms do after an alarm. It rings at 00:30 for ten minutes.
@Suite struct AlarmReturnTests {
  private let world: SimulatedWorld
  private let kitchen: String
  private let bath: String

  init() throws {
    world = try SimulatedWorld(rooms: 2, holding: .seconds(60))
    (kitchen, bath) = (world.receivers[0].id, world.receivers[1].id)
  }

  private func alarm(in rooms: String...) throws -> String {
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (30, rooms, Weekday.allCases)
    change.lengthS = 600
    return try #require(try world.ask(.addAlarm(change)).alarm?.id)
  }

  private func play(in rooms: String...) throws -> String {
    try world.play(in: rooms)
  }

  private func until(_ second: Int64) {
    world.advance(by: WallTime(seconds: second) - world.wall)
  }

  /// Lets the alarm take a room from another sender.
  private func ring() {
    until(1_790)
    #expect(world.receivers[0].holder == .stranger)
    world.mayTake = true
    until(1_801)
    world.mayTake = false
    #expect(world.sounds(in: 0) == "tone")
  }

  // MARK: - Rooms of other senders

  @Test func `a room that another sender had taken is free for it afterwards`() throws {
    let group = try play(in: kitchen)
    world.strangerTakes(0)
    let id = try alarm(in: kitchen)
    ring()
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(8))
    #expect(world.receivers[0].holder == .nobody)
    #expect(world.isLost(world.receivers[0], by: group))
    world.strangerTakes(0)
    world.advance(by: .seconds(120))
    #expect(world.receivers[0].holder == .stranger && world.problems.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a room that another sender had is free for it first, and then for its group`(
    comesBack: Bool
  ) throws {
    world.strangerTakes(0)
    let group = try #require(try world.ask(.createGroup(rooms: [kitchen], name: nil)).group?.id)
    let id = try alarm(in: kitchen)
    ring()
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(8))
    #expect(world.receivers[0].holder == .nobody)
    #expect(world.session.state(ofRoom: kitchen) == .free)
    if comesBack { world.strangerTakes(0) }
    world.advance(by: .seconds(5))
    if comesBack {
      #expect(world.session.state(ofRoom: kitchen) == .taken(detail: nil, RoomReason(.busy)))
    }
    world.advance(by: .seconds(120))
    #expect(world.holds(world.receivers[0], group) != comesBack)
    #expect(world.problems.isEmpty)
  }

  @Test func `a room that another sender takes while it rings is left to it`() throws {
    let group = try play(in: kitchen)
    let id = try alarm(in: kitchen)
    until(1_810)
    world.strangerTakes(0)
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(120))
    #expect(world.receivers[0].holder == .stranger && world.problems.isEmpty)
    #expect(!world.holds(world.receivers[0], group))
  }

  @Test func `who plays in a room that is left free has it at once`() throws {
    world.strangerTakes(0)
    let group = try #require(try world.ask(.createGroup(rooms: [kitchen], name: nil)).group?.id)
    let id = try alarm(in: kitchen)
    ring()
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(8))
    try world.ask(
      .edit(group: group, .add([.init(location: "/music/b.flac")], at: .now), expected: nil))
    world.advance(by: .seconds(1))
    #expect(world.sounds(in: 0) == "/music/b.flac")
  }

  // MARK: - Music that nobody hears

  @Test func `music whose last room is lent waits for it, though others belong to its group`()
    throws
  {
    let group = try play(in: kitchen, bath)
    world.power(1, isOn: false)
    let id = try alarm(in: kitchen)
    until(1_790)
    #expect(world.sounds(in: 0) == "/music/a.flac")
    until(1_799)
    let player = try #require(world.session.groups[group]?.player)
    #expect(player.status.state == .paused)
    until(1_810)
    #expect(player.status.state == .paused && world.sounds(in: 0) == "tone")
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(5))
    #expect(world.sounds(in: 0) == "/music/a.flac")
  }

  @Test func `music that waits for an alarm goes on in another room that comes back`() throws {
    _ = try play(in: kitchen, bath)
    world.power(1, isOn: false)
    _ = try alarm(in: kitchen)
    until(1_810)
    #expect(world.sounds(in: 0) == "tone")
    world.power(1, isOn: true)
    world.advance(by: .seconds(2))
    #expect(world.sounds(in: 0) == "tone" && world.sounds(in: 1) == "/music/a.flac")
  }

  @Test func `music that somebody pauses while an alarm rings stays so`() throws {
    let group = try play(in: kitchen, bath)
    world.power(1, isOn: false)
    let id = try alarm(in: kitchen)
    until(1_810)
    try world.ask(.transport(group: group, .pause))
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(20))
    #expect(world.sounds(in: 0) == nil)
    #expect(world.session.groups[group]?.player.status.state == .paused)
  }
}
