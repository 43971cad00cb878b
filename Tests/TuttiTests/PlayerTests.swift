import Foundation
import TestSupport
import Testing
import Tutti

@Suite struct PlayerTests {
  @Test(.timeLimit(.minutes(2)))
  func `items sound one after the other, and what cannot be played is passed over`() async throws {
    let house = try TestRooms()
    let player = try await Player(rooms: house.rooms)
    let events = player.events
    let ids = try await player.append([
      .ramp("one", seconds: 0.5), .file("/does/not/exist.flac"), .ramp("two", seconds: 0.5),
    ])
    try await player.play()
    var told: [String] = []
    for await event in events {
      switch event {
      case .itemStarted(let current):
        told.append("start \(current.title ?? "")")
      case .itemEnded(let id): told.append("end \(ids.firstIndex(of: id) ?? -1)")
      case .itemFailed(let id, let reason):
        #expect(reason.contains("/does/not/exist.flac"))
        told.append("failed \(ids.firstIndex(of: id) ?? -1)")
      case .stopped: told.append("stopped")
      default: break
      }
      if told.last == "stopped" { break }
    }
    #expect(
      told.filter { $0 != "failed 1" } == ["start one", "end 0", "start two", "end 2", "stopped"])
    #expect(told.contains("failed 1"))
    await player.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `a list that is edited while it plays goes on without a seam`() async throws {
    let house = try TestRooms()
    let player = try await Player(rooms: house.rooms)
    let events = player.events
    let places = player.boundaries(at: [.seconds(0.2)])
    let ids = try await player.append([.ramp("a", seconds: 60), .ramp("b", seconds: 60)])
    try await player.play()
    _ = try await places.first { _ in true }
    let new = try await player.replace(ids[1], with: [.ramp("c", seconds: 0.3)])
    try await player.insert([.ramp("d", seconds: 0.3)], at: .end)
    try await player.insert([.ramp("e", seconds: 30)], at: .index(0))
    try await player.remove([ids[1]])
    #expect(try await player.items().map(\.name) == ["e", "a", "c", "d"])
    try await player.seek(to: .seconds(59.5))
    var started: [String?] = []
    for await event in events {
      if case .itemStarted(let current) = event { started.append(current.title) }
      if case .stopped = event { break }
    }
    #expect(started == ["a", "c", "d"])
    #expect(new.count == 1)
    await player.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `pause, seek, jump and rate act, and are told`() async throws {
    let house = try TestRooms()
    let player = try await Player(rooms: house.rooms)
    let events = player.events
    let ids = try await player.append([.ramp("a", seconds: 100), .ramp("b", seconds: 100)])
    try await player.play()
    _ = try await player.positions(every: .milliseconds(50)).first { $0 > .seconds(0.1) }
    // The places are far enough apart that the new rate is heard between them on a busy machine.
    let places = player.boundaries(at: [.seconds(50.1), .seconds(62)])
    try await player.seek(to: .seconds(50))
    #expect(try await places.first { _ in true } == .seconds(50.1))
    try await player.setRate(2)
    #expect(try await places.first { _ in true } == .seconds(62))
    #expect(try await player.rooms.status().rate == 2)
    let soon = try await player.position() + .seconds(1)
    let later = try #require(try await player.presentationTime(of: soon))
    let latest = try #require(try await player.presentationTime(of: soon + .seconds(1)))
    #expect(abs((latest - later) / .milliseconds(500) - 1) < 1e-6)
    try await player.pause()
    _ = try await events.first { $0 == .paused }
    #expect(try await player.rooms.status().state == .paused)
    try await player.jump(to: ids[1], at: .seconds(7))
    try await player.play()
    _ = try await player.positions(every: .milliseconds(10)).first {
      $0 >= .seconds(7) && $0 < .seconds(50)
    }
    #expect(try await player.outputLatency() > .zero)
    await #expect(throws: TuttiError.self) { try await player.setRate(9) }
    await player.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `an item fades into the next, which begins as much earlier`() async throws {
    let house = try TestRooms()
    let player = try await Player(rooms: house.rooms)
    await #expect(throws: TuttiError.self) { try await player.setCrossfade(.seconds(12.5)) }
    try await player.setCrossfade(.seconds(2))
    let ids = try await player.append([.ramp("a", seconds: 6), .ramp("b", seconds: 60)])
    let positions = player.positions(every: .milliseconds(10))
    try await player.play()
    var last = PlaybackTime.zero
    for await position in positions {
      if position < last { break }
      last = position
    }
    #expect(last > .seconds(3) && last < .seconds(4.1))
    #expect(try await player.currentItem()?.item.id == ids[1])
    await player.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `a room can be added and let go while the others play on`() async throws {
    let house = try TestRooms(2)
    let player = try await Player(rooms: [house.rooms[0]])
    let events = player.events
    try await player.append([.ramp("a", seconds: 100)])
    try await player.play()
    _ = try await events.first { $0 == .started }
    let guest = house.rooms[1]
    try await player.rooms.add(guest)
    _ = try await events.first { event in
      if case .room(let room) = event, case .changed(.playing, _) = room.change {
        room.id == guest.id && room.name == "Room2"
      } else {
        false
      }
    }
    try await player.rooms.setVolume(0.25, of: guest.id)
    try await player.rooms.setChannels(.left, of: guest.id)
    try await player.rooms.setDelay(.milliseconds(-5), of: guest.id)
    let settings = try await player.rooms.status().rooms.map(\.settings)
    #expect(settings.map(\.?.volume) != [0.25, 0.25])
    #expect(settings.last??.volume == 0.25)
    #expect(settings.last??.channels == .left)
    #expect(settings.last??.delay == .milliseconds(-5))
    try await player.rooms.remove(guest.id)
    try house.receivers[1].program.line(with: "sender gone: finished")
    #expect(try await player.rooms.status().rooms.count == 1)
    _ = try await player.positions().first { $0 > .seconds(0.5) }
    await #expect(throws: TuttiError.noSuchRoom) { try await player.rooms.remove(guest.id) }
    await #expect(throws: TuttiError.self) { try await player.rooms.setVolume(1.5) }
    await player.close()
  }

  @Test(.timeLimit(.minutes(2)))
  func `a player that is closed or dropped lets its rooms go`() async throws {
    let house = try TestRooms()
    var player: Player? = try await Player(rooms: house.rooms)
    try await player?.append([.ramp("a", seconds: 100)])
    let events = try #require(player?.events)
    try await player?.play()
    _ = try await events.first { $0 == .started }
    await player?.close()
    for await _ in try #require(player?.events) { Issue.record("it still tells") }
    await #expect(throws: TuttiError.closed) { try await player?.pause() }
    weak let dropped = player
    player = nil
    #expect(dropped == nil)
    try house.receivers[0].program.line(with: "sender gone: finished")

    player = try await Player(rooms: house.rooms)
    let others = try #require(player?.events)
    let hasGone = try #require(player).positions()
    player = nil
    // Both sequences end with the thread.
    for await _ in others {}
    for await _ in hasGone {}
  }

  @Test(.timeLimit(.minutes(3)))
  func `a source that fails is skipped, with its own words`() async throws {
    struct Torn: Error, CustomStringConvertible { let description = "the string is torn" }
    let house = try TestRooms()
    let player = try await Player(rooms: house.rooms)
    let events = player.events
    try await player.append([.custom("harp") { throw Torn() }, .ramp("a", seconds: 0.2)])
    try await player.play()
    let failed = try await events.first { event in
      if case .itemFailed(_, let reason) = event { reason.contains("torn") } else { false }
    }
    if case .itemFailed(_, let reason) = failed { #expect(reason.contains("harp")) }
    _ = try await events.first { $0 == .stopped }
    await player.close()
  }
}
