import Audio
import Clock
import Driver
import FFmpegSource
import Foundation
import LinuxIO
import OpenSSLSecurity
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House
@testable import Sender
@testable import Service

/// Tests of a player's answers to requests, without a terminal, a room or a network.
@Suite struct PlayerServiceTests {
  private static func player(_ items: [PlaylistEntry]) throws -> PlayerService {
    return try PlayerService(
      host: GroupHost(
        reactor: Reactor(), security: TLSContext(IdentityKey.generate())),
      settings: .init(
        senderName: "study", endsWithPlaylist: false,
        rooms: RoomWish(names: []), directory: FileManager.default.temporaryDirectory.path),
      playlist: Playlist(items),
      sources: PlaybackSources(EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20)))
  }

  @Test func `requests about the list are answered with the list, others without`() throws {
    let player = try Self.player(["/music/a.flac", "/music/b.flac"])
    let added = try player.answer(.edit(.add([.init(location: "/music/c.flac")], at: .number(1))))
    #expect(added.done == "1 item added")
    #expect(added.queue?.map(\.item) == ["/music/c.flac", "/music/a.flac", "/music/b.flac"])
    #expect(added.queue?.map(\.id) == [2, 0, 1])
    #expect(added.status?.itemCount == 3)
    #expect(try player.answer(.edit(.move(1, to: .number(3)))).done == "c.flac is number 3")
    #expect(try player.answer(.status).queue == nil)
    try player.end()
  }

  @Test func `items that are not open yet are called what their list calls them`() throws {
    let player = try Self.player(["/music/a.flac"])
    let entry = PlaylistEntry("/music/b.flac", title: "Sinnerman")
    let call = ControlCall(id: 1, .edit(.add([.init(entry)], at: .end)))
    let received = try JSONDecoder().decode(
      ControlCall.self, from: try JSONEncoder().encode(call))
    #expect(try player.answer(received.request).queue?.map(\.title) == [nil, "Sinnerman"])
    #expect(try player.answer(.edit(.play(1))).status?.nextTitle == "Sinnerman")
    #expect(try player.answer(.edit(.move(2, to: .number(1)))).done == "Sinnerman is number 1")
    try player.end()
  }

  @Test func `titles that were read once are those of the list and of all answers`() throws {
    let player = try Self.player(["/music/a.flac", "/music/b.flac", "/music/c.flac"])
    for (item, title) in zip(player.items, ["One", "Two", "Three"]) {
      player.player.note(
        .itemStarted(
          OpenedItem(
            item: item, duration: nil, position: .zero, isSeekable: true,
            metadata: ItemMetadata(title: title))))
    }
    #expect(try player.answer(.queue).queue?.map(\.title) == ["One", "Two", "Three"])
    #expect(try player.answer(.edit(.play(2))).done == "2: Two")
    #expect(try player.answer(.transport(.next)).done == "3: Three")
    #expect(try player.answer(.edit(.move(1, to: .number(2)))).done == "One is number 2")
    try player.end()
  }

  @Test func `a terminal undoes edits, and lets the music sleep`() throws {
    let player = try Self.player(["/music/a.flac", "/music/b.flac"])
    #expect(try player.answer(.edit(.remove([1]))).done == "1 item removed")
    #expect(try player.answer(.edit(.undo)).done == "undone: removed 1 item")
    #expect(player.items.map(\.id) == [0, 1])
    #expect(throws: Refusal.self) { try player.answer(.edit(.clearOthers)) }
    _ = try player.answer(.edit(.play(1)))
    #expect(try player.answer(.edit(.clearOthers)).done == "1 item removed")
    #expect(player.items.map(\.id) == [0])
    #expect(try player.answer(.change(.init(sleepInS: 60))).done == "music pauses in 1:00")
    #expect(player.nextDeadline != nil)
    try player.end()
  }

  @Test func `to stop everywhere ends a player in a terminal, or lets it sleep`() throws {
    let player = try Self.player(["/music/a.flac"])
    func stop(in seconds: Double?) throws -> String? {
      try player.answer(.order(.stopEverywhere(sleepInS: seconds))).done
    }
    #expect(try stop(in: 60) == "music pauses in 1:00")
    #expect(try stop(in: 0) == "the sleep timer is off")
    #expect(throws: Refusal.self) { try stop(in: 93_601) }
    #expect(try stop(in: nil) == "stopped")
    try player.end()
  }

  @Test func `a terminal refuses what only a household can do`() throws {
    let player = try Self.player(["/music/a.flac"])
    var named = Order.GroupChange()
    named.name = "Evening"
    for order in [
      Order.createGroup(rooms: [], name: nil), .change(group: "", named), .deleteGroup(""),
    ] { #expect(throws: Refusal.self) { try player.answer(.order(order)) } }
    try player.end()
  }

  @Test(arguments: [
    ControlRequest.edit(.play(4)), .edit(.remove([0])), .edit(.move(1, to: .number(9))),
    .edit(.add([.init(location: "/a")], at: .number(9))), .change(.init(effects: .init(rate: 9))),
    .change(.init(rooms: .init(delayMs: 9_000))), .order(.leave(group: "", rooms: [])),
  ]) func `what is out of range is refused with a sentence`(request: ControlRequest) throws {
    let player = try Self.player(["/music/a.flac", "/music/b.flac"])
    let error = #expect(throws: Refusal.self) { try player.answer(request) }
    guard case .invalid(let line) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!line.isEmpty)
    #expect(player.items.map(\.id) == [0, 1])
    try player.end()
  }

  @Test func `calls and replies survive the way over a socket`() throws {
    let player = try Self.player(["/music/a.flac"])
    let call = ControlCall(
      id: 9, .order(.set(rooms: ["Kitchen"], .init(muted: true, channels: .left))))
    let sent = try JSONEncoder().encode(call)
    #expect(try JSONDecoder().decode(ControlCall.self, from: sent) == call)
    let replies = [
      ControlReply(id: 9, .done(answer: try player.answer(.queue))),
      ControlReply(id: 9, .refused(error: .unavailable("no such room"))),
    ]
    for reply in replies {
      let sent = try JSONEncoder().encode(reply)
      #expect(try JSONDecoder().decode(ControlReply.self, from: sent) == reply)
    }
    try player.end()
  }
}
