import Audio
import Clock
import Sender
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House

/// Announcements in virtual time: who hears them and when, and that all is afterwards as it was.
@Suite struct AnnouncementTests {
  private let world: SimulatedWorld
  private let rooms: [String]

  init() throws {
    world = try SimulatedWorld(rooms: 4, holding: .zero)
    rooms = world.receivers.map(\.id)
  }

  private func wish(_ rooms: [String], length: Nanoseconds = .seconds(2)) -> AnnouncementWish {
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    return AnnouncementWish(rooms: rooms, Clip(format: format, bytes: []), length: length)
  }

  private func announce(
    _ rooms: [String], length: Nanoseconds = .seconds(2)
  ) -> RequestID {
    let id = world.request(.announce(wish(rooms, length: length)))
    world.settle()
    world.advance(by: .milliseconds(50))
    return id
  }

  private func said(_ id: RequestID) throws -> String? { try #require(world.take(id)).get().said }

  private func play(in room: String) throws -> String {
    let create = world.request(.order(.createGroup(rooms: [room], name: nil)))
    world.advance(by: .seconds(1))
    let group = try #require(world.take(create)).get().group
    let id = try #require(group?.id)
    let add = world.request(
      .order(.edit(group: id, .add([.init(location: "/music/a.flac")], at: .end), expected: nil)))
    world.advance(by: .seconds(1))
    _ = world.take(add)
    return id
  }

  @Test func `rooms of groups and of none hear it at one time, and are afterwards as they were`()
    throws
  {
    let (playing, paused) = (try play(in: rooms[0]), try play(in: rooms[1]))
    _ = world.request(.order(.transport(group: paused, .pause)))
    world.advance(by: .seconds(1))
    let id = announce([])
    #expect(try said(id) == "Attic, Bath, Hall, Kitchen: announced")
    #expect(Set(world.heard.map(\.room)) == ["Kitchen", "Bath", "Attic", "Hall"])
    #expect(Set(world.heard.map(\.begins)).count == 1)
    guard case .ours = world.receivers[2].holder else {
      throw Refusal.invalid("\(world.receivers[2].holder)")
    }
    // Such a room is free for everybody who looks.
    #expect(world.session.state(ofRoom: rooms[2]) == .free)
    world.advance(by: .seconds(10))
    #expect(world.receivers[2].holder == .nobody)
    #expect(world.session.groups[playing]?.player.status.state == .playing)
    #expect(world.session.groups[paused]?.player.status.state == .paused)
    #expect(world.session.announcements.isEmpty)
    #expect(world.problems.isEmpty)
  }

  @Test func `all wait for the rooms that must know of it first`() throws {
    _ = try play(in: rooms[0])
    let slow = try play(in: rooms[1])
    world.players.first { $0.group == slow }?.slowness = .seconds(2)
    let before = world.now
    _ = announce([rooms[0], rooms[1]])
    #expect(world.heard.count == 2)
    #expect(world.heard.allSatisfy { $0.begins >= before + .seconds(2) })
  }

  @Test func `one room of a group hears it alone`() throws {
    _ = try play(in: rooms[0])
    #expect(try said(announce([rooms[0]])) == "Kitchen: announced")
    #expect(world.heard.map(\.room) == ["Kitchen"])
  }

  @Test func `rooms that cannot are named, and hold nobody up`() throws {
    world.makeOlder(0)
    world.strangerTakes(1)
    world.power(2, isOn: false)
    world.advance(by: .seconds(1))
    let before = world.now
    let id = announce(rooms)
    #expect(
      try said(id) == """
        Hall: announced
        Kitchen cannot play announcements: update it
        Bath is playing something of another sender
        Attic is switched off or out of reach
        """)
    #expect(world.heard.map(\.room) == ["Hall"])
    #expect(try #require(world.heard.first).begins - before < .milliseconds(200))
  }

  @Test func `where no room can, it is refused`() throws {
    world.makeOlder(0)
    let id = announce([rooms[0]])
    #expect(
      try #require(world.take(id))
        == .failure(.unavailable("Kitchen cannot play announcements: update it")))
    world.advance(by: .seconds(5))
    #expect(world.receivers[0].holder == .nobody)
    #expect(
      try #require(world.take(announce(["9"])))
        == .failure(
          .noSuch("there is no such room; it may have been renewed: look at the list of rooms")))
  }

  @Test func `several wait their turn in the same room, and not for other rooms`() throws {
    let first = announce([rooms[0]], length: .seconds(5))
    let second = announce([rooms[0], rooms[1]])
    let third = announce([rooms[2]])
    #expect(try said(first) == "Kitchen: announced")
    #expect(try said(second) == "waits until the announcement before it has ended")
    #expect(try said(third) == "Attic: announced")
    #expect(world.heard.map(\.room) == ["Kitchen", "Attic"])
    world.advance(by: .seconds(10))
    #expect(Set(world.heard[2...].map(\.room)) == ["Kitchen", "Bath"])
    #expect(world.heard[3].begins - world.heard[0].begins > .seconds(5))
    #expect(world.heard[3].begins - world.heard[0].begins < .milliseconds(6_500))
  }

  @Test func `one that has waited and is heard by nobody is told of in one line`() throws {
    _ = announce([rooms[0]], length: .seconds(5))
    #expect(
      try said(announce([rooms[0]])) == "waits until the announcement before it has ended")
    world.power(0, isOn: false)
    world.advance(by: .seconds(20))
    #expect(
      world.warnings
        == ["an announcement was missed: Kitchen is switched off or out of reach"])
  }

  @Test func `no more wait than the limit`() throws {
    for _ in 0..<HouseSession.announcementLimit { _ = announce([rooms[0]], length: .seconds(60)) }
    guard case .failure(.notYet)? = world.take(announce([rooms[0]])) else {
      throw Refusal.invalid("a further one was taken")
    }
    world.advance(by: .seconds(700))
    #expect(world.heard.count == HouseSession.announcementLimit)
    #expect(try said(announce([rooms[0]])) == "Kitchen: announced")
  }

  @Test func `a household that ends answers who waits`() throws {
    world.power(0, isOn: false)
    let id = world.request(.announce(wish(["127.0.0.1:1"])))
    world.settle()
    #expect(world.answer(id) == nil)
    world.session.handle(.stop, at: world.now)
    world.settle()
    guard case .failure(.unavailable)? = world.take(id) else {
      throw Refusal.invalid("nobody answered")
    }
  }
}
