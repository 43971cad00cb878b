import Audio
import Clock
import Sender
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House

/// Stories of alarms in virtual time. The machine's clock, and that on the wall, begin a second after midnight.
@Suite struct AlarmTests {
  private let world: SimulatedWorld
  private let kitchen: String
  private let bath: String

  init() throws {
    world = try SimulatedWorld(rooms: 2, holding: .zero)
    (kitchen, bath) = (world.receivers[0].id, world.receivers[1].id)
  }

  /// Sets an alarm for 00:30 that rings for ten minutes.
  private func alarm(in rooms: String..., playing location: String? = nil) throws -> String {
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (30, rooms, Weekday.allCases)
    (change.lengthS, change.volume) = (600, 40)
    change.music = location.map { .entries([.init(location: $0)]) }
    return try #require(try world.ask(.addAlarm(change)).alarm?.id)
  }

  private func play(in rooms: String...) throws -> String {
    try world.play(in: rooms)
  }

  /// Lets time pass until the clock on the wall shows this time, in seconds of the day.
  private func until(_ second: Int64) {
    world.advance(by: WallTime(seconds: second) - world.wall)
  }

  private func state(_ alarm: String) -> HouseState.Alarm? {
    world.session.state(at: world.now).alarms.first { $0.id == alarm }
  }

  @Test func `a free room is filled ten minutes before, rings at the second, and is free again`()
    throws
  {
    let id = try alarm(in: kitchen)
    until(1_199)
    #expect(world.receivers[0].holder == .nobody)
    until(1_201)
    #expect(world.receivers[0].holder != .nobody)
    // For programs it is free, and as loud as before.
    let room = try #require(world.session.state(at: world.now).rooms.first { $0.id == kitchen })
    #expect(room.state == .free && room.volume == 50)
    world.advance(by: WallTime(seconds: 1_800) - world.wall - .milliseconds(1))
    #expect(world.sounds(in: 0) == nil && state(id)?.state == .waiting)
    world.advance(by: .milliseconds(2))
    #expect(world.sounds(in: 0) == "tone" && state(id)?.state == .ringing)
    #expect(world.receivers[0].settings.volume == 400)
    until(2_399)
    #expect(world.sounds(in: 0) == "tone")
    until(2_405)
    #expect(world.receivers[0].holder == .nobody && state(id)?.state == .waiting)
    #expect(world.receivers[0].settings.volume == 500)
    let free = world.session.state(at: world.now).rooms.first { $0.id == kitchen }
    #expect(free?.state == .free && free?.volume == 50)
    #expect(state(id)?.nextAtS == 88_200.0)
  }

