import Audio
import Clock
import Sender
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House

/// Stories of quiet nights in virtual time. The clock on the wall begins a second after midnight.
@Suite struct NightTests {
  private struct Ahead: CivilTime {
    let seconds: Int64
    func offset(at time: WallTime) -> Int64 { seconds }
  }

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

  /// A night from 00:30 to 01:00.
  private func setNight(_ limit: Double = 20) throws {
    try world.ask(.night(.set(NightHours(fromMinute: 30, toMinute: 60, volumeLimit: limit))))
  }

  private func until(_ second: Int64) {
    world.advance(by: WallTime(seconds: second) - world.wall)
  }

  private var volumes: [UInt16] { world.receivers.map(\.settings.volume) }
  private var shown: HouseState.Night? { world.session.state(at: world.now).server.night }

  @Test func `rooms that play are turned down when night begins, and nobody turns them up`() throws
  {
    let id = try play(in: kitchen, bath)
    try world.ask(.set(rooms: [bath], RoomChange(volume: 10)))
    try setNight()
    #expect(shown?.from == "00:30" && shown?.to == "01:00" && shown?.isNow == false)
    until(1_799)
    #expect(volumes == [500, 100])
    until(1_802)
    #expect(volumes == [200, 100])
    #expect(shown?.isNow == true)
    #expect(try world.ask(.set(rooms: [bath], RoomChange(volume: 90))).room?.volume == 20)
    #expect(
      try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 100)))).group?.volume == 20)
    #expect(volumes == [200, 200])
    // In the morning they stay as they are, until somebody turns them up.
    until(3_602)
    #expect(volumes == [200, 200] && shown?.isNow == false)
    try world.ask(.set(rooms: [bath], RoomChange(volume: 90)))
    #expect(volumes == [200, 900])
  }

  @Test func `a room that joins at night, or is set while it is free, is no louder`() throws {
    try setNight()
    until(1_802)
    #expect(volumes == [500, 500])
    try world.ask(.set(rooms: [bath], RoomChange(volume: 80)))
    world.advance(by: .seconds(5))
    #expect(volumes == [500, 200])
    _ = try play(in: kitchen)
    #expect(volumes == [200, 200])
  }

  @Test func `night outlives the process, and ends when somebody ends it`() throws {
    _ = try play(in: kitchen)
    try setNight()
    until(1_802)
    try world.restart()
    world.advance(by: .seconds(2))
    #expect(shown?.isNow == true)
    #expect(try world.ask(.set(rooms: [kitchen], RoomChange(volume: 90))).room?.volume == 20)
    #expect(try world.ask(.night(.off)).said == "no hours of the night are set")
    #expect(try world.ask(.set(rooms: [kitchen], RoomChange(volume: 90))).room?.volume == 90)
    try world.restart()
    #expect(shown == nil)
  }

  @Test func `a clock that is set into the night begins it`() throws {
    _ = try play(in: kitchen)
    try setNight()
    world.setWall(by: .seconds(2_000))
    #expect(volumes[0] == 200)
  }

  @Test func `an alarm at night is as loud as it was set, and leaves the room quiet`() throws {
    _ = try play(in: kitchen)
    try setNight()
    until(600)
    var change = AlarmChange()
    (change.minute, change.roomIds, change.lengthS, change.volume) = (40, [kitchen], 60, 40)
    try world.ask(.addAlarm(change))
    until(2_402)
    #expect(volumes[0] == 400)
    until(2_480)
    #expect(volumes[0] == 200)
    #expect(world.disk.record.debts.isEmpty)
  }

  @Test func `an announcement at night is no louder than the limit`() throws {
    try setNight()
    until(1_802)
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    let clip = Clip(format: format, bytes: [])
    for volume in [nil, 90.0, 5] {
      _ = world.request(
        .announce(AnnouncementWish(rooms: [kitchen], clip, length: .seconds(1), volume: volume)))
      world.settle()
      world.advance(by: .seconds(10))
    }
    #expect(world.clipVolumes == [200, 200, 50])
  }

  @Test func `an announcement in a room of no group is no louder than the limit`() throws {
    // The room is as loud as 50 when it is visited.
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 50)))
    world.advance(by: .seconds(10))
    try setNight(40)
    until(1_802)
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    _ = world.request(
      .announce(
        AnnouncementWish(
          rooms: [kitchen], Clip(format: format, bytes: []), length: .seconds(1), volume: nil)))
    world.settle()
    world.advance(by: .seconds(10))
    #expect(world.clipVolumes == [400])
  }

  /// Clocks, seconds ahead of UTC, show this minute of UTC in the night, or not.
  private func expect(_ isNight: Bool, _ minute: Int64, _ night: NightHours, ahead: Int64) {
    for day: Int64 in [-3, 0, 20_000] {
      let time = WallTime(seconds: day * 86_400 + minute * 60)
      #expect(night.contain(time, in: Ahead(seconds: ahead)) == isNight, "\(minute)")
    }
  }

  @Test func `night is by what the clocks show`() {
    let long = NightHours(fromMinute: 1_320, toMinute: 420, volumeLimit: 20)
    for minute: Int64 in [1_320, 1_380, 0, 419] { expect(true, minute, long, ahead: 0) }
    for minute: Int64 in [420, 720, 1_319] { expect(false, minute, long, ahead: 0) }
    let short = NightHours(fromMinute: 780, toMinute: 840, volumeLimit: 20)
    for (minute, isNight) in [(779, false), (780, true), (839, true), (840, false)] {
      expect(isNight, Int64(minute), short, ahead: 0)
    }
    expect(true, 1_200, long, ahead: 7_200)
    expect(false, 1_199, long, ahead: 7_200)
    expect(false, 300, long, ahead: 7_200)
    expect(true, 480, long, ahead: -36_000)
    expect(false, 1_020, long, ahead: -36_000)
  }

  @Test func `hours that are none are refused`() throws {
    let wrong = [
      NightHours(fromMinute: 0, toMinute: 1_440, volumeLimit: 20),
      NightHours(fromMinute: -1, toMinute: 5, volumeLimit: 20),
      NightHours(fromMinute: 5, toMinute: 5, volumeLimit: 20),
      NightHours(fromMinute: 0, toMinute: 5, volumeLimit: 0.5),
      NightHours(fromMinute: 0, toMinute: 5, volumeLimit: 101),
    ]
    for hours in wrong {
      #expect(throws: Refusal.self) { try world.ask(.night(.set(hours))) }
    }
    #expect(shown == nil)
  }
}
