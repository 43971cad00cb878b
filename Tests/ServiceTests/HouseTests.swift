import Clock
import Driver
import Foundation
import LinuxIO
import OpenSSLSecurity
import Pairing
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House
@testable import Sender
@testable import Service

/// A household in its loop, with its file, and without rooms.
@Suite struct HouseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `groups and queues are as they were after the process has gone without a word`() throws
  {
    let home = try Home(in: folder)
    let group = try home.newGroup()
    _ = try home.edit(group.id, .add(Home.entries(1, 2, 3), at: .end))
    _ = try home.edit(group.id, .move(2, to: .before(0)))
    _ = try home.edit(group.id, .remove([1]))
    var change = Order.GroupChange()
    change.repeat = .all
    try home.ask(.change(group: group.id, change))
    try home.ask(.transport(group: group.id, .next))

    let again = try Home(in: folder)
    let state = again.house.publish()
    let found = try #require(state.groups.first)
    #expect((found.name, found.isNamed, found.repeat) == ("Party", true, .all))
    #expect(found.item?.title == "Title 1")
    #expect(found.queue.index == 1)
    let page = try again.house.session.page(of: group.id, offset: 0, limit: 10)
    #expect(page.entries.map(\.id) == [2, 0])
    #expect(page.entries.map(\.title) == ["Title 3", "Title 1"])
    // An identity that was used before is not used again.
    #expect(try again.edit(group.id, .add(Home.entries(4), at: .end)) == [3])
  }

  @Test(arguments: 1...3) func `after each of many edits the file has just what was answered`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    var home = try Home(in: folder)
    let id = try home.newGroup().id
    var model: [Int] = []
    for step in 0..<60 {
      switch model.isEmpty ? 0 : Int.random(in: 0..<6, using: &random) {
      case 0, 1: model += try home.edit(id, .add(Home.entries(step, step), at: .end))
      case 2:
        let place = Int.random(in: model.indices, using: &random)
        _ = try home.edit(id, .remove([model[place]]))
        if Bool.random(using: &random) {
          _ = try home.edit(id, .undo)
        } else {
          model.remove(at: place)
        }
      case 3:
        let entry = model.remove(at: Int.random(in: model.indices, using: &random))
        let place = Int.random(in: 0...model.count, using: &random)
        let before = place < model.count ? model[place] : nil
        model.insert(entry, at: place)
        _ = try home.edit(id, .move(entry, to: before.map { .before($0) } ?? .end))
      case 4:
        _ = try home.edit(id, .clear)
        if Bool.random(using: &random) { _ = try home.edit(id, .undo) } else { model = [] }
      default: home = try Home(in: folder)
      }
      #expect(try home.ids(id) == model)
    }
    #expect(try Home(in: folder).ids(id) == model)
  }

  @Test func `a clear can be undone until the list is edited`() throws {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    _ = try home.edit(id, .add(Home.entries(1, 2, 3), at: .end))
    try home.ask(.transport(group: id, .next))
    _ = try home.edit(id, .clear)
    #expect(try home.ids(id).isEmpty)
    #expect(home.house.publish().groups[0].queue.canUndo == "cleared 3 items")
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == [0, 1, 2])
    #expect(home.house.publish().groups[0].queue.index == 1)
    _ = try home.edit(id, .clear)
    _ = try home.edit(id, .add(Home.entries(4), at: .end))
    #expect(home.house.publish().groups[0].queue.canUndo == nil)
    #expect(throws: Refusal.unavailable("there is nothing to undo")) {
      try home.edit(id, .undo)
    }
  }

  @Test func `a removal and a shuffle can be undone, and leave the place where it is`() throws {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    _ = try home.edit(id, .add(Home.entries(1, 2, 3, 4, 5, 6, 7, 8), at: .end))
    let all = Array(0...7)
    try home.ask(.transport(group: id, .next))
    func undo() -> String? { home.house.publish().groups[0].queue.canUndo }
    func current() -> Int? { home.house.publish().groups[0].item?.entryId }

    _ = try home.edit(id, .remove([5]))
    #expect(undo() == "removed 1 item")
    try home.ask(.transport(group: id, .next))
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == all)
    #expect(current() == 2)

    _ = try home.edit(id, .shuffle)
    #expect(undo() == "shuffled 8 items")
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == all)
    #expect(current() == 2)

    // The entry that was to play next does so again after the undo.
    _ = try home.edit(id, .remove([2]))
    #expect(current() == 3)
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == all)
    #expect(current() == 2)

    _ = try home.edit(id, .remove([4]))
    _ = try home.edit(id, .move(0, to: .end))
    #expect(undo() == "moved 1 item")
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == all.filter { $0 != 4 })
    #expect(undo() == nil)
  }

  @Test func `an edit can be undone and a shuffle left after a restart`() throws {
    var home = try Home(in: folder)
    let id = try home.newGroup().id
    _ = try home.edit(id, .add(Home.entries(1, 2, 3, 4, 5, 6, 7, 8), at: .end))
    _ = try home.edit(id, .shuffle)
    home = try Home(in: folder)
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == Array(0...7))
    _ = try home.edit(id, .shuffle)
    let gone = [5, 1]
    _ = try home.edit(id, .remove(gone))
    home = try Home(in: folder)
    #expect(home.house.publish().groups[0].queue.canUndo == "removed 2 items")
    _ = try home.edit(id, .unshuffle)
    #expect(try home.ids(id) == Array(0...7).filter { !gone.contains($0) })
    home = try Home(in: folder)
    _ = try home.edit(id, .clear)
    home = try Home(in: folder)
    _ = try home.edit(id, .undo)
    let page = try home.house.session.page(of: id, offset: 0, limit: 10)
    #expect(page.entries.map(\.title) == page.entries.map { "Title \($0.id + 1)" })
    #expect(page.count == 6)
    #expect(home.house.publish().groups[0].queue.canUndo == nil)
  }

  @Test func `what was cleared around an item is brought back after a restart`() throws {
    var home = try Home(in: folder)
    let id = try home.newGroup().id
    _ = try home.edit(id, .add(Home.entries(1, 2, 3, 4), at: .end))
    try home.ask(.transport(group: id, .next))
    _ = try home.edit(id, .shuffle)
    let before = try home.ids(id)
    _ = try home.edit(id, .clearOthers)
    #expect(try home.ids(id) == [1])
    home = try Home(in: folder)
    #expect(home.house.publish().groups[0].queue.canUndo == "removed 3 items")
    _ = try home.edit(id, .undo)
    #expect(try home.ids(id) == before)
    #expect(home.house.publish().groups[0].item?.entryId == 1)
    let page = try home.house.session.page(of: id, offset: 0, limit: 10)
    #expect(page.entries.map(\.title) == page.entries.map { "Title \($0.id + 1)" })
    _ = try home.edit(id, .unshuffle)
    #expect(try home.ids(id) == [0, 1, 2, 3])
  }

  @Test
  func `a group that its last room has left is seen no more, and its queue waits for the room`()
    throws
  {
    let home = try Home(in: folder)
    let room = "127.0.0.1:9"
    let id = try home.newGroup(nil, rooms: [room]).id
    _ = try home.edit(id, .add(Home.entries(1, 2), at: .end))
    try home.ask(.leave(group: id, rooms: [room]))
    #expect(home.house.publish().groups.isEmpty)
    for request in [
      Order.transport(group: id, .play),
      .edit(group: id, .play(1), expected: nil),
      .edit(group: id, .add(Home.entries(3), at: .now), expected: nil),
    ] {
      let error = #expect(throws: Refusal.self) { try home.ask(request) }
      #expect(error == .unavailable("no room is in this group; add one, then play"))
    }
    #expect(try home.newGroup(nil, rooms: [room]).id == id)
    #expect(home.house.publish().groups.map(\.queue.count) == [2])
  }

  @Test func `only so many queues wait for their rooms, and none that nobody has filled`() throws {
    let home = try Home(in: folder)
    for number in 1...HouseSession.abandonedLimit + 3 {
      let room = "127.0.0.1:\(number)"
      let id = try home.newGroup(nil, rooms: [room]).id
      _ = try home.edit(id, .add(Home.entries(number), at: .end))
      try home.ask(.leave(group: id, rooms: [room]))
    }
    let empty = try home.newGroup(nil, rooms: ["127.0.0.1:99"]).id
    try home.ask(.leave(group: empty, rooms: ["127.0.0.1:99"]))
    #expect(home.house.session.plan.groups.count == HouseSession.abandonedLimit)
    #expect(home.house.session.plan.group(empty) == nil)
    #expect(home.house.session.plan.group("g1") == nil)
    let named = try home.newGroup("Party").id
    #expect(home.house.publish().groups.map(\.id) == [named])
  }

  @Test func `only so many free rooms are told something at a time`() throws {
    let home = try Home(in: folder)
    var change = RoomChange()
    change.volume = 30
    for number in 0...HouseSession.roomVisitLimit {
      home.house.host.know(
        RoomRecord(
          id: "r\(number)", name: "Room \(number)", model: "", state: .free, addresses: [],
          port: 9,
          codecs: []))
    }
    for number in 0..<HouseSession.roomVisitLimit {
      let room = try #require(try home.ask(.set(rooms: ["r\(number)"], change)).room)
      // The future settings of the room show at once.
      #expect(room.volume == 30)
    }
    #expect(throws: Refusal.self) {
      try home.ask(.set(rooms: ["r\(HouseSession.roomVisitLimit)"], change))
    }
    // A room that is being told can be told more.
    change.volume = 40
    try home.ask(.set(rooms: ["r0"], change))
    change.volume = 101
    #expect(throws: Refusal.self) { try home.ask(.set(rooms: ["r0"], change)) }
  }

  @Test func `an edit of a list that is not that any more is refused with the new revision`() throws
  {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    _ = try home.edit(id, .add(Home.entries(1), at: .end))
    let revision = home.house.publish().groups[0].queue.revision
    _ = try home.edit(id, .add(Home.entries(2), at: .end))
    #expect(throws: Refusal.outdated(revision: revision + 1)) {
      try home.ask(.edit(group: id, .clear, expected: revision))
    }
    try home.ask(.edit(group: id, .clear, expected: revision + 1))
  }

  @Test(arguments: [
    Order.deleteGroup("g9"), .transport(group: "g9", .play),
    .transport(group: "g1", .play), .edit(group: "g1", .remove([5]), expected: nil),
    .edit(group: "g1", .move(0, to: .before(9)), expected: nil),
    .join(group: "g1", room: "x", takes: false),
    .leave(group: "g1", rooms: ["x"]), .merge(group: "g1", other: "g1"),
    .seek(group: "g1", seconds: .nan, isRelative: false), .set(rooms: ["x"], .init()),
    .createGroup(rooms: ["x"], name: nil),
    .createGroup(rooms: [], name: String(repeating: "x", count: 101)),
  ]) func `what cannot be had is refused with a sentence`(request: Order) throws {
    let home = try Home(in: folder)
    _ = try home.newGroup()
    let before = home.house.publish().revision
    let error = #expect(throws: Refusal.self) { try home.ask(request) }
    #expect(error.map { $0.description.count > 10 } ?? false)
    #expect(home.house.publish().revision == before)
  }

  @Test func `a group without rooms and without a queue, that nobody has named, is forgotten`()
    throws
  {
    let home = try Home(in: folder)
    let room = "127.0.0.1:1"
    let first = try home.newGroup(nil, rooms: [room])
    _ = try home.edit(first.id, .add(Home.entries(1), at: .next))
    let second = try home.newGroup(nil, rooms: [room])
    let third = try home.newGroup(nil, rooms: [room])
    // The room finds its queue again.
    #expect(third.id == first.id)
    #expect(home.house.publish().groups.map(\.id) == [first.id])
    #expect(home.house.session.plan.group(second.id) == nil)
    #expect(try Home(in: folder).house.publish().groups.map(\.roomIds) == [[room]])
  }

  @Test func `a room that has left its queue finds it again after the daemon was killed`() throws {
    let room = "127.0.0.1:1"
    let home = try Home(in: folder)
    let left = try home.newGroup(nil, rooms: [room])
    let added = try home.edit(left.id, .add(Home.entries(1, 2), at: .next))
    try home.ask(.leave(group: left.id, rooms: [room]))
    // A group that nobody has filled is not kept.
    let empty = try home.newGroup(nil, rooms: ["127.0.0.1:2"])
    try home.ask(.leave(group: empty.id, rooms: ["127.0.0.1:2"]))

    let again = try Home(in: folder)
    again.house.start()
    #expect(again.house.publish().groups.isEmpty)
    #expect(again.house.session.plan.groups.map(\.id) == [left.id])
    #expect(try again.newGroup(nil, rooms: [room]).id == left.id)
    #expect(try again.ids(left.id) == added)
  }

  @Test func `what is read of a queue says where its addresses lead, and nobody is told`() throws {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    for reach in SourceReach.allCases {
      var entry = Order.NewEntry(location: "http://host/")
      entry.reach = reach
      _ = try home.edit(id, .add([entry], at: .end))
    }
    let page = try home.house.session.page(of: id, offset: 0, limit: 9)
    #expect(page.entries.map(\.reach) == [.all, .network, .internet])
    #expect(!String(decoding: try JSONEncoder().encode(page), as: UTF8.self).contains("reach"))
  }

  @Test func `a queue, and what an undo brings back, say which addresses guests have added`() throws
  {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    for (location, reach) in [("http://ours/", SourceReach.network), ("http://theirs/", .internet)]
    {
      var entry = Order.NewEntry(location: location)
      entry.reach = reach
      _ = try home.edit(id, .add([entry], at: .end))
    }
    func narrow(_ home: Home) -> Set<String> {
      home.house.session.narrow(among: ["http://ours/", "http://theirs/", "http://others/"])
    }
    #expect(narrow(home) == ["http://theirs/"])
    _ = try home.edit(id, .clear)
    #expect(narrow(try Home(in: folder)) == ["http://theirs/"])
  }

  @Test func `items that could not be played are forgotten once they have left the queue`() throws {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    let kept = try home.edit(id, .add(Home.entries(1), at: .end))
    let player = try #require(home.house.session.groups[id]).player
    var most = 0
    for item in kept + Array(1_000..<2_000) {
      player.note(
        .itemFailed(PlayItem(id: item, location: "/gone"), .notFound(path: "/gone \(item)")))
      most = max(most, player.failedItems.count)
    }
    #expect(most == Player.rememberedLimit)
    #expect(Set(kept + [1_999]).isSubset(of: player.failedItems.keys))
  }

  @Test func `what could not be played is named until the second item after it begins`() throws {
    let home = try Home(in: folder)
    let id = try home.newGroup().id
    _ = try home.edit(id, .add(Home.entries(1, 2, 3, 4), at: .waiting))
    let group = try #require(home.house.session.groups[id])
    func begin(_ index: Int) {
      group.note(
        .itemStarted(
          OpenedItem(
            item: group.items[index], duration: nil, position: .zero, isSeekable: true,
            metadata: ItemMetadata())))
    }
    func failed() throws -> FailedItem? { try #require(home.house.publish().groups.first).failed }
    begin(0)
    let gone = group.items[1]
    group.note(.itemFailed(gone, .unreadable(path: gone.location, reason: "it is away")))
    let problem = "cannot be read: it is away"
    #expect(try failed() == FailedItem(entryId: gone.id, title: "Title 2", problem: problem))
    #expect(try home.house.session.page(of: id, offset: 1, limit: 1).entries[0].problem == problem)
    #expect(group.shownQueue.map(\.problem) == [nil, problem, nil, nil])
    begin(2)
    #expect(group.statusReport().failed?.problem == problem)
    begin(3)
    #expect(try failed() == nil)
    group.note(.itemFailed(gone, .notFound(path: gone.location)))
    #expect(try failed() != nil)
    group.player.forgetFailure(of: gone.id)
    #expect(try failed() == nil && group.player.failedItems[gone.id] == nil)
    // A damaged item is read before it begins, and is no item after itself.
    let damaged = group.items[2]
    group.note(.itemFailed(damaged, .broken(path: damaged.location, reason: "it is torn")))
    begin(2)
    begin(3)
    #expect(try failed()?.entryId == damaged.id)
    begin(0)
    #expect(try failed() == nil)
    group.note(.itemFailed(gone, .notFound(path: gone.location)))
    _ = try home.edit(id, .remove([gone.id]))
    #expect(try failed() == nil)
  }

  @Test func `a room that asks for its PIN is shown as such until it is paired`() throws {
    let home = try Home(in: folder)
    func know(_ digit: String, access: ReceiverAdvertisement.Access?) {
      home.house.host.know(
        RoomRecord(
          id: String(repeating: digit, count: 32), name: digit, model: "", state: .free,
          addresses: [], port: 7770, codecs: [], access: access))
    }
    know("1", access: .paired)
    know("2", access: .open)
    know("3", access: nil)
    func rooms() -> [String] {
      home.house.publish().rooms.map {
        "\($0.name) \($0.state) \($0.isPaired ? "paired" : "unpaired")"
          + ($0.canUnpair ? " by PIN" : "")
      }
    }
    #expect(rooms() == ["1 notPaired unpaired", "2 free paired", "3 free paired"])
    let id = try #require(Identifier(hex: String(repeating: "1", count: 32)))
    home.house.trust(Pairings([.init(id: id, name: "1")]))
    #expect(rooms() == ["1 free paired by PIN", "2 free paired", "3 free paired"])
    home.house.trust(Pairings())
    #expect(rooms() == ["1 notPaired unpaired", "2 free paired", "3 free paired"])
  }

  @Test func `whoever reads too slowly is ended, and others are told all`() async throws {
    let home = try Home(in: folder)
    let slow = try home.house.addReader()
    let id = try home.newGroup().id
    for number in 0..<HouseReaders.untakenLimit + 8 {
      _ = try home.edit(id, .add(Home.entries(number), at: .end))
    }
    var told: [HouseChange] = []
    for await change in slow { told.append(change) }
    #expect(told.count == HouseReaders.untakenLimit)
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.revision + 1 == $1.revision })
    for _ in 0..<HouseReaders.limit { _ = try home.house.addReader() }
    #expect(throws: Refusal.self) { try home.house.addReader() }
  }
}
