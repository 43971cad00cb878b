import Audio
import Clock
import Sender
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House

/// Stereo pairs in virtual time: two rooms that are one for everybody.
@Suite struct StereoTests {
  private let world: SimulatedWorld
  private let rooms: [String]

  init() throws {
    world = try SimulatedWorld(rooms: 4, holding: .seconds(60))
    rooms = world.receivers.map(\.id)
  }

  /// Kitchen and Bath.
  @discardableResult
  private func pair(named name: String? = "Den") throws -> Answer {
    try world.ask(.stereo(.make(left: rooms[0], right: rooms[1], name: name)))
  }

  private var state: HouseState { world.session.state(at: world.now) }
  private var den: HouseState.Room? { state.rooms.first { $0.id == rooms[0] } }
  private func channels(_ room: Int) -> RoomSettings.ChannelMap {
    world.receivers[room].settings.channelMap
  }
  private func volume(_ room: Int) -> UInt16 { world.receivers[room].settings.volume }
  private func hears(_ room: Int) -> Bool { world.sounds(in: room) != nil }

  // MARK: - One room

  @Test func `a pair is one room, and each speaker plays its channel`() throws {
    let answer = try pair()
    #expect(answer.said == "Den: left Kitchen, right Bath")
    #expect(answer.room?.id == rooms[0] && answer.room?.name == "Den")
    #expect(answer.room?.stereo?.leftName == "Kitchen" && answer.room?.stereo?.rightId == rooms[1])
    #expect(state.rooms.map(\.name) == ["Attic", "Den", "Hall"])
    let id = try world.play(in: [rooms[0]])
    #expect(channels(0) == .left && channels(1) == .right)
    #expect(hears(0) && hears(1))
    let group = try #require(state.groups.first { $0.id == id })
    #expect(group.name == "Den" && group.roomIds == [rooms[0]])
    #expect(den?.state == .playing && den?.channels == "stereo" && den?.stereo?.missing == nil)
    #expect(world.problems.isEmpty)
  }

