import Clock
import Sender
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House

/// Stories of rooms with limits in virtual time.
@Suite struct VolumeLimitTests {
  private let world: SimulatedWorld
  private let kitchen: String
  private let bath: String

  init() throws {
    world = try SimulatedWorld(rooms: 2, holding: .zero)
    (kitchen, bath) = (world.receivers[0].id, world.receivers[1].id)
  }

  private func play(in rooms: String...) throws -> String {
    try world.play(in: rooms)
  }

  private func room(_ id: String) -> HouseState.Room? {
    world.session.state(at: world.now).rooms.first { $0.id == id }
  }

  @Test func `a free room is given a limit and a volume before it plays, and keeps both`() throws {
    let answer = try world.ask(.set(rooms: [kitchen], RoomChange(volume: 80, volumeLimit: 30)))
    #expect(answer.room?.volumeLimit == 30 && answer.room?.volume == 30)
    #expect(answer.said == "Kitchen: volume 30 of at most 30")
    world.advance(by: .seconds(5))
    #expect(world.receivers[0].settings.volume == 300)
    #expect(world.receivers[0].settings.volumeLimit == VolumeLimit(300))
    #expect(world.receivers[0].holder == .nobody)
    // Also shown to who asks later, and after a restart.
    #expect(room(kitchen)?.volumeLimit == 30)
    world.advance(by: .seconds(15))
    try world.restart()
    #expect(room(kitchen)?.volumeLimit == 30)
  }

  @Test func `what was answered about a free room is told by the next process, too`() throws {
    let request = world.request(.order(.set(rooms: [kitchen], RoomChange(volume: 40, muted: true))))
    world.power(0, isOn: false)
    world.advance(by: .seconds(1))
    #expect(try #require(world.take(request)).get().room?.volume == 40)
    try world.restart()
    world.power(0, isOn: true)
    #expect(room(kitchen)?.volume == 40 && room(kitchen)?.muted == true)
    world.advance(by: .seconds(5))
    #expect(world.receivers[0].settings.volume == 400 && world.receivers[0].settings.isMuted)
    #expect(world.disk.record.debts.isEmpty)
    world.advance(by: .seconds(10))
    #expect(world.receivers[0].holder == .nobody)
  }

  @Test func `a process that ends before a playing room has heard it leaves it to the next`() throws
  {
    let id = try play(in: kitchen, bath)
    for index in [0, 1] { world.hears(index, false) }
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 40)))
    try world.ask(.set(rooms: [kitchen], RoomChange(muted: true, volumeLimit: 30)))
    try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 20))))
    try world.ask(.set(rooms: [bath], RoomChange(volume: 60)))
    let shown = [kitchen, bath].map { room($0)?.volume }
    #expect(shown[1] == 60 && world.receivers.map(\.settings.volume) == [500, 500])
    try world.restart()
    world.advance(by: .seconds(5))
    #expect(world.receivers.map { Double($0.settings.volume) / 10 } == shown)
    #expect(world.receivers[0].settings.volumeLimit == VolumeLimit(300))
    #expect(world.receivers.map(\.settings.isMuted) == [true, false])
    #expect(world.disk.record.debts.isEmpty)
  }

  @Test func `a room that has heard it is owed nothing, whatever was said before`() throws {
    let id = try play(in: kitchen)
    world.hears(0, false)
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 40)))
    try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 70))))
    #expect(world.disk.record.debts.map(\.volume) == [70])
    world.hears(0, true)
    world.advance(by: .seconds(2))
    #expect(world.receivers[0].settings.volume == 700)
    #expect(world.disk.record.debts.isEmpty)
    // Somebody else turns it.
    world.set(volume: 250, of: 0)
    world.advance(by: .seconds(5))
    #expect(world.receivers[0].settings.volume == 250)
  }

  @Test func `the slider of a group leaves each room below its limit`() throws {
    let id = try play(in: kitchen, bath)
    try world.ask(.set(rooms: [bath], RoomChange(volumeLimit: 40)))
    #expect(world.receivers[1].settings.volume == 400)
    let group = try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 100)))).group
    #expect(world.receivers.map(\.settings.volume) == [1000, 400])
    #expect(group?.volume == 100)
  }

  @Test func `a limit that the receiver's user has fixed is not set, playing or not`() throws {
    world.limit(0, to: VolumeLimit(500, isFixed: true))
    let id = try play(in: kitchen)
    #expect(room(kitchen)?.isVolumeLimitFixed == true)
    #expect(throws: Refusal.self) {
      try world.ask(.set(rooms: [kitchen], RoomChange(volumeLimit: 90)))
    }
    try world.ask(.deleteGroup(id))
    world.advance(by: .seconds(5))
    #expect(throws: Refusal.self) {
      try world.ask(.set(rooms: [kitchen], RoomChange(volumeLimit: 90)))
    }
    #expect(world.receivers[0].settings.volumeLimit == VolumeLimit(500, isFixed: true))
  }

  @Test func `a debt beyond the limit is paid as far as the limit lets`() throws {
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 80)))
    world.advance(by: .seconds(10))
    var change = AlarmChange()
    (change.minute, change.roomIds, change.lengthS, change.volume) = (30, [kitchen], 600, 40)
    try world.ask(.addAlarm(change))
    world.advance(by: WallTime(seconds: 1_801) - world.wall)
    #expect(world.receivers[0].settings.volume == 400)
    world.limit(0, to: VolumeLimit(500))
    world.advance(by: .seconds(700))
    #expect(world.receivers[0].settings.volume == 500)
    #expect(world.disk.record.debts.isEmpty)
  }
}
