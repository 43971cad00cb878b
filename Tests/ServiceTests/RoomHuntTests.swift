import Clock
import Driver
import Testing

@testable import House
@testable import Sender
@testable import Service

/// Tests of which receivers a player means by the names it was given, and when it gives one up.
@Suite struct RoomHuntTests {
  private static let start = LocalTime(nanoseconds: 1_000_000_000)

  private static func record(_ name: String, _ digit: Character) -> RoomRecord {
    RoomRecord(
      id: String(repeating: digit, count: 32), name: name, model: "", state: .free, addresses: [],
      port: 7770, codecs: [])
  }

  private static let kitchen = record("Kitchen", "a")
  private static let bath = record("Bath", "b")
  private static let otherKitchen = record("Kitchen", "c")

  private static func known(
    _ records: [RoomRecord], playing: [RoomRecord] = []
  ) -> RoomHunt.Knowledge {
    let rooms = playing.enumerated().map {
      GroupStatus.Room(
        id: RoomID($0.offset + 1), name: $0.element.name, connection: .away(reason: "no route"),
        settings: nil)
    }
    return .init(
      directory: RoomDirectory(remembered: records),
      plays: { record in playing.contains { $0.id == record.id } }, rooms: rooms)
  }

  private static func hunt(_ names: String...) -> RoomHunt {
    RoomHunt(RoomWish(names: names), at: start)
  }

  @Test func `without a wish every receiver is meant, with an address none that is found`() {
    let directory = RoomDirectory(remembered: [Self.kitchen])
    #expect(Self.hunt().wants(Self.kitchen, of: directory))
    let wish = RoomWish(names: [], addresses: [(host: "10.0.0.1", port: 7770)])
    #expect(!RoomHunt(wish, at: Self.start).wants(Self.kitchen, of: directory))
  }

  @Test func `a name means the one receiver that has it, whatever its case`() {
    let directory = RoomDirectory(remembered: [Self.kitchen, Self.bath])
    let hunt = Self.hunt("kitchen")
    #expect(hunt.wants(Self.kitchen, of: directory))
    #expect(!hunt.wants(Self.bath, of: directory))
    #expect(hunt.remembered(in: directory).map(\.name) == ["Kitchen"])
  }

  @Test func `of two receivers with one name none is meant, until it is said which`() {
    let directory = RoomDirectory(remembered: [Self.kitchen, Self.otherKitchen])
    #expect(!Self.hunt("Kitchen").wants(Self.kitchen, of: directory))
    #expect(Self.hunt("Kitchen").remembered(in: directory).isEmpty)
    #expect(Self.hunt("Kitchen#cc").wants(Self.otherKitchen, of: directory))
    #expect(!Self.hunt("Kitchen#cc").wants(Self.kitchen, of: directory))
  }

  @Test func `a room that does not appear is given up after five seconds, with those there are`() {
    var hunt = Self.hunt("Attic", "Bath")
    let known = Self.known([Self.kitchen, Self.bath], playing: [Self.bath])
    #expect(throws: Never.self) { try hunt.look(at: Self.start + .milliseconds(4_999), known) }
    #expect(hunt.missing == ["Attic"])
    #expect(hunt.deadline == Self.start + .seconds(5))
    #expect(throws: Refusal.noRoom("Attic", of: known.directory)) {
      try hunt.look(at: Self.start + .seconds(5), known)
    }
  }

  @Test func `two rooms of the name are told apart in the refusal`() {
    var hunt = Self.hunt("Kitchen")
    let line = "there are 2 rooms called Kitchen; say which: Kitchen#aaaa, Kitchen#cccc"
    #expect(throws: Refusal.invalid(line)) {
      try hunt.look(at: Self.start + .seconds(5), Self.known([Self.kitchen, Self.otherKitchen]))
    }
  }

  @Test func `rooms that are found and never reached are given up after ten seconds, with why`() {
    var hunt = Self.hunt("Bath")
    let known = Self.known([Self.bath], playing: [Self.bath])
    #expect(throws: Never.self) { try hunt.look(at: Self.start + .seconds(9), known) }
    #expect(throws: Refusal.unavailable("no room could be reached: Bath: no route")) {
      try hunt.look(at: Self.start + .seconds(10), known)
    }
  }

  @Test func `nobody at all is told with what to start`() {
    var hunt = Self.hunt()
    #expect(throws: Refusal.self) {
      try hunt.look(at: Self.start + .seconds(5), Self.known([]))
    }
  }

  @Test func `once all are found and one is reached, rooms may leave as they like`() {
    var hunt = Self.hunt("Kitchen", "Bath")
    let rooms = [Self.kitchen, Self.bath]
    hunt.reachedRoom()
    #expect(throws: Never.self) {
      try hunt.look(at: Self.start, Self.known(rooms, playing: rooms))
      #expect(hunt.deadline == nil)
      try hunt.look(at: Self.start + .seconds(60), Self.known(rooms, playing: [Self.bath]))
    }
    #expect(hunt.missing.isEmpty)
  }
}
