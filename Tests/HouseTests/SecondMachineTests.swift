import Clock
import TestSupport
import Testing

@testable import House

/// A household that has a second machine, as pages and terminals are told of it.
@Suite struct SecondMachineTests {
  private let world: SimulatedWorld
  private var rooms: [String] { world.receivers.map(\.id) }

  init() throws { world = try SimulatedWorld(rooms: 2, holding: .zero) }

  private func tell(_ host: String?, _ problem: String? = nil) {
    world.session.handle(.second(SecondMachine(host: host, problem: problem)), at: world.now)
    world.settle()
  }

  private var server: HouseState.Server { world.session.state(at: world.now).server }

  private func power(isOn: Bool) {
    for room in rooms.indices { world.power(room, isOn: isOn) }
  }

  @Test func `it is told where the other machine is, or why it could not go on`() throws {
    #expect(server.second == nil && server.secondProblem == nil)
    tell("10.0.0.2")
    #expect(server.second == "10.0.0.2" && server.secondProblem == nil)
    tell(nil, "it does not answer")
    #expect(server.second == nil && server.secondProblem == "it does not answer")
  }

  @Test func `who hears the other machine and no room says so, once`() throws {
    _ = try world.play(in: rooms, name: nil)
    tell("10.0.0.2")
    power(isOn: false)
    world.advance(by: .seconds(9))
    #expect(server.secondProblem == nil)
    world.advance(by: .seconds(3))
    let line = try #require(server.secondProblem)
    #expect(line.hasPrefix("no room can be heard from this machine"))
    #expect(line.contains("at 10.0.0.2 can"))
    // The music waits by now, and is still to play.
    world.advance(by: .seconds(60))
    #expect(server.secondProblem == line)
    #expect(world.warnings == [line])
    // The other machine's own problem comes first, and without that machine nobody could go on.
    tell("10.0.0.2", "its disk is full")
    #expect(server.secondProblem == "its disk is full")
    tell(nil)
    #expect(server.secondProblem == nil)
    tell("10.0.0.2")
    world.power(1, isOn: true)
    world.advance(by: .seconds(20))
    #expect(server.secondProblem == nil)
  }

  @Test func `without a second machine it is not said`() throws {
    _ = try world.play(in: rooms, name: nil)
    power(isOn: false)
    world.advance(by: .seconds(60))
    #expect(server.secondProblem == nil && world.warnings.isEmpty)
  }

  @Test func `rooms that nobody wants may be switched off`() throws {
    let group = try world.play(in: rooms, name: nil)
    tell("10.0.0.2")
    try world.ask(.transport(group: group, .pause))
    power(isOn: false)
    world.advance(by: .seconds(60))
    #expect(server.secondProblem == nil && world.warnings.isEmpty)
  }

  @Test func `a room that refuses is heard`() throws {
    _ = try world.play(in: rooms, name: nil)
    tell("10.0.0.2")
    world.power(0, isOn: false)
    world.strangerTakes(1)
    world.advance(by: .seconds(60))
    #expect(server.secondProblem == nil && world.warnings.isEmpty)
  }
}
