import Clock
import Sender
import Testing

import enum House.Refusal

@testable import House

/// A family goes to bed, or leaves: all groups of the household are to be silent.
@Suite struct StopEverywhereTests {
  private let world: SimulatedWorld
  /// Kitchen, Bath, Attic and Hall.
  private let rooms: [String]

  init() throws {
    var phone = HouseState.Input(name: "Phone", kind: "program")
    phone.takesOrders = true
    world = try SimulatedWorld(rooms: 4, holding: .zero, inputs: [phone])
    rooms = world.receivers.map(\.id)
  }

  private func state(_ id: String) throws -> GroupStatus.State {
    let group = try #require(world.session.groups[id])
    return group.isResting ? .stopped : group.player.status.state
  }

  private func timer(_ group: String) throws -> Double? {
    try #require(world.session.state(at: world.now).groups.first { $0.id == group }).sleepAtMs
  }

  private func stop(in seconds: Double? = nil) throws -> String? {
    try world.ask(.stopEverywhere(sleepInS: seconds)).said
  }

  private func alarm(in room: String, minute: Int) throws {
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (minute, [room], Weekday.allCases)
    change.lengthS = 600
    try world.ask(.addAlarm(change))
  }

  private func until(_ second: Int64) {
    world.advance(by: WallTime(seconds: second) - world.wall)
  }

  @Test func `all groups that play stop, and those that are paused keep their places`() throws {
    let groups = try rooms.prefix(3).map { try world.play(in: [$0]) }
    try world.ask(.transport(group: groups[1], .pause))
    world.strangerTakes(3)
    let meant = world.session.meantGroup?.id
    #expect(try stop() == "2 groups stop")
    #expect(try groups.map(state) == [.stopped, .paused, .stopped])
    #expect(world.session.meantGroup?.id == meant)
    #expect(world.receivers[3].holder == .stranger)
    #expect(try stop() == "nothing plays")
    try world.ask(.transport(group: groups[1], .play))
    #expect(try stop() == "1 group stops")
    // Their queues are as before.
    try world.ask(.transport(group: groups[0], .play))
    world.advance(by: .seconds(1))
    #expect(try state(groups[0]) == .playing && world.problems.isEmpty)
  }

  @Test func `music that waits for its room does not come back with it`() throws {
    let group = try world.play(in: [rooms[0]])
    world.power(0, isOn: false)
    world.advance(by: .seconds(15))
    #expect(try state(group) == .paused)
    #expect(try stop() == "1 group stops")
    world.power(0, isOn: true)
    world.advance(by: .seconds(5))
    #expect(try state(group) == .stopped)
  }

  @Test func `groups that play fade out and pause after the time, and what begins later plays on`()
    throws
  {
    let groups = try rooms.prefix(3).map { try world.play(in: [$0]) }
    try world.ask(.transport(group: groups[2], .pause))
    #expect(try stop(in: 90) == "2 groups pause in 1:30")
    #expect(try groups.map { try timer($0) != nil } == [true, true, false])
    let late = try world.play(in: [rooms[3]])
    world.advance(by: .seconds(80))
    for player in world.players.prefix(2) { #expect(!player.streamVolumes.isEmpty) }
    #expect(try state(groups[0]) == .playing)
    world.advance(by: .seconds(15))
    #expect(try groups.map(state) == [.paused, .paused, .paused])
    #expect(try state(late) == .playing)
    #expect(try stop(in: 90) == "1 group pauses in 1:30")
  }

  @Test func `a sleep timer outlives the program`() throws {
    let group = try world.play(in: [rooms[0]])
    #expect(try stop(in: 90) == "1 group pauses in 1:30")
    let end = try #require(try timer(group))
    try world.restart(after: .seconds(20))
    #expect(try timer(group) == end - 20_000)
    world.advance(by: .seconds(60))
    #expect(try state(group) == .playing)
    world.advance(by: .seconds(15))
    #expect(try state(group) == .paused)
    #expect(try timer(group) == nil)
  }

  @Test func `music whose sleep timer has ended without the program does not begin again`() throws {
    let group = try world.play(in: [rooms[0]])
    _ = try stop(in: 90)
    try world.restart(after: .seconds(100))
    world.advance(by: .seconds(5))
    #expect(try state(group) == .stopped)
    #expect(try timer(group) == nil)
    try world.ask(.transport(group: group, .play))
    world.advance(by: .seconds(200))
    #expect(try state(group) == .playing)
  }

  @Test func `zero ends all sleep timers, also those of paused groups`() throws {
    let groups = try rooms.prefix(2).map { try world.play(in: [$0]) }
    #expect(try stop(in: 0) == "no sleep timer is on")
    _ = try stop(in: 600)
    try world.ask(.transport(group: groups[1], .pause))
    #expect(try stop(in: 0) == "2 sleep timers are off")
    #expect(try groups.map { try timer($0) == nil } == [true, true])
    try world.ask(.change(group: groups[0], .init(sleepInS: 60)))
    #expect(try stop(in: 0) == "1 sleep timer is off")
  }

  @Test(arguments: [-1, 93_601, Double.nan, .infinity])
  func `a time that no sleep timer has is refused, also while nothing plays`(seconds: Double) {
    #expect(throws: Refusal.invalid("the sleep timer is 0 to 93600 seconds")) {
      try stop(in: seconds)
    }
  }

  @Test func `what rings ends, and the music that it has interrupted does not come back`() throws {
    let group = try world.play(in: [rooms[0]])
    try alarm(in: rooms[0], minute: 30)
    until(1_805)
    #expect(world.sounds(in: 0) == "tone")
    #expect(try stop() == "1 group and 1 alarm stop")
    world.advance(by: .seconds(10))
    #expect(try world.sounds(in: 0) == nil && state(group) == .stopped)
    #expect(try stop() == "nothing plays")
  }

  @Test func `an alarm that is set rings all the same, in rooms that hold it already`() throws {
    try alarm(in: rooms[0], minute: 30)
    until(1_700)
    #expect(try stop() == "nothing plays")
    #expect(world.receivers[0].holder != .nobody)
    until(1_801)
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `a phone whose sound stops everywhere is told to pause`() throws {
    for room in rooms.prefix(2) {
      let id = try #require(try world.ask(.createGroup(rooms: [room], name: nil)).group?.id)
      try world.ask(.edit(group: id, .add([.init(input: "Phone")], at: .now), expected: nil))
      world.advance(by: .seconds(1))
    }
    #expect(try stop() == "2 groups stop")
    #expect(world.steered == ["Phone pause"])
  }

  @Test func `a stop lasts though the daemon is killed once it has answered`() throws {
    let group = try world.play(in: [rooms[0]])
    _ = try stop()
    #expect(HouseSession.Request.order(.stopEverywhere(sleepInS: nil)).movesMusic)
    #expect(!HouseSession.Request.order(.stopEverywhere(sleepInS: 60)).movesMusic)
    try world.restart()
    world.advance(by: .seconds(5))
    #expect(try state(group) == .stopped)
  }
}
