import Clock
import Sender
import TestSupport
import Testing

import enum House.Refusal

@testable import House

/// Stories of inputs whose sound comes from a program: play, pause and volume go both ways.
@Suite struct SourceTests {
  private let world: SimulatedWorld
  private let kitchen: String
  private let bath: String

  init() throws {
    var phone = HouseState.Input(name: "Phone", kind: "program")
    phone.takesOrders = true
    let inputs = [phone, HouseState.Input(name: "AirPlay", kind: "program")]
    world = try SimulatedWorld(rooms: 2, holding: .zero, inputs: inputs)
    (kitchen, bath) = (world.receivers[0].id, world.receivers[1].id)
  }

  private func play(_ input: String, in room: String) throws -> String {
    let id = try #require(try world.ask(.createGroup(rooms: [room], name: nil)).group?.id)
    let added = try world.ask(
      .edit(group: id, .add([.init(input: input)], at: .end), expected: nil))
    try world.ask(.edit(group: id, .play(try #require(added.queue?.added.first)), expected: nil))
    world.advance(by: .seconds(1))
    #expect(try state(id) == .playing)
    return id
  }

  private func state(_ group: String) throws -> GroupStatus.State {
    try #require(world.session.groups[group]).player.status.state
  }

  private func shown(_ group: String) throws -> HouseState.Group {
    try #require(world.session.state(at: world.now).groups.first { $0.id == group })
  }

  @Test func `a source that pauses for a while pauses its group, and plays on with it`() throws {
    let group = try play("AirPlay", in: kitchen)
    world.tell("AirPlay", .paused)
    world.advance(by: .milliseconds(900))
    #expect(try state(group) == .playing)
    world.advance(by: .milliseconds(200))
    #expect(try state(group) == .paused)
    world.tell("AirPlay", .playing)
    world.advance(by: .seconds(1))
    #expect(try state(group) == .playing)
    // Between two titles.
    world.tell("AirPlay", .paused)
    world.advance(by: .milliseconds(500))
    world.tell("AirPlay", .playing)
    world.advance(by: .seconds(5))
    #expect(try state(group) == .playing)
    #expect(world.problems.isEmpty && world.steered.isEmpty)
  }

  @Test func `a source sets the volume of the groups that play it, and of no other`() throws {
    let group = try play("AirPlay", in: kitchen)
    let other = try #require(try world.ask(.createGroup(rooms: [bath], name: nil)).group?.id)
    // A phone's first volume changes nothing.
    world.tell("AirPlay", .volume(100))
    world.advance(by: .seconds(1))
    #expect(try shown(group).volume == 50)
    world.tell("AirPlay", .volume(70))
    world.advance(by: .seconds(1))
    #expect(try shown(group).volume == 70)
    #expect(try shown(other).volume == 50)
    for volume in [20.0, 10] {
      world.tell("Phone", .volume(volume))
      world.tell("Nobody", .volume(volume))
    }
    world.tell("AirPlay", .stopped)
    world.tell("AirPlay", .playing)
    world.tell("AirPlay", .volume(100))
    world.advance(by: .seconds(2))
    #expect(try shown(group).volume == 70)
  }

  @Test func `a program that takes orders is told what its listeners want`() throws {
    let group = try play("Phone", in: kitchen)
    try world.ask(.transport(group: group, .pause))
    try world.ask(.transport(group: group, .play))
    world.advance(by: .seconds(1))
    #expect(
      try world.ask(.transport(group: group, .next)).said == "Phone was asked for its next title")
    try world.ask(.transport(group: group, .previous))
    try world.ask(.change(group: group, .init(rooms: .init(volume: 40))))
    #expect(
      world.steered == [
        "Phone pause", "Phone play", "Phone next", "Phone previous", "Phone volume(40.0)",
      ])
    // Its own volume comes back to it from nobody.
    world.tell("Phone", .volume(40))
    world.tell("Phone", .volume(30))
    world.advance(by: .seconds(1))
    #expect(world.steered.count == 5)
    #expect(try shown(group).volume == 30)
    try world.ask(.transport(group: group, .stop))
    try world.ask(.transport(group: group, .play))
    #expect(world.steered.suffix(1) == ["Phone pause"])
  }

  @Test func `who shares a source with others pauses it for nobody else`() throws {
    let one = try play("Phone", in: kitchen)
    let other = try play("Phone", in: bath)
    try world.ask(.transport(group: one, .pause))
    world.advance(by: .seconds(5))
    #expect(world.steered.isEmpty)
    #expect(try state(one) == .paused && state(other) == .playing)
  }

  @Test func `one that takes no orders gets none, and next is the next of the queue`() throws {
    let group = try play("AirPlay", in: kitchen)
    let entry = Order.NewEntry(location: "/music/a.flac")
    try world.ask(.edit(group: group, .add([entry], at: .end), expected: nil))
    try world.ask(.transport(group: group, .next))
    world.advance(by: .seconds(1))
    #expect(world.steered.isEmpty)
    #expect(world.sounds(in: 0) == "/music/a.flac")
  }

  @Test func `the picture of what a source plays is shown while it does`() throws {
    let group = try play("AirPlay", in: kitchen)
    world.picture("AirPlay", "12ab")
    #expect(try shown(group).item?.artwork == "12ab")
    world.picture("AirPlay", nil)
    #expect(try shown(group).item?.artwork == nil)
  }
}
