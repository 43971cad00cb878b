import Clock
import Sender
import TestSupport
import Testing

import enum House.Refusal

@testable import House

/// Seeks while a group plays nothing: where it is to go on.
@Suite struct RestingSeekTests {
  private let world: SimulatedWorld
  private let group: String

  /// Two items of which the first is a minute long, and nobody knows how long the second is.
  init() throws {
    world = try SimulatedWorld(rooms: 1, holding: .zero)
    let room = world.receivers[0].id
    group = try #require(try world.ask(.createGroup(rooms: [room], name: nil)).group?.id)
    var first = Order.NewEntry(location: "/music/a.flac")
    first.durationS = 60
    try world.ask(
      .edit(
        group: group, .add([first, .init(location: "/music/b.flac")], at: .end), expected: nil))
    try world.ask(.transport(group: group, .stop))
    world.advance(by: .seconds(1))
  }

  private func seek(_ seconds: Double, isRelative: Bool = false) throws {
    try world.ask(.seek(group: group, seconds: seconds, isRelative: isRelative))
  }

  private var position: Double? {
    world.session.state(at: world.now).groups.first { $0.id == group }?.positionS
  }

  @Test func `a place beyond the end is refused, as while it plays`() throws {
    try seek(50)
    #expect(position == 50)
    let refusal = #expect(throws: Refusal.self) { try seek(60) }
    #expect(refusal?.description.contains("the item is only 1:00 long") == true)
    #expect(position == 50)
  }

  @Test func `a step beyond the end leads to the last moment, and one before the beginning to it`()
    throws
  {
    try seek(50)
    try seek(20, isRelative: true)
    #expect(position == 59)
    try seek(-99, isRelative: true)
    #expect(position == 0)
  }

  @Test func `steps in an item whose length nobody knows stay within all bounds`() throws {
    try world.ask(.transport(group: group, .next))
    for _ in 0..<3 { try seek(1e308, isRelative: true) }
    #expect(try #require(position) == 1e8)
    try seek(1e300)
    #expect(try #require(position) == 1e8)
  }

  @Test func `a shuffle leaves the entry to go on with at the front`() throws {
    let items = try #require(world.session.groups[group]).items
    try world.ask(.edit(group: group, .play(items[1].id), expected: nil))
    try world.ask(.transport(group: group, .stop))
    for _ in 0..<10 {
      try world.ask(.edit(group: group, .shuffle, expected: nil))
      #expect(world.session.groups[group]?.items.first?.id == items[1].id)
    }
  }
}
