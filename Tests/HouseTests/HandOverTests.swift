import Clock
import TestSupport
import Testing
import WireProtocol

@testable import House

/// Music that moves from room to room in virtual time.
@Suite struct HandOverTests {
  private let world: SimulatedWorld
  private let kitchen: String
  private let bath: String
  private let attic: String

  init() throws {
    world = try SimulatedWorld(rooms: 3, holding: .seconds(60))
    (kitchen, bath, attic) = (
      world.receivers[0].id, world.receivers[1].id, world.receivers[2].id
    )
  }

  @discardableResult
  private func move(_ group: String, to rooms: String...) throws -> Answer {
    var change = Order.GroupChange()
    change.roomIds = rooms
    return try world.ask(.change(group: group, change))
  }

  private func sounds(_ rooms: Int...) -> Bool {
    (0..<3).allSatisfy { (world.sounds(in: $0) != nil) == rooms.contains($0) }
  }

  @Test func `a room sounds until the one that the music moves to does`() throws {
    let id = try world.play(in: [kitchen, attic])
    world.prime(1, true)
    let answer = try move(id, to: bath)
    #expect(answer.said == "in Bath")
    #expect(answer.group?.roomIds == [bath])
    #expect(world.session.state(ofRoom: kitchen) == .free)
    world.advance(by: .seconds(5))
    #expect(sounds(0, 2))
    world.prime(1, false)
    world.advance(by: .seconds(2))
    #expect(sounds(1))
    #expect(world.problems.isEmpty)
  }

  @Test func `a killed process leaves no room sounding that its music was leaving`() throws {
    let id = try world.play(in: [kitchen])
    world.prime(1, true)
    try move(id, to: bath)
    #expect(sounds(0))
    try world.restart(roomsPlayOn: true)
    world.advance(by: .seconds(1))
    #expect(!sounds(0))
    #expect(world.session.state(ofRoom: kitchen) == .free)
    world.advance(by: .seconds(20))
    #expect(world.receivers[0].holder == .nobody)
    #expect(world.disk.record.debts.isEmpty && world.problems.isEmpty)
  }

  @Test func `a room that never sounds is waited for ten seconds`() throws {
    let id = try world.play(in: [kitchen])
    world.prime(1, true)
    try move(id, to: bath)
    world.advance(by: .seconds(9))
    #expect(sounds(0))
    world.advance(by: .seconds(2))
    #expect(sounds())
  }

  @Test func `what is paused, or moves to a room that is away, leaves at once`() throws {
    let id = try world.play(in: [kitchen])
    world.power(1, isOn: false)
    try move(id, to: bath)
    #expect(world.receivers[0].holder == .nobody)
    try move(id, to: kitchen)
    world.advance(by: .seconds(1))
    try world.ask(.transport(group: id, .pause))
    try move(id, to: attic)
    #expect(world.receivers[0].holder == .nobody)
  }

  @Test func `a room that is wanted elsewhere leaves at once`() throws {
    let id = try world.play(in: [kitchen])
    world.prime(1, true)
    try move(id, to: bath)
    let other = try world.play(in: [kitchen])
    #expect(world.holds(world.receivers[0], other))
    world.advance(by: .seconds(20))
    #expect(world.holds(world.receivers[0], other))
    #expect(world.problems.isEmpty)
  }

  @Test func `a room that is wanted back stays`() throws {
    let id = try world.play(in: [kitchen])
    world.prime(1, true)
    try move(id, to: bath)
    try world.ask(.join(group: id, room: kitchen, takes: false))
    world.advance(by: .seconds(20))
    #expect(sounds(0))
    #expect(world.session.plan.group(id)?.rooms == [bath, kitchen])
  }

  @Test func `a room that is leaving can be set, and shows itself`() throws {
    let id = try world.play(in: [kitchen])
    world.prime(1, true)
    try move(id, to: bath)
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 20)))
    world.advance(by: .seconds(5))
    #expect(world.receivers[0].settings.volume == 200)
    #expect(world.receivers[0].holder == .nobody)
  }

  @Test func `a room that is leaving is silent when the daemon ends`() throws {
    let id = try world.play(in: [kitchen])
    world.prime(1, true)
    try move(id, to: bath)
    world.session.handle(.leave, at: world.now)
    #expect(world.receivers[0].holder == .nobody)
    #expect(world.receivers[1].holder != .nobody)
  }
}
