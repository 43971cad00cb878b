import House
import SQLiteStore
import Sender
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of stations and playlists.
@Suite struct StoredListTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  @Test func `stations are kept, found by their address and deleted`() throws {
    let first = try StoredLists.addRadio(name: "FIP", uri: "http://fip/", bed.database)
    let again = try StoredLists.addRadio(name: "FIP Jazz", uri: "http://fip/", bed.database)
    #expect(again.id == first.id)
    #expect(try StoredLists.radios(bed.database).map(\.name) == ["FIP Jazz"])
    let entry = try QueueEntries.of(.radio(first.id), bed.folders, bed.database).first
    #expect(entry?.location == "http://fip/" && entry?.title == "FIP Jazz")
    try StoredLists.removeRadio(first.id, bed.database)
    #expect(throws: Refusal.self) { try StoredLists.removeRadio(first.id, bed.database) }
    #expect(try StoredLists.radios(bed.database).isEmpty)
  }

  @Test func `a station keeps its picture until it gets another one`() throws {
    func add(_ picture: String?) throws -> String? {
      try StoredLists.addRadio(name: "FIP", uri: "http://fip/", picture: picture, bed.database)
        .artwork
    }
    #expect(try add(nil) == nil)
    let first = try #require(try add("http://fip/a.png"))
    let origins = try PictureOrigins.of(first, bed.folders, [], bed.database)
    #expect(origins.first?.request(size: 300) == .picture("http://fip/a.png", .network, size: 300))
    #expect(try add(nil) == first && add("file:///etc/passwd") == first)
    #expect(try add("http://fip/b.png") != first)
    let entry = try QueueEntries.of(.radio("s1"), bed.folders, bed.database).first
    #expect(try entry?.artwork == add(nil))
  }

  @Test func `a list in a folder names what is in the library, and addresses`() throws {
    try bed.write(TaggedFile("One"), to: "a/1.flac")
    let list = """
      #EXTM3U
      ../a/1.flac
      /etc/passwd
      ../../../etc/shadow
      #EXTINF:-1,A station
      http://radio/
      """
    try bed.temporary.write(Array(list.utf8), to: "Music/lists/Évening.m3u8")
    try bed.scan()
    let playlist = try #require(try StoredLists.playlists(bed.database).first)
    #expect(playlist.name == "Évening")
    let entries = try QueueEntries.of(.playlist(playlist.id), bed.folders, bed.database)
    #expect(entries.map(\.location) == [bed.path("a/1.flac"), "http://radio/"])
    #expect(entries.map(\.title) == ["One", "A station"])
    #expect(throws: Refusal.self) { try StoredLists.removePlaylist(playlist.id, bed.database) }
    try bed.remove("lists/Évening.m3u8")
    try bed.scan()
    #expect(try StoredLists.playlists(bed.database).isEmpty)
  }

  @Test func `a playlist names what is not there any more`() throws {
    try bed.write(TaggedFile("One"), to: "a/1.flac")
    try bed.write(TaggedFile("Two"), to: "a/2.flac")
    let list =
      "#EXTM3U\n1.flac\n#EXTINF:1,The lost one\n3.flac\n2.flac\n04 - gone.flac\nhttp://radio/\n"
    try bed.temporary.write(Array(list.utf8), to: "Music/a/list.m3u8")
    try bed.scan()
    let playlist = try #require(try StoredLists.playlists(bed.database).first)
    #expect(
      try StoredLists.missing(ofPlaylist: playlist.id, bed.database) == [
        "The lost one", "04 - gone",
      ])
    try bed.remove("a/2.flac")
    try bed.scan()
    #expect(
      try StoredLists.missing(ofPlaylist: playlist.id, bed.database)
        == ["The lost one", "2", "04 - gone"])
    let entries = try StoredLists.entries(ofPlaylist: playlist.id, bed.folders, bed.database)
    #expect(entries.count == 2)
  }

  @Test func `a saved playlist is edited, and what is gone keeps its place`() throws {
    for number in 1...4 { try bed.write(TaggedFile("\(number)"), to: "a/\(number).flac") }
    try bed.scan()
    var entries: [QueuePage.Entry] = []
    for number in 1...4 {
      var entry = QueuePage.Entry(id: 0, title: "\(number)", uri: "", isCurrent: false)
      entry.trackId = try #require(try bed.track("\(number)")).id
      entries.append(entry)
    }
    let list = try StoredLists.save("Sunday", Array(entries.prefix(3)), bed.database)
    #expect(list.revision == 0 && !list.isFile)
    try bed.remove("a/2.flac")
    try bed.scan()
    func rows() throws -> [(position: Int, entry: Order.NewEntry)] {
      try StoredLists.entries(ofPlaylist: list.id, bed.folders, bed.database)
    }
    func titles() throws -> String { try rows().compactMap(\.entry.title).joined() }
    @discardableResult
    func edit(_ edit: StoredPlaylist.Edit, expected: UInt64? = nil) throws -> StoredPlaylist {
      try PlaylistEdits.carryOut(edit, of: list.id, expected: expected, bed.database)
    }
    #expect(try titles() == "13")
    let radio = QueuePage.Entry(id: 0, title: "R", uri: "http://radio/", isCurrent: false)
    try edit(.add([entries[3], radio], before: rows()[1].position))
    #expect(try titles() == "14R3")
    try edit(.move(rows()[0].position, before: nil))
    #expect(try titles() == "4R31")
    try edit(.move(rows()[3].position, before: rows()[1].position))
    #expect(try titles() == "41R3")
    let same = try rows()[2].position
    try edit(.move(same, before: same))
    #expect(try titles() == "41R3")
    try edit(.remove([rows()[0].position, rows()[2].position]))
    #expect(try titles() == "13")
    let renamed = try edit(.rename("Monday"), expected: 5)
    #expect(renamed.name == "Monday" && renamed.revision == 6 && renamed.trackCount == 3)
    #expect(throws: Refusal.outdated(revision: 6)) { try edit(.clear, expected: 5) }
    #expect(throws: Refusal.self) { try edit(.remove([99])) }
    #expect(throws: Refusal.self) { try edit(.move(rows()[0].position, before: 99)) }
    #expect(throws: Refusal.self) { try edit(.rename("")) }
    let many = Array(repeating: radio, count: Playlist.limit)
    #expect(throws: Refusal.self) { try edit(.add(many, before: nil)) }
    #expect(try titles() == "13")
    try bed.write(TaggedFile("2"), to: "a/2.flac")
    try bed.scan()
    #expect(try titles() == "213")
    #expect(try edit(.clear).trackCount == 0)
  }

  @Test func `an edit of a damaged playlist is refused`() throws {
    let radio = QueuePage.Entry(id: 0, title: "R", uri: "http://radio/", isCurrent: false)
    let list = try StoredLists.save("Sunday", [radio], bed.database)
    try bed.database.execute("UPDATE playlist_entry SET position = 9223372036854775807")
    for edit in [
      StoredPlaylist.Edit.add([radio, radio], before: .max), .move(.max, before: nil),
      .remove([.max]),
    ] {
      #expect(throws: (any Error).self) {
        try PlaylistEdits.carryOut(edit, of: list.id, expected: nil, bed.database)
      }
    }
    #expect(
      try PlaylistEdits.carryOut(
        .add([radio], before: nil), of: list.id, expected: nil, bed.database
      ).trackCount == 2)
  }

  @Test func `a playlist in a folder is not edited`() throws {
    try bed.temporary.write(Array("http://radio/\n".utf8), to: "Music/list.m3u8")
    try bed.scan()
    let list = try #require(try StoredLists.playlists(bed.database).first)
    #expect(list.isFile)
    #expect(throws: Refusal.self) {
      try PlaylistEdits.carryOut(.rename("x"), of: list.id, expected: nil, bed.database)
    }
    #expect(try StoredLists.playlists(bed.database).map(\.name) == ["list"])
  }

  @Test func `a saved playlist finds its tracks where they are now, and no other files`() throws {
    try bed.write(TaggedFile("One", artist: "Nina"), to: "a/1.flac")
    try bed.scan()
    let track = try #require(try bed.track("One"))
    var entry = QueuePage.Entry(id: 1, title: "One", uri: bed.path("a/1.flac"), isCurrent: false)
    entry.trackId = track.id
    let entries = [
      entry, QueuePage.Entry(id: 2, title: "x", uri: "/etc/passwd", isCurrent: false),
      QueuePage.Entry(id: 3, title: "Station", uri: "https://radio/", isCurrent: false),
    ]
    let saved = try StoredLists.save("Mine", entries, bed.database)
    #expect(saved.trackCount == 2)
    try bed.move("a/1.flac", to: "b/moved.flac")
    try bed.scan()
    let played = try QueueEntries.of(.playlist(saved.id), bed.folders, bed.database)
    #expect(played.map(\.location) == [bed.path("b/moved.flac"), "https://radio/"])
    try StoredLists.removePlaylist(saved.id, bed.database)
    #expect(throws: Refusal.self) { try StoredLists.playlist(saved.id, bed.database) }
  }

  private static func entries() -> [QueuePage.Entry] {
    SourceReach.allCases.enumerated().map { id, reach in
      var entry = QueuePage.Entry(
        id: id, title: "\(reach)", uri: "http://\(reach)/", isCurrent: false)
      entry.reach = reach
      return entry
    }
  }

  @Test func `addresses of a saved playlist lead no further than in the queue`() throws {
    let saved = try StoredLists.save("Mine", Self.entries(), bed.database)
    func played() throws -> [SourceReach] {
      try QueueEntries.of(.playlist(saved.id), bed.folders, bed.database).map(\.reach)
    }
    #expect(try played() == [.all, .network, .internet])
    try bed.database.execute("UPDATE playlist_entry SET reach = 'everywhere'")
    #expect(try played() == [.internet, .internet, .internet])
  }

  @Test func `a playlist says which addresses it keeps for the internet alone`()
    throws
  {
    let path = bed.temporary.file("kept.db")
    let saved = try StoredLists.save("Mine", Self.entries(), LibraryBed.open(path))
    // Another list may have the same address for the household.
    var other = Self.entries()
    for place in other.indices { other[place].reach = .network }
    let again = try LibraryBed.open(path)
    _ = try StoredLists.save("Other", other, again)
    let asked: Set = ["http://all/", "http://network/", "http://internet/", "http://elsewhere/"]
    #expect(try StoredLists.narrow(among: asked, again) == ["http://internet/"])
    #expect(try StoredLists.narrow(among: ["http://all/"], again).isEmpty)
    try StoredLists.removePlaylist(saved.id, again)
    #expect(try StoredLists.narrow(among: asked, again).isEmpty)
  }

  @Test func `playlists of a file without reaches are read on and rescued`() throws {
    let path = bed.temporary.file("old.db")
    let saved = try StoredLists.save("Mine", Self.entries(), LibraryBed.open(path))
    try LibraryBed.makeOld(Database(path: path), version: 1)
    let rescued = try LibraryBed.open(bed.temporary.file("rescued.db"))
    try UserLists(rescuedFrom: path).write(to: rescued)
    for database in [try LibraryBed.open(path), rescued] {
      let entries = try QueueEntries.of(.playlist(saved.id), bed.folders, database)
      #expect(entries.map(\.title) == ["all", "network", "internet"])
      #expect(entries.map(\.reach) == [.network, .network, .network])
    }
    let again = try LibraryBed.open(bed.temporary.file("again.db"))
    _ = try StoredLists.save("Newer", Self.entries(), rescued)
    try UserLists(rescuedFrom: bed.temporary.file("rescued.db")).write(to: again)
    #expect(
      try QueueEntries.of(.playlist("p2"), bed.folders, again).map(\.reach)
        == [.all, .network, .internet])
  }
}
