import Clock
import Foundation
import Sender
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House
@testable import Service

/// Checks that orders mean the same from the page and programs over HTTP as from a terminal.
@Suite struct HouseOrderTests {
  enum Door: CaseIterable {
    case page, terminal
  }

  private let folder: TemporaryFolder
  private let home: Home

  init() throws {
    folder = try TemporaryFolder()
    home = try Home(in: folder)
  }

  private func group(playing numbers: Int...) throws -> String {
    let id = try home.newGroup(rooms: ["127.0.0.1:9"]).id
    for number in numbers { _ = try home.edit(id, .add([entry(number)], at: .end)) }
    return id
  }

  /// Makes an entry with a file that can be opened, so that a group waits with it for its room.
  private func entry(_ number: Int) throws -> Order.NewEntry {
    let path = folder.file("\(number).wav")
    try Home.silence.write(to: URL(filePath: path))
    var entry = Order.NewEntry(location: path)
    entry.title = "Title \(number)"
    return entry
  }

  @Test(arguments: Door.allCases)
  func `a crossfade is set through each door, shown, and kept over a restart`(door: Door) throws {
    let id = try group(playing: 1)
    func set(_ seconds: Double) throws {
      let change = Order.GroupChange(effects: EffectsChange(crossfade: seconds))
      switch door {
      case .page: try home.ask(.change(group: id, change))
      case .terminal:
        #expect(try home.command(.change(change)).done == "Party: crossfade 6.5 s")
      }
    }
    try set(6.5)
    #expect(home.house.publish().groups[0].effects.crossfadeS == 6.5)
    #expect(throws: Refusal.self) { try set(12.5) }
    let kept = try HouseStore(path: folder.file("house.db")).record.groups[0]
    #expect(kept.effects.crossfade == 6.5)
    let next = try Home(in: folder)
    #expect(next.house.publish().groups[0].effects.crossfadeS == 6.5)
  }

  private func pause(_ id: String, through door: Door) throws {
    switch door {
    case .page: try home.ask(.transport(group: id, .pause))
    case .terminal: #expect(try home.command(.transport(.pause)).done == "Party: is paused already")
    }
  }

  private func clear(_ id: String, through door: Door) throws {
    switch door {
    case .page: _ = try home.edit(id, .clear)
    case .terminal: _ = try home.command(.edit(.clear))
    }
  }

  @Test(arguments: Door.allCases)
  func `a pause while no room is there lasts when a room returns`(door: Door) throws {
    let id = try group(playing: 1)
    let group = try #require(home.house.session.groups[id])
    var playing = group.player.status
    playing.state = .playing
    let start = LocalTime(nanoseconds: 0)
    group.look(at: start, playing)
    group.look(at: start + .seconds(10), playing)
    #expect(group.player.status.state == .paused)

    try pause(id, through: door)
    var back = group.player.status
    back.rooms[0].connection = .connected(.made())
    group.look(at: start + .seconds(20), back)
    #expect(group.player.status.state == .paused)
  }

