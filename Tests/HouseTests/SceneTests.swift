import Clock
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House

/// Rooms and volumes that are brought back, in virtual time.
@Suite struct SceneTests {
  private let world: SimulatedWorld
  private let rooms: [String]

  init() throws {
    world = try SimulatedWorld(rooms: 4, holding: .seconds(60))
    rooms = world.receivers.map(\.id)
  }

  private func set(_ room: Int, to volume: Double) throws {
    try world.ask(.set(rooms: [rooms[room]], RoomChange(volume: volume)))
  }

  private func volume(_ room: Int) -> UInt16 { world.receivers[room].settings.volume }

  /// Kitchen 40 and Bath 20, which play.
  private func saveDinner() throws -> (group: String, scene: String) {
    let id = try world.play(in: [rooms[0], rooms[1]])
    try set(0, to: 40)
    try set(1, to: 20)
    let answer = try world.ask(.scene(.save(group: id, name: "Dinner")))
    return (id, try #require(answer.scene?.id))
  }

  @Test func `the music moves to the rooms of a scene, as loud as they were`() throws {
    let (id, scene) = try saveDinner()
    try set(0, to: 90)
    try world.ask(.leave(group: id, rooms: [rooms[1]]))
    world.advance(by: .seconds(1))
    try set(1, to: 70)
    world.advance(by: .seconds(10))
    try world.ask(.join(group: id, room: rooms[2], takes: false))
    world.advance(by: .seconds(1))
    let answer = try world.ask(.scene(.recall(scene, group: nil)))
    #expect(answer.said == "Dinner: Kitchen 40, Bath 20")
    #expect(answer.group?.roomIds == [rooms[0], rooms[1]])
    // At once, and not with the next look.
    world.advance(by: .milliseconds(200))
    #expect([volume(0), volume(1)] == [400, 200])
    world.advance(by: .seconds(2))
    #expect(world.sounds(in: 1) != nil && world.sounds(in: 2) == nil)
    #expect(world.problems.isEmpty)
  }

  @Test func `a limit that a room has not heard yet outlives a scene, and the process`() throws {
    let (_, scene) = try saveDinner()
    world.hears(0, false)
    try world.ask(.set(rooms: [rooms[0]], RoomChange(volumeLimit: 60)))
    try world.ask(.scene(.recall(scene, group: nil)))
    try world.restart()
    world.advance(by: .seconds(5))
    #expect(volume(0) == 400)
    #expect(world.receivers[0].settings.volumeLimit == VolumeLimit(600))
  }

  @Test func `a room that is away is as loud as in the scene when it is back`() throws {
    let (_, scene) = try saveDinner()
    try set(1, to: 90)
    world.power(1, isOn: false)
    world.advance(by: .seconds(1))
    try world.ask(.scene(.recall(scene, group: nil)))
    world.advance(by: .seconds(30))
    #expect(volume(1) == 900)
    world.power(1, isOn: true)
    world.advance(by: .milliseconds(200))
    #expect(volume(1) == 200)
    try set(1, to: 50)
    world.advance(by: .seconds(5))
    #expect(volume(1) == 500)
  }

  @Test func `the group is the one that is named, or plays there, or was used last`() throws {
    let (first, scene) = try saveDinner()
    try world.ask(.transport(group: first, .stop))
    let second = try world.play(in: [rooms[2]])
    #expect(try world.ask(.scene(.recall(scene, group: nil))).group?.id == second)
    world.advance(by: .seconds(2))
    let third = try world.play(in: [rooms[3]])
    #expect(try world.ask(.scene(.recall(scene, group: nil))).group?.id == second)
    #expect(try world.ask(.scene(.recall(scene, group: third))).group?.id == third)
  }

  @Test func `a household without groups gets one`() throws {
    let (id, scene) = try saveDinner()
    try world.ask(.deleteGroup(id))
    #expect(
      try world.ask(.scene(.recall(scene, group: nil))).group?.roomIds == [rooms[0], rooms[1]])
  }

  @Test func `a scene is replaced by one of its name, survives a restart, and is removed`() throws {
    let (id, scene) = try saveDinner()
    try world.ask(.leave(group: id, rooms: [rooms[1]]))
    #expect(try world.ask(.scene(.save(group: id, name: "Dinner"))).scene?.id == scene)
    #expect(try world.ask(.scene(.show)).said == "Dinner: Kitchen 40")
    try world.restart()
    #expect(try world.ask(.scene(.show)).said == "Dinner: Kitchen 40")
    #expect(try world.ask(.scene(.remove(scene))).said == "Dinner: removed")
    #expect(try world.ask(.scene(.show)).said == "there are no scenes")
    #expect(throws: Refusal.noSuch("there is no such scene any more")) {
      try world.ask(.scene(.recall(scene, group: nil)))
    }
    #expect(try world.ask(.scene(.save(group: id, name: "Lunch"))).scene?.id == "s2")
  }

  @Test func `no room is as loud as in a scene before the disk has that`() throws {
    let (_, scene) = try saveDinner()
    try set(0, to: 90)
    world.disk.delay = .seconds(1)
    let request = world.request(.order(.scene(.recall(scene, group: nil))))
    world.advance(by: .milliseconds(900))
    #expect(world.answer(request) == nil && volume(0) == 900)
    world.advance(by: .milliseconds(300))
    #expect(world.answer(request) != nil && volume(0) == 400)
  }

  @Test func `a full disk keeps no scene`() throws {
    let id = try world.play(in: [rooms[0]])
    world.disk.isBroken = true
    #expect(throws: Refusal.notKept("the disk is full")) {
      try world.ask(.scene(.save(group: id, name: "Dinner")))
    }
    #expect(world.session.scenes.scenes.isEmpty)
  }

  @Test func `no more scenes are kept than the limit`() throws {
    let id = try world.play(in: [rooms[0]])
    for number in 0..<Scene.limit { try world.ask(.scene(.save(group: id, name: "\(number)"))) }
    #expect(throws: Refusal.self) { try world.ask(.scene(.save(group: id, name: "one more"))) }
    #expect(throws: Refusal.self) { try world.ask(.scene(.save(group: id, name: " "))) }
    let long = String(repeating: "x", count: 101)
    #expect(throws: Refusal.self) { try world.ask(.scene(.save(group: id, name: long))) }
  }
}