  @Test func `without a name it has those of its rooms, and it can be renamed`() throws {
    #expect(try pair(named: nil).room?.name == "Kitchen + Bath")
    let named = try world.ask(.setUp(.nameRoom(rooms[1], "Den")))
    #expect(named.said == "Kitchen + Bath is called Den now" && named.room?.name == "Den")
    #expect(try world.ask(.setUp(.nameRoom(rooms[0], nil))).room?.name == "Kitchen + Bath")
    #expect(throws: Refusal.invalid("another room is called Hall")) {
      try world.ask(.setUp(.nameRoom(rooms[0], "Hall")))
    }
    // One of its rooms may give it its name.
    #expect(try world.ask(.setUp(.nameRoom(rooms[0], "Bath"))).room?.name == "Bath")
  }

  @Test func `it has one volume, by itself and in a group`() throws {
    try pair()
    let id = try world.play(in: [rooms[1], rooms[2]])
    let answer = try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 40)))
    #expect(answer.said == "Den: volume 40" && answer.room?.volume == 40)
    #expect([volume(0), volume(1), volume(2)] == [400, 400, 500])
    var step = RoomChange(volume: -10)
    step.isStep = true
    try world.ask(.set(rooms: [rooms[0]], step))
    #expect([volume(0), volume(1)] == [300, 300])
    try world.ask(.set(rooms: [rooms[0]], RoomChange(muted: true)))
    #expect(world.receivers.map(\.settings.isMuted) == [true, true, false, false])
    try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 10))))
    #expect(volume(0) == volume(1))
    #expect(throws: Refusal.self) {
      try world.ask(.set(rooms: [rooms[0]], RoomChange(channels: .mono)))
    }
  }

  @Test func `it is as loud as the lower limit of both lets it be`() throws {
    try pair()
    _ = try world.play(in: [rooms[0]])
    world.limit(1, to: VolumeLimit(300, isFixed: true))
    #expect(den?.volumeLimit == 30 && den?.isVolumeLimitFixed == true)
    #expect(try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 80))).room?.volume == 30)
    #expect([volume(0), volume(1)] == [300, 300])
  }

  @Test func `where one of its speakers is turned by somebody else, the other follows`() throws {
    try pair()
    _ = try world.play(in: [rooms[0]])
    world.limit(1, to: VolumeLimit(200))
    world.limit(1, to: .full)
    world.advance(by: .seconds(2))
    #expect([volume(0), volume(1)] == [200, 200])
  }

  // MARK: - One speaker alone

  @Test func `while one is away the other plays both channels, and both are alike again`() throws {
    try pair()
    let id = try world.play(in: [rooms[0]])
    world.power(0, isOn: false)
    world.advance(by: .seconds(2))
    #expect(channels(1) == .mono && hears(1))
    #expect(den?.state == .playing && den?.stereo?.missing == .left)
    #expect(den?.detail == "the left speaker is away: the right one plays both channels")
    #expect(state.groups.first { $0.id == id }?.state == .playing)
    try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 20)))
    world.power(0, isOn: true)
    world.advance(by: .seconds(2))
    #expect(channels(0) == .left && channels(1) == .right)
    #expect([volume(0), volume(1)] == [200, 200])
    #expect(den?.stereo?.missing == nil && den?.detail == nil)
  }

  @Test func `one that comes back is as loud as the group's slider has made the other`() throws {
    try pair()
    let id = try world.play(in: [rooms[0]])
    world.power(1, isOn: false)
    world.advance(by: .seconds(2))
    try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 70))))
    world.power(1, isOn: true)
    world.advance(by: .seconds(2))
    #expect([volume(0), volume(1)] == [700, 700])
  }

  @Test func `one that missed several changes is as loud as after the last`() throws {
    try pair()
    let id = try world.play(in: [rooms[0]])
    world.power(1, isOn: false)
    world.advance(by: .seconds(2))
    try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 20)))
    world.advance(by: .seconds(20))
    try world.restart()
    world.advance(by: .seconds(2))
    try world.ask(.change(group: id, .init(rooms: RoomChange(volume: 70))))
    world.power(1, isOn: true)
    world.advance(by: .seconds(2))
    #expect([volume(0), volume(1)] == [700, 700])
  }

  @Test func `with both away it is away, and can be named all the same`() throws {
    try pair()
    world.power(0, isOn: false)
    world.power(1, isOn: false)
    world.advance(by: .seconds(2))
    #expect(den?.state == .away && den?.stereo?.missing == nil)
    #expect(throws: Refusal.self) {
      try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 20)))
    }
    try world.ask(.createGroup(rooms: [rooms[0]], name: nil))
  }

  // MARK: - Groups, scenes, alarms, announcements

  @Test func `it joins, leaves and moves as one`() throws {
    try pair()
    let id = try world.play(in: [rooms[2]])
    let joined = try world.ask(.join(group: id, room: rooms[1], takes: false))
    #expect(joined.said == "Den joins Attic + Den")
    world.advance(by: .seconds(1))
    #expect(hears(0) && hears(1) && hears(2))
    #expect(try world.ask(.leave(group: id, rooms: [rooms[0]])).said == "Den leaves")
    #expect(world.receivers[0].holder == .nobody && world.receivers[1].holder == .nobody)
    var change = Order.GroupChange()
    change.roomIds = [rooms[0], rooms[3]]
    #expect(try world.ask(.change(group: id, change)).said == "in Den, Hall")
    world.advance(by: .seconds(1))
    #expect(hears(0) && hears(1) && hears(3) && !hears(2))
    #expect(state.groups.first { $0.id == id }?.roomIds == [rooms[0], rooms[3]])
    world.strangerTakes(1)
    world.advance(by: .seconds(1))
    #expect(den?.stereo?.missing == .right && channels(0) == .mono)
    #expect(world.problems.isEmpty)
  }

  @Test func `rooms that play become a pair in the left one's group`() throws {
    let first = try world.play(in: [rooms[0]])
    let second = try world.play(in: [rooms[1], rooms[2]])
    try pair()
    world.advance(by: .seconds(1))
    #expect(world.session.plan.group(first)?.rooms == [rooms[0], rooms[1]])
    #expect(world.session.plan.group(second)?.rooms == [rooms[2]])
    #expect(channels(0) == .left && channels(1) == .right)
  }

  @Test func `a scene of one of its rooms is one of the pair`() throws {
    let id = try world.play(in: [rooms[0], rooms[2]])
    let old = try #require(
      try world.ask(.scene(.save(group: id, name: "Old"))).scene?.id)
    try pair()
    try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 30)))
    let saved = try world.ask(.scene(.save(group: id, name: "New")))
    #expect(saved.said == "New: Den 30, Attic 50")
    #expect(
      saved.scene?.rooms
        == [.init(id: rooms[0], volume: 30), .init(id: rooms[2], volume: 50)])
    try world.ask(.leave(group: id, rooms: [rooms[0]]))
    let recalled = try world.ask(.scene(.recall(old, group: id)))
    #expect(recalled.said == "Old: Den 50, Attic 50")
    world.advance(by: .seconds(2))
    #expect(hears(0) && hears(1) && [volume(0), volume(1)] == [500, 500])
  }

  @Test func `an alarm of one of its rooms rings in both`() throws {
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (30, [rooms[0]], Weekday.allCases)
    let alarm = try #require(try world.ask(.addAlarm(change)).alarm?.id)
    try pair()
    world.advance(by: WallTime(seconds: 1_805) - world.wall)
    #expect(world.sounds(in: 0) == "tone" && world.sounds(in: 1) == "tone")
    #expect(channels(0) == .left && channels(1) == .right)
    let shown = try #require(state.alarms.first { $0.id == alarm })
    #expect(shown.roomIds == [rooms[0]])
    // Surfaces name its rooms as they see them: that is no change while it rings.
    change = AlarmChange()
    (change.roomIds, change.name) = ([rooms[0]], "School")
    #expect(try world.ask(.changeAlarm(alarm, change)).alarm?.name == "School")
  }

  @Test func `an announcement is heard from both, and says its name once`() throws {
    try pair()
    _ = try world.play(in: [rooms[0]])
    let wish = AnnouncementWish(
      rooms: [rooms[0]],
      Clip(
        format: StreamFormat(
          codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16),
        bytes: []), length: .seconds(1))
    let id = world.request(.announce(wish))
    world.advance(by: .seconds(2))
    #expect(try #require(world.take(id)).get().said == "Den: announced")
    #expect(Set(world.heard.map(\.room)) == ["Kitchen", "Bath"])
  }

  @Test func `groups that are parted take a pair with them that was made since`() throws {
    let id = try world.play(in: [rooms[0]])
    let other = try world.play(in: [rooms[1]])
    try world.ask(.merge(group: id, other: other))
    try pair()
    try world.ask(.edit(group: id, .undo, expected: nil))
    #expect(world.session.plan.groups.map(\.rooms) == [[], [rooms[0], rooms[1]]])
    #expect(state.groups.map(\.id) == [other])
  }

  // MARK: - Swapped and separated

  @Test func `swapped, each plays the other channel, and the pair stays the same room`() throws {
    try pair()
    _ = try world.play(in: [rooms[0]])
    let answer = try world.ask(.stereo(.swap(rooms[0])))
    #expect(answer.said == "Den: left Bath, right Kitchen" && answer.room?.id == rooms[0])
    #expect(channels(0) == .right && channels(1) == .left)
    #expect(try world.ask(.stereo(.show)).said == "Den: left Bath, right Kitchen")
  }

  @Test func `separated, each has its name and its channels of before`() throws {
    world.set(channels: .mono, of: 1)
    let id = try world.play(in: [rooms[0], rooms[1]])
    try pair()
    #expect(channels(1) == .right)
    let answer = try world.ask(.stereo(.separate(rooms[0])))
    #expect(answer.said == "Kitchen and Bath are rooms of their own again")
    #expect(channels(0) == .stereo && channels(1) == .mono)
    #expect(state.rooms.map(\.name) == ["Attic", "Bath", "Hall", "Kitchen"])
    #expect(state.groups.first { $0.id == id }?.roomIds == [rooms[0], rooms[1]])
    #expect(try world.ask(.stereo(.show)).said == "there are no stereo pairs")
    #expect(world.session.stereo.owed.isEmpty)
    #expect(throws: Refusal.noSuch("Kitchen is no stereo pair")) {
      try world.ask(.stereo(.separate(rooms[0])))
    }
  }

  @Test func `a room that is away when it is separated is told when it is back`() throws {
    try pair()
    let id = try world.play(in: [rooms[0]])
    try world.ask(.leave(group: id, rooms: [rooms[0]]))
    world.power(0, isOn: false)
    world.advance(by: .seconds(5))
    try world.ask(.stereo(.separate(rooms[0])))
    world.advance(by: .seconds(5))
    // Bath was told at once, by a visit.
    #expect(channels(0) == .left && channels(1) == .stereo)
    try world.restart()
    world.power(0, isOn: true)
    world.advance(by: .seconds(15))
    #expect(channels(0) == .stereo)
    #expect(world.session.stereo.owed.isEmpty && world.disk.record.stereo.owed.isEmpty)
  }

  // MARK: - Kept

  @Test func `no room is told anything before the pair is on the disk`() throws {
    _ = try world.play(in: [rooms[0], rooms[1]])
    try world.ask(.set(rooms: [rooms[1]], RoomChange(volume: 20)))
    world.disk.delay = .seconds(20)
    let order = Order.stereo(.make(left: rooms[0], right: rooms[1], name: "Den"))
    let id = world.request(.order(order))
    world.advance(by: .seconds(5))
    #expect(world.answer(id) == nil && channels(0) == .stereo && volume(0) == 500)
    // A process that is killed now knows no pair, and nobody would give the rooms back what they played.
    try world.restart()
    world.advance(by: .seconds(5))
    #expect(channels(0) == .stereo && channels(1) == .stereo)
    (world.disk.isBroken, world.disk.delay) = (true, .milliseconds(300))
    #expect(throws: Refusal.notKept("the disk is full")) { try world.ask(order) }
    world.advance(by: .seconds(5))
    #expect(channels(0) == .stereo && channels(1) == .stereo)
    (world.disk.isBroken, world.disk.delay) = (false, .milliseconds(2))
    #expect([volume(0), volume(1)] == [500, 200])
    try world.ask(order)
    #expect(channels(0) == .left && channels(1) == .right)
    #expect([volume(0), volume(1)] == [200, 200])
  }

  @Test func `a pair survives a restart, and a full disk makes none`() throws {
    try pair()
    _ = try world.play(in: [rooms[0]])
    try world.restart()
    world.advance(by: .seconds(2))
    #expect(den?.name == "Den" && channels(0) == .left && channels(1) == .right)
    world.disk.isBroken = true
    #expect(throws: Refusal.notKept("the disk is full")) {
      try world.ask(.stereo(.make(left: rooms[2], right: rooms[3], name: nil)))
    }
    #expect(throws: Refusal.notKept("the disk is full")) {
      try world.ask(.stereo(.separate(rooms[0])))
    }
    #expect(world.session.stereo.pairs.map(\.id) == [rooms[0]])
    world.advance(by: .seconds(2))
    #expect(channels(0) == .left && channels(2) == .stereo)
  }

  @Test func `what cannot be a pair is refused`() throws {
    func refusal(_ left: String, _ right: String, _ name: String? = nil) -> Refusal? {
      do throws(any Error) {
        try world.ask(.stereo(.make(left: left, right: right, name: name)))
        return nil
      } catch { return error as? Refusal }
    }
    #expect(refusal(rooms[0], rooms[0]) == .invalid("a stereo pair is made of two rooms"))
    #expect(refusal(rooms[0], "9") != nil)
    #expect(refusal(rooms[0], "host:1") != nil)
    #expect(refusal(rooms[0], rooms[1], "Hall") == .invalid("another room is called Hall"))
    #expect(refusal(rooms[0], rooms[1], " ") != nil)
    world.unpair(3)
    #expect(
      refusal(rooms[2], rooms[3]) == .unavailable("Hall is not paired yet; pair it first"))
    try pair()
    #expect(
      refusal(rooms[1], rooms[2])
        == .invalid("Den is a stereo pair already; separate it first"))
    #expect(state.rooms.count == 3)
  }

  @Test func `a pair with one room of another sender plays in the other one`() throws {
    try pair()
    world.strangerTakes(1)
    let wish = PlayRequest(
      entries: [], rooms: [rooms[0]], addresses: [], shuffles: false, repetition: nil,
      effects: .init(), takes: false)
    func play() throws -> Answer {
      let id = world.request(.play(wish, [.init(location: "/music/a.flac")], group: nil))
      world.advance(by: .seconds(2))
      return try #require(world.take(id)).get()
    }
    #expect(try play().said == "plays a.flac in Den")
    #expect(hears(0) && channels(0) == .mono && world.receivers[1].holder == .stranger)
  }

  @Test func `a pair that comes back at once is as loud as it was, and not as a stranger set one`()
    throws
  {
    try pair()
    let id = try world.play(in: [rooms[0]])
    try world.ask(.set(rooms: [rooms[0]], RoomChange(volume: 50)))
    world.advance(by: .seconds(1))
    #expect(volume(0) == 500 && volume(1) == 500)
    try world.ask(.leave(group: id, rooms: [rooms[0]]))
    world.strangerTakes(1)
    world.receivers[1].settings.volume = 950
    world.strangerLeaves(1)
    world.advance(by: .seconds(1))
    _ = try world.play(in: [rooms[0]])
    world.advance(by: .seconds(2))
    #expect(volume(0) == 500 && volume(1) == 500)
  }

  @Test func `nothing is called as a room that is in a pair`() throws {
    try pair()
    #expect(throws: Refusal.invalid("another room is called Bath")) {
      try world.ask(.setUp(.nameRoom(rooms[2], "Bath")))
    }
    #expect(throws: Refusal.invalid("another room is called Kitchen")) {
      try world.ask(.stereo(.make(left: rooms[2], right: rooms[3], name: "Kitchen")))
    }
  }

  @Test func `no more pairs are made than the limit, and few rooms are owed something`() throws {
    var book = StereoBook()
    for number in 0..<StereoPair.limit {
      _ = try book.make("l\(number)", "r\(number)", name: nil) { _ in nil }
    }
    #expect(throws: Refusal.self) { try book.make("l", "r", name: nil) { _ in nil } }
    for pair in book.pairs { book.separate(pair) }
    for number in 0..<10 {
      book.separate(try book.make("a\(number)", "b\(number)", name: nil) { _ in nil })
    }
    #expect(book.pairs.isEmpty && book.owed.count == StereoBook.owedLimit)
    #expect(book.sound == book)
  }

  // MARK: - Names

  @Test func `a terminal names it as people see it`() throws {
    try pair()
    let names = HouseNames(world.session, meant: nil, receivers: { _ in [] })
    #expect(
      try Order.stereo(.swap("den")).resolved(by: names) == .stereo(.swap(rooms[1]))
        || Order.stereo(.swap("den")).resolved(by: names) == .stereo(.swap(rooms[0])))
    #expect(try names.newRoom("den") == rooms[0])
    #expect(
      throws: Refusal.unavailable("there is no room called Bath here, but: Attic, Den, Hall")
    ) { try names.room("Bath", in: nil) }
  }
}
