import Foundation
import Testing

@testable import Sender

@Suite struct PlaylistTests {
  private static func list(_ names: String) -> Playlist {
    Playlist(names.map { PlaylistEntry(String($0)) })
  }

  private func names(_ list: Playlist) -> String { list.items.map(\.location).joined() }

  @Test func `items follow each other, and the last is followed by nothing`() {
    let list = Self.list("ab")
    let (a, b) = (list.items[0], list.items[1])
    #expect(list.successor(of: a) == b)
    #expect(list.successor(of: b) == nil)
    #expect(list.neighbour(before: a) == nil)
    #expect(list.neighbour(before: b) == a)
  }

  @Test func `the item for when no other can be had is left out of the round, and then stays`() {
    let list = Playlist(["a", "b"], repetition: .all, otherwise: "t")
    let (a, b, t) = (list.items[0], list.items[1], list.items[2])
    #expect(list.successor(of: b) == a && list.neighbour(after: b) == a)
    #expect(list.successor(of: b, passing: [a.id]) == b)
    for item in [nil, a, b] { #expect(list.successor(of: item, passing: [a.id, b.id]) == t) }
    #expect(list.successor(of: t) == t)
    let alone = Playlist([], repetition: .all, otherwise: "t")
    #expect(alone.successor(of: nil, passing: []) == alone.items[0])
  }

  @Test func `one file twice is two items, and identities are never used again`() {
    var list = Self.list("aa")
    #expect(list.items[0] != list.items[1])
    let done1 = list.apply(.remove([0, 1]), current: nil)
    #expect(done1)
    let done2 = list.apply(.insert(["a"], .end), current: nil)
    #expect(done2)
    #expect(list.items.map(\.id) == [2])
  }

  @Test func `a list comes back with its identities, and those of new items are new`() {
    var list = Self.list("abc")
    _ = list.apply(.remove([1, 2]), current: nil)
    _ = list.apply(.setRepetition(.all), current: nil)
    var other = Playlist(restoring: list.items, nextID: list.nextID, repetition: .all)
    #expect(other.items == list.items)
    #expect(other.repetition == .all)
    _ = other.apply(.insert(["d"], .end), current: nil)
    #expect(other.items.map(\.id) == [0, 3])
    // This holds even if the number was lost.
    #expect(Playlist(restoring: list.items, nextID: 0, repetition: .off).nextID == 1)
  }

  @Test func `what was cleared is restored in its order, in the place of what is there`() {
    var list = Self.list("abc")
    _ = list.apply(.move(2, .index(0)), current: nil)
    let before = list.items
    let current = before[0]
    _ = list.apply(.clear, current: current)
    _ = list.apply(.insert(["d"], .end), current: current)
    let hasChanged = list.apply(.restore(before), current: current)
    #expect(hasChanged)
    #expect(list.items == before)
    #expect(list.successor(of: current) == before[1])
    // An item that never was in the list is not restored.
    _ = list.apply(.restore(before + [before[0], PlayItem(id: 99, location: "z")]), current: nil)
    #expect(list.items == before)
  }

  @Test func `items come where they are wanted`() {
    var list = Self.list("abc")
    let b = list.items[1]
    _ = list.apply(.insert(["x", "y"], .index(1)), current: b)
    #expect(names(list) == "axybc")
    _ = list.apply(.insert(["n"], .next), current: b)
    #expect(names(list) == "axybnc")
    _ = list.apply(.insert(["z"], .after(0)), current: b)
    #expect(names(list) == "azxybnc")
    _ = list.apply(.insert(["e"], .index(100)), current: b)
    _ = list.apply(.insert(["s"], .index(-1)), current: b)
    #expect(names(list) == "sazxybnce")
  }

  @Test func `a moved item stands where it was put`() {
    var list = Self.list("abcd")
    _ = list.apply(.move(3, .index(0)), current: nil)
    #expect(names(list) == "dabc")
    _ = list.apply(.move(3, .index(2)), current: nil)
    #expect(names(list) == "abdc")
    _ = list.apply(.move(0, .end), current: nil)
    #expect(names(list) == "bdca")
    let done3 = list.apply(.move(0, .after(0)), current: nil)
    #expect(!done3)
    let done4 = list.apply(.move(77, .end), current: nil)
    #expect(!done4)
  }

  @Test func `what follows an item that was removed is what stood behind it`() {
    var list = Self.list("abcd")
    let b = list.items[1]
    _ = list.apply(.remove([1, 2]), current: b)
    #expect(list.successor(of: b)?.location == "d")
    _ = list.apply(.insert(["x"], .after(0)), current: b)
    #expect(names(list) == "axd")
    list.forgetRemoved { $0 == b.id }
    #expect(list.successor(of: b)?.location == "d")
    list.forgetRemoved { _ in false }
    #expect(list.successor(of: b) == nil)
  }

  @Test func `others take the place of one`() {
    var list = Self.list("abc")
    let done5 = list.apply(.replace(1, with: ["x", "y"]), current: nil)
    #expect(done5)
    #expect(names(list) == "axyc")
    let done6 = list.apply(.replace(1, with: ["z"]), current: nil)
    #expect(!done6)
  }

  @Test func `repetition says what follows, and next leaves what repeats`() {
    var list = Self.list("ab")
    let (a, b) = (list.items[0], list.items[1])
    _ = list.apply(.setRepetition(.all), current: a)
    #expect(list.successor(of: b) == a)
    #expect(list.neighbour(before: a) == b)
    _ = list.apply(.setRepetition(.one), current: a)
    #expect(list.successor(of: a) == a)
    #expect(list.neighbour(after: a) == b)
    let done7 = list.apply(.setRepetition(.one), current: a)
    #expect(!done7)
    _ = list.apply(.remove([0]), current: a)
    #expect(list.successor(of: a) == b)
  }

  @Test func `what cannot be played is passed over, and never for ever`() {
    var list = Self.list("abc")
    #expect(list.successor(of: list.items[0], passing: [1])?.location == "c")
    #expect(list.successor(of: nil, passing: [0, 1, 2]) == nil)
    _ = list.apply(.setRepetition(.all), current: nil)
    #expect(list.successor(of: list.items[0], passing: [0, 1, 2]) == nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a shuffle keeps all items and puts the current one first`(seed: UInt64) {
    var list = Self.list("abcdefgh")
    let current = list.items[3]
    _ = list.apply(.shuffle(seed: seed), current: current)
    #expect(list.first == current)
    #expect(names(list).sorted() == Array("abcdefgh"))
    var again = Self.list("abcdefgh")
    _ = again.apply(.shuffle(seed: seed), current: current)
    #expect(again.items == list.items)
  }

  @Test func `titles of strangers are cleaned and cut off, and empty ones are none`() throws {
    #expect(PlaylistEntry("a", title: "\u{1B}[2Jx\u{202E}y").title == " [2Jx y")
    let long = String(repeating: "é", count: 2 * ItemMetadata.textLimit)
    #expect(PlaylistEntry("a", title: long).title?.count == ItemMetadata.textLimit)
    #expect(PlaylistEntry("a", title: " \n").title == nil)
    let sent = Data("{\"location\": \"a\", \"title\": \"x\\u001by\"}".utf8)
    let entry = PlaylistEntry("a", title: "x y")
    #expect(
      try JSONDecoder().decode(PlaylistEntry.self, from: sent)
        == PlaylistEntry(entry.location, title: entry.title, reach: .network))
    #expect(Playlist([entry, "b"]).items.map(\.title) == ["x y", nil])
  }

  @Test func `a list has an end to its length`() {
    var list = Playlist(Array(repeating: "a", count: Playlist.limit + 5))
    #expect(list.count == Playlist.limit)
    let done8 = list.apply(.insert(["b"], .end), current: nil)
    #expect(!done8)
  }
}