  @Test func `a busy and muted room rings, and then all is as before`() throws {
    let group = try play(in: kitchen)
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 20, muted: true)))
    let id = try alarm(in: kitchen, playing: "/music/wake.flac")
    until(1_790)
    #expect(world.sounds(in: 0) == "/music/a.flac")
    until(1_801)
    #expect(world.sounds(in: 0) == "/music/wake.flac")
    #expect(world.receivers[0].settings.volume == 400 && !world.receivers[0].settings.isMuted)
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(5))
    #expect(world.sounds(in: 0) == "/music/a.flac")
    #expect(world.holds(world.receivers[0], group))
    #expect(world.receivers[0].settings.volume == 200 && world.receivers[0].settings.isMuted)
    // It rings no more today.
    until(2_300)
    #expect(world.sounds(in: 0) == "/music/a.flac")
  }

  @Test func `music that was paused stays so, and a group plays on in its other rooms`() throws {
    let group = try play(in: kitchen, bath)
    _ = try alarm(in: kitchen)
    until(1_805)
    #expect(world.sounds(in: 0) == "tone" && world.sounds(in: 1) == "/music/a.flac")
    until(2_410)
    #expect(world.sounds(in: 0) == "/music/a.flac" && world.sounds(in: 1) == "/music/a.flac")
    try world.ask(.transport(group: group, .pause))
    until(86_400 + 1_805)
    #expect(world.sounds(in: 0) == "tone" && world.sounds(in: 1) == nil)
    until(86_400 + 2_410)
    #expect(world.sounds(in: 0) == nil && world.sounds(in: 1) == nil)
  }

  @Test func `a room of another sender is taken when it rings, and not before`() throws {
    world.strangerTakes(0)
    _ = try alarm(in: kitchen)
    until(1_790)
    #expect(world.receivers[0].holder == .stranger)
    world.mayTake = true
    until(1_801)
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `a room that was filled and is taken by another sender rings all the same`() throws {
    _ = try alarm(in: kitchen)
    until(1_500)
    #expect(world.receivers[0].holder != .nobody)
    world.strangerTakes(0)
    until(1_790)
    #expect(world.receivers[0].holder == .stranger)
    world.mayTake = true
    until(1_801)
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `an alarm that rings once and is set to a later time while it rings, rings again`()
    throws
  {
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (30, [kitchen], [])
    let id = try #require(try world.ask(.addAlarm(change)).alarm?.id)
    until(1_810)
    #expect(state(id)?.state == .ringing)
    var later = AlarmChange()
    later.minute = 75
    try world.ask(.changeAlarm(id, later))
    try world.ask(.endAlarm(id, snoozes: false))
    until(4_505)
    #expect(state(id)?.state == .ringing)
    try world.ask(.endAlarm(id, snoozes: false))
    #expect(state(id)?.isOn == false)
  }

  @Test func `an input that ends while an alarm rings gives back what it has interrupted`() throws {
    var input = HouseState.Input(name: "Turntable", kind: "card")
    input.onSound = world.receivers[0].name
    let world = try SimulatedWorld(rooms: 1, holding: .zero, inputs: [input])
    let room = world.receivers[0].id
    let group = try #require(try world.ask(.createGroup(rooms: [room], name: nil)).group?.id)
    try world.ask(
      .edit(group: group, .add([.init(location: "/music/a.flac")], at: .end), expected: nil))
    world.advance(by: .seconds(40))
    world.hear("Turntable", .opened)
    world.advance(by: .seconds(1))
    #expect(world.sounds(in: 0) != "/music/a.flac")
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (30, [room], Weekday.allCases)
    change.lengthS = 600
    try world.ask(.addAlarm(change))
    world.advance(by: WallTime(seconds: 1_810) - world.wall)
    #expect(world.sounds(in: 0) == "tone")
    world.hear("Turntable", .closed)
    world.advance(by: WallTime(seconds: 2_405) - world.wall)
    #expect(world.sounds(in: 0) == "/music/a.flac")
    let player = try #require(world.session.groups[group])
    #expect(player.place(player.player.status)?.entry == 0)
  }

  @Test func `killed while it rings, it rings on, and rooms become as loud as before`() throws {
    let group = try play(in: kitchen)
    _ = try alarm(in: kitchen)
    until(1_900)
    try world.restart()
    world.advance(by: .seconds(5))
    #expect(world.sounds(in: 0) == "tone")
    #expect(world.receivers[0].settings.volume == 400)
    until(2_410)
    #expect(world.sounds(in: 0) == "/music/a.flac" && world.holds(world.receivers[0], group))
    #expect(world.receivers[0].settings.volume == 500)
  }

  @Test func `killed before and back after it, rooms become as loud as before`() throws {
    _ = try alarm(in: kitchen)
    until(1_500)
    #expect(world.receivers[0].settings.volume == 400)
    try world.restart()
    world.setWall(by: .seconds(3_600))
    world.advance(by: .seconds(20))
    #expect(world.receivers[0].settings.volume == 500)
    #expect(world.receivers[0].holder == .nobody)
  }

  @Test func `a snooze gives the room back for some minutes`() throws {
    let group = try play(in: kitchen)
    let id = try alarm(in: kitchen)
    until(1_810)
    try world.ask(.endAlarm(nil, snoozes: true))
    world.advance(by: .seconds(5))
    #expect(world.sounds(in: 0) == "/music/a.flac" && world.holds(world.receivers[0], group))
    #expect(state(id)?.state == .snoozed)
    until(1_810 + 541)
    #expect(world.sounds(in: 0) == "tone")
    try world.ask(.endAlarm(nil, snoozes: false))
    world.advance(by: .seconds(5))
    #expect(world.sounds(in: 0) == "/music/a.flac")
    #expect(throws: Refusal.unavailable("no alarm rings")) {
      try world.ask(.endAlarm(nil, snoozes: false))
    }
  }

  @Test func `somebody who plays something gets the room, and the alarm rings all the same`() throws
  {
    _ = try alarm(in: kitchen)
    until(1_700)
    #expect(world.receivers[0].holder != .nobody)
    let group = try play(in: kitchen)
    #expect(world.sounds(in: 0) == "/music/a.flac" && world.holds(world.receivers[0], group))
    try world.ask(.transport(group: group, .stop))
    // Once it is quiet, the room is filled again.
    world.advance(by: .seconds(10))
    #expect(!world.holds(world.receivers[0], group))
    until(1_801)
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `a volume that is set before it rings counts for the time afterwards`() throws {
    _ = try alarm(in: kitchen)
    until(1_700)
    try world.ask(.set(rooms: [kitchen], RoomChange(volume: 70)))
    until(1_801)
    #expect(world.receivers[0].settings.volume == 400)
    until(2_410)
    #expect(world.receivers[0].settings.volume == 700)
  }

  @Test func `rooms that are filled begin anew when the clock is set`() throws {
    let id = try alarm(in: kitchen)
    until(1_500)
    world.setWall(by: .seconds(200))
    world.advance(by: .seconds(99))
    #expect(world.sounds(in: 0) == nil)
    world.advance(by: .seconds(2))
    #expect(world.sounds(in: 0) == "tone" && state(id)?.state == .ringing)
    // The clock goes back, and it does not ring again.
    world.setWall(by: .seconds(-900))
    world.advance(by: .seconds(700))
    #expect(world.sounds(in: 0) == nil)
    world.advance(by: .seconds(1_000))
    #expect(world.sounds(in: 0) == nil)
  }

  @Test func `music that cannot be had gives way to the tone`() throws {
    world.unreachable = ["http://example.com/radio"]
    _ = try alarm(in: kitchen, playing: "http://example.com/radio")
    until(1_801)
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `music that has rung and stops coming gives way to the tone`() throws {
    let station = "http://example.com/radio"
    _ = try alarm(in: kitchen, playing: station)
    until(1_802)
    #expect(world.sounds(in: 0) == station)
    let player = try #require(world.players.last)
    let item = try #require(player.status().item?.item)
    player.stalled = station
    world.tell(
      .buffering(Buffering(item: item, arrived: .zero, needed: .seconds(2))), of: player)
    world.advance(by: .seconds(4))
    #expect(world.sounds(in: 0) == nil)
    world.advance(by: .seconds(2))
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `one that rings once is off afterwards, and one that is skipped waits a day`() throws {
    let id = try alarm(in: kitchen)
    var change = AlarmChange()
    change.skipsNext = true
    try world.ask(.changeAlarm(id, change))
    #expect(state(id)?.skipsNext == true && state(id)?.nextAtS == 86_400 + 1_800)
    until(1_805)
    #expect(world.sounds(in: 0) == nil)
    change = AlarmChange()
    change.days = []
    try world.ask(.changeAlarm(id, change))
    until(86_400 + 1_805)
    #expect(world.sounds(in: 0) == "tone")
    until(86_400 + 2_410)
    #expect(state(id)?.state == .off && state(id)?.isOn == false)
  }

  private func change(_ alarm: String, _ edit: (inout AlarmChange) -> Void) throws {
    var change = AlarmChange()
    edit(&change)
    try world.ask(.changeAlarm(alarm, change))
  }

  // MARK: - Filled late

  @Test func `one that is set seconds before its time plays its music`() throws {
    until(1_797)
    _ = try alarm(in: kitchen, playing: "/music/wake.flac")
    until(1_801)
    #expect(world.sounds(in: 0) == "/music/wake.flac")
  }

  @Test func `one that is set seconds before its time gives way to the tone where nothing comes`()
    throws
  {
    world.unreachable = ["http://example.com/radio"]
    until(1_797)
    _ = try alarm(in: kitchen, playing: "http://example.com/radio")
    until(1_803)
    #expect(world.sounds(in: 0) == "tone")
  }

  @Test func `rooms wait on while somebody plays in others`() throws {
    let group = try play(in: bath)
    let id = try alarm(in: kitchen, playing: "/music/wake.flac")
    until(1_700)
    let holder = world.receivers[0].holder
    #expect(holder != .nobody)
    try world.ask(.seek(group: group, seconds: 10, isRelative: false))
    _ = try play(in: bath)
    _ = world.request(.silence([bath]))
    world.advance(by: .seconds(1))
    #expect(world.receivers[0].holder == holder && state(id)?.state == .waiting)
    until(1_801)
    #expect(world.sounds(in: 0) == "/music/wake.flac")
  }

  @Test func `music in its own room seconds before does not cost it its music`() throws {
    _ = try alarm(in: kitchen, playing: "/music/wake.flac")
    until(1_794)
    _ = try play(in: kitchen)
    until(1_801)
    #expect(world.sounds(in: 0) == "/music/wake.flac")
  }

  @Test func `an announcement in a room that waits is as loud as the room was`() throws {
    _ = try alarm(in: kitchen)
    until(1_700)
    #expect(world.receivers[0].settings.volume == 400)
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    let clip = Clip(format: format, bytes: [])
    func announce() {
      _ = world.request(
        .announce(.init(rooms: [kitchen, bath], clip, length: .seconds(1))))
      world.advance(by: .seconds(5))
    }
    announce()
    #expect(world.heard.map(\.volume) == [500, nil] || world.heard.map(\.volume) == [nil, 500])
    until(1_810)
    announce()
    #expect(world.heard.dropFirst(2).allSatisfy { $0.volume == nil })
  }

  // MARK: - Afterwards

  @Test func `killed while it rings and back after it, its rooms are silent and as before`() throws
  {
    _ = try alarm(in: kitchen)
    until(1_900)
    try world.restart(roomsPlayOn: true, after: .seconds(3_600))
    let room = world.session.state(at: world.now).rooms.first { $0.id == kitchen }
    #expect(room?.state == .free)
    world.advance(by: .seconds(20))
    #expect(world.receivers[0].holder == .nobody && world.receivers[0].settings.volume == 500)
  }

  @Test func `a room that another sender has taken meanwhile is left to it`() throws {
    _ = try alarm(in: kitchen)
    until(1_900)
    world.strangerTakes(0)
    try world.restart(roomsPlayOn: true, after: .seconds(3_600))
    world.advance(by: .seconds(20))
    #expect(world.receivers[0].holder == .stranger && world.problems.isEmpty)
    #expect(world.session.state(ofRoom: kitchen) == .taken(detail: nil, RoomReason(.busy)))
  }

  @Test func `a room is as loud as before in the moment in which it rings no more`() throws {
    let id = try alarm(in: kitchen)
    until(1_810)
    #expect(world.receivers[0].settings.volume == 400)
    try world.ask(.endAlarm(id, snoozes: false))
    world.settle()
    world.wake()
    #expect(world.receivers[0].settings.volume == 500)
    #expect(world.session.alarms.debts.isEmpty)
  }

  @Test func `music that is to end while it rings does not go on afterwards`() throws {
    let group = try play(in: kitchen)
    let id = try alarm(in: kitchen)
    until(1_700)
    try world.ask(.change(group: group, .init(sleepInS: 105)))
    until(1_820)
    try world.ask(.endAlarm(id, snoozes: false))
    world.advance(by: .seconds(5))
    #expect(world.sounds(in: 0) == nil && world.session.groups[group]?.isResting == true)
  }

  // MARK: - Changes

  @Test func `while it rings, its volume can be changed, and its rooms and its music cannot`()
    throws
  {
    let id = try alarm(in: kitchen)
    until(1_810)
    try change(id) { $0.volume = 10 }
    world.advance(by: .seconds(1))
    #expect(world.receivers[0].settings.volume == 100)
    let refusal = Refusal.notYet("this alarm rings; stop it, then change its rooms and its music")
    #expect(throws: refusal) { try change(id) { $0.roomIds = [bath] } }
    #expect(throws: refusal) { try change(id) { $0.music = .queue } }
    // A form may send all that is as it was.
    try change(id) { ($0.roomIds, $0.music, $0.name) = ([kitchen], .tone, "Up") }
    until(2_410)
    #expect(world.receivers[0].settings.volume == 500)
  }

  @Test func `what rings is snoozed, though another alarm is snoozed already`() throws {
    let (first, second) = (try alarm(in: kitchen), try alarm(in: bath))
    until(1_810)
    try world.ask(.endAlarm(first, snoozes: true))
    try world.ask(.endAlarm(nil, snoozes: true))
    #expect(state(first)?.state == .snoozed && state(second)?.state == .snoozed)
    #expect(throws: Refusal.unavailable("no alarm rings")) {
      try world.ask(.endAlarm(nil, snoozes: true))
    }
  }

  @Test func `one that was left out does not ring when that is taken back too late`() throws {
    let id = try alarm(in: kitchen)
    try change(id) { $0.skipsNext = true }
    until(1_805)
    try change(id) { $0.skipsNext = false }
    world.advance(by: .seconds(1))
    #expect(state(id)?.state == .waiting && world.sounds(in: 0) == nil)
    #expect(state(id)?.nextAtS == 88_200.0)
  }

  @Test func `one that rings once is off if it is left out`() throws {
    let id = try alarm(in: kitchen)
    try change(id) { $0.days = [] }
    try change(id) { $0.skipsNext = true }
    #expect(state(id)?.state == .off)
    try change(id) { $0.isOn = true }
    #expect(state(id)?.state == .waiting)
  }

  @Test func `one that was missed waits again when somebody says so`() throws {
    let id = try alarm(in: kitchen)
    try change(id) { $0.days = [] }
    for edit: (inout AlarmChange) -> Void in [{ $0.isOn = true }, { $0.minute = 30 }] {
      world.setWall(by: .seconds(86_400))
      #expect(state(id)?.state == .missed)
      try change(id, edit)
      #expect(state(id)?.state == .waiting)
    }
  }

  @Test func `an alarm keeps no more items than the limit`() throws {
    let id = try alarm(in: kitchen)
    var change = AlarmChange()
    change.music = .entries((0..<300).map { .init(location: "/music/\($0).flac") })
    try world.ask(.changeAlarm(id, change))
    #expect(state(id)?.music.count == Alarm.entryLimit)
  }

  @Test func `an alarm has a time, a room and values within their ranges`() throws {
    var change = AlarmChange()
    #expect(throws: Refusal.self) { try world.ask(.addAlarm(change)) }
    (change.minute, change.roomIds) = (30, [kitchen])
    let wrong: [(inout AlarmChange) -> Void] = [
      { $0.minute = 1_440 }, { $0.volume = 101 }, { $0.riseS = -1 }, { $0.lengthS = 20_000 },
      { $0.snoozeS = 0 }, { $0.roomIds = ["nowhere"] }, { $0.music = .entries([]) },
      { $0.music = .entries([.init(input: "Turntable")]) },
      { $0.name = String(repeating: "a", count: 101) },
    ]
    for spoil in wrong {
      var bad = change
      spoil(&bad)
      #expect(throws: Refusal.self) { try world.ask(.addAlarm(bad)) }
    }
    let id = try #require(try world.ask(.addAlarm(change)).alarm?.id)
    try world.ask(.removeAlarm(id))
    for _ in 0..<Alarm.limit { try world.ask(.addAlarm(change)) }
    #expect(throws: Refusal.self) { try world.ask(.addAlarm(change)) }
  }
}
