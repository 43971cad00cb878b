import Clock
import Sender
import TestSupport
import Testing

@testable import House

/// Stories of a queue whose second entry begins where somebody has left it: at second 30.
@Suite struct ResumingTests {
  private let world: SimulatedWorld
  private let id: String

  init() throws {
    world = try SimulatedWorld(rooms: 1, holding: .zero)
    world.left["/b.mp3"] = .seconds(30)
    let room = world.receivers[0].id
    id = try #require(try world.ask(.createGroup(rooms: [room], name: nil)).group?.id)
    try edit(.add(["/a.mp3", "/b.mp3"].map { .init(location: $0) }, at: .waiting))
  }

  private func edit(_ edit: Order.QueueEdit) throws {
    try world.ask(.edit(group: id, edit, expected: nil))
    world.advance(by: .seconds(1))
  }

  private func transport(_ order: Order.Transport) throws {
    try world.ask(.transport(group: id, order))
    world.advance(by: .seconds(1))
  }

  /// The entry that plays, or goes on, and the second at which it does: of thirty or so, 30.
  private func place() throws -> [Int] {
    let group = try #require(world.session.groups[id])
    let place = try #require(group.place(group.player.status))
    return [place.entry, Int(place.seconds) / 10 * 10]
  }

  @Test func `an entry that is chosen in the queue begins where it was left`() throws {
    try edit(.play(0))
    #expect(try place() == [0, 0])
    try edit(.play(1))
    #expect(try place() == [1, 30])
    // The one that plays begins anew.
    try edit(.play(1))
    #expect(try place() == [1, 0])
  }

  @Test func `an entry that is removed while it plays hands on at once`() throws {
    try edit(.play(0))
    let group = try #require(world.session.groups[id])
    _ = try group.edit(.remove([0]))
    // A process that ends now goes on with the next entry, though the one that is gone still sounds.
    #expect(group.goal(group.player.status) == QueuePlace(turnOf: 1))
    #expect(group.player.status.item?.item.id == 0)
    world.advance(by: .seconds(1))
    #expect(try place() == [1, 30])
  }

  @Test func `the disk has the entry to which music has come by itself`() throws {
    try edit(.play(0))
    #expect(world.disk.record.groups.first?.place?.entry == 0)
    let group = try #require(world.session.groups[id])
    // The session has not asked for it, as where an entry ends.
    _ = try group.edit(.remove([0]))
    world.advance(by: .milliseconds(1500))
    #expect(world.disk.record.groups.first?.place?.entry == 1)
  }

  @Test func `next goes to where an entry was left, also while nothing plays`() throws {
    try edit(.play(0))
    try transport(.next)
    #expect(try place() == [1, 30])
    try transport(.stop)
    #expect(try place() == [1, 0])
    try transport(.play)
    #expect(try place() == [1, 30])
    try edit(.play(0))
    try transport(.stop)
    try transport(.next)
    try transport(.play)
    #expect(try place() == [1, 30])
  }

  @Test func `a place that is named while nothing plays is that place`() throws {
    try transport(.next)
    try world.ask(.seek(group: id, seconds: 0, isRelative: false))
    try transport(.play)
    #expect(try place() == [1, 0])
  }

  @Test func `a first entry, and one that is added to be heard at once, begin there too`() throws {
    try edit(.remove([0]))
    try transport(.play)
    #expect(try place() == [1, 30])
    try edit(.add([.init(location: "/b.mp3")], at: .now))
    #expect(try place() == [2, 30])
    var named = Order.NewEntry(location: "/b.mp3")
    named.startS = 50
    try edit(.add([named], at: .nowAndKeep))
    #expect(try place() == [3, 50])
  }

  @Test func `an entry that is still being opened is kept as one that begins where it was left`()
    throws
  {
    world.unreachable = ["/b.mp3"]
    try edit(.play(0))
    try edit(.play(1))
    let group = try #require(world.session.groups[id])
    #expect(group.goal(group.player.status) == QueuePlace(turnOf: 1))
    // A step counts from a place that only the player finds out.
    try world.ask(.seek(group: id, seconds: 20, isRelative: true))
    #expect(group.goal(group.player.status) == QueuePlace(turnOf: 1))
    try world.ask(.seek(group: id, seconds: 12, isRelative: false))
    world.advance(by: .seconds(1))
    #expect(group.goal(group.player.status) == QueuePlace(entry: 1, seconds: 12))
  }
}