  @Test(arguments: Door.allCases)
  func `an add at a number ends what a clear can be undone by`(door: Door) throws {
    let id = try group(playing: 1, 2, 3)
    try clear(id, through: door)
    #expect(home.house.publish().groups[0].queue.canUndo == "cleared 3 items")
    _ = try home.command(.edit(.add([entry(4)], at: .number(1))))
    #expect(home.house.publish().groups[0].queue.canUndo == nil)
    #expect(throws: Refusal.unavailable("there is nothing to undo")) {
      try home.edit(id, .undo)
    }
    #expect(try home.ids(id) == [3])
  }

  @Test(arguments: [Order.Place.end, .next, .number(1)])
  func `an add to an empty queue that is stopped begins, at whatever place`(place: Order.Place)
    throws
  {
    let id = try group()
    #expect(home.house.publish().groups[0].state == .stopped)
    _ = try home.command(.edit(.add([entry(4)], at: place)))
    #expect(home.house.publish().groups[0].state == .starting)
    #expect(try home.ids(id) == [0])
  }

  @Test func `a group that was stopped shows what it would play`() throws {
    let id = try group(playing: 1, 2)
    _ = try home.edit(id, .play(1))
    #expect(try home.command(.transport(.stop)).done == "Party: stopped")
    let status = try #require(try home.command(.status).status)
    #expect(status.state == .stopped && status.positionS == 0)
    #expect(status.item == folder.file("2.wav") && status.title == "Title 2")
    #expect(status.itemNumber == 2 && status.itemCount == 2)
  }

  @Test func `a terminal undoes, sets the sleep timer and merges groups`() throws {
    let id = try group(playing: 1, 2)
    _ = try home.command(.edit(.remove([1, 2])))
    #expect(try home.ids(id) == [])
    #expect(try home.command(.edit(.undo)).done == "Party: undone: removed 2 items")
    #expect(try home.ids(id) == [0, 1])

    #expect(
      try home.command(.change(.init(sleepInS: 1800))).done == "Party: music pauses in 30:00")
    #expect(home.house.publish().groups[0].sleepAtMs != nil)
    #expect(try home.command(.change(.init(sleepInS: 0))).done == "Party: the sleep timer is off")
    #expect(home.house.publish().groups[0].sleepAtMs == nil)
    #expect(throws: Refusal.self) { try home.command(.change(.init(sleepInS: 93_601))) }

    _ = try home.newGroup("Bath", rooms: ["127.0.0.1:10"])
    let merged = try home.command(
      .order(.merge(group: Order.meantGroup, other: "Bath")), group: "party")
    #expect(merged.done == "Bath joins Party")
    #expect(home.house.publish().groups.map(\.roomIds) == [["127.0.0.1:9", "127.0.0.1:10"], []])
    #expect(throws: Refusal.self) { try home.command(.order(.identify(room: "127.0.0.1:9"))) }
  }

  @Test(arguments: Door.allCases)
  func `all groups stop, or sleep, through each door`(door: Door) throws {
    _ = try group(playing: 1)
    _ = try home.newGroup("Bath", rooms: ["127.0.0.1:10"])
    func stop(in seconds: Double?) throws -> String? {
      let order = Order.stopEverywhere(sleepInS: seconds)
      return switch door {
      case .page: try home.ask(order).said
      case .terminal: try home.command(.order(order)).done
      }
    }
    #expect(try stop(in: 1800) == "1 group pauses in 30:00")
    #expect(home.house.publish().groups.map { $0.sleepAtMs != nil } == [true, false])
    #expect(try stop(in: 0) == "1 sleep timer is off")
    #expect(try stop(in: nil) == "1 group stops")
    #expect(home.house.publish().groups[0].state == .stopped)
    #expect(try stop(in: nil) == "nothing plays")
  }

  @Test func `what replaces an empty list is not thrown away by an undo`() throws {
    let id = try group(playing: 1)
    _ = try home.edit(id, .clear)
    _ = try home.edit(id, .add([entry(2)], at: .now))
    #expect(home.house.publish().groups[0].queue.canUndo == nil)
    #expect(try home.ids(id) == [1])
  }

  @Test func `a move of a terminal can be undone, and a removal before it no more`() throws {
    let id = try group(playing: 1, 2, 3)
    _ = try home.command(.edit(.remove([2])))
    #expect(home.house.publish().groups[0].queue.canUndo == "removed 1 item")
    #expect(try home.command(.edit(.move(1, to: .number(2)))).done == "Party: Title 1 is number 2")
    #expect(home.house.publish().groups[0].queue.canUndo == "moved 1 item")
    #expect(try home.ids(id) == [2, 0])
    _ = try home.command(.edit(.undo))
    #expect(try home.ids(id) == [0, 2])
    #expect(throws: Refusal.unavailable("there is nothing to undo")) {
      try home.edit(id, .undo)
    }
  }

  @Test func `a song that is played at once keeps what was queued behind the one before`() throws {
    let id = try group(playing: 1, 2, 3)
    _ = try home.command(.edit(.play(2)))
    _ = try home.edit(id, .add([entry(4), entry(5)], at: .nowAndKeep))
    #expect(try home.ids(id) == [0, 1, 3, 4, 2])
    #expect(home.house.publish().groups[0].item?.entryId == 3)
    #expect(home.house.publish().groups[0].queue.canUndo == "added 2 items")
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == [0, 1, 2])
    #expect(home.house.publish().groups[0].item?.entryId == 1)
  }

  @Test func `a shuffled list gets its order back, with what was added meanwhile`() throws {
    let id = try group(playing: 1, 2, 3, 4, 5, 6, 7, 8)
    func isShuffled() -> Bool { home.house.publish().groups[0].queue.isShuffled }
    #expect(throws: Refusal.unavailable("the list is not shuffled")) {
      try home.edit(id, .unshuffle)
    }
    _ = try home.edit(id, .shuffle)
    _ = try home.edit(id, .shuffle)
    #expect(isShuffled())
    let behind = try home.ids(id)[3]
    _ = try home.edit(id, .add([entry(9)], at: .number(5)))
    _ = try home.edit(id, .add([entry(10)], at: .end))
    _ = try home.edit(id, .remove([0]))
    _ = try home.command(.edit(.unshuffle))
    #expect(!isShuffled())
    var wanted = Array(1...7)
    wanted.insert(8, at: behind)
    #expect(try home.ids(id) == wanted + [9])
    _ = try home.edit(id, .undo)
    #expect(isShuffled())
  }

  @Test func `what was added to a shuffled list keeps its place though its neighbour goes`() throws
  {
    let id = try group(playing: 1, 2, 3, 4, 5, 6, 7, 8)
    _ = try home.edit(id, .shuffle)
    let behind = try home.ids(id)[3]
    _ = try home.edit(id, .add([entry(9)], at: .number(5)))
    _ = try home.edit(id, .remove([behind]))
    _ = try home.edit(id, .move(8, to: .end))
    _ = try home.edit(id, .shuffle)
    _ = try home.edit(id, .unshuffle)
    var wanted = Array(0...7)
    wanted[behind] = 8
    #expect(try home.ids(id) == wanted)
  }

  @Test func `a list that has become empty is not shuffled any more`() throws {
    let id = try group(playing: 1, 2)
    _ = try home.edit(id, .shuffle)
    _ = try home.edit(id, .remove([0, 1]))
    #expect(!home.house.publish().groups[0].queue.isShuffled)
    _ = try home.edit(id, .add([entry(3)], at: .end))
    #expect(!home.house.publish().groups[0].queue.isShuffled)
  }
}
