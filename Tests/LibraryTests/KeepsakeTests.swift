import House
import SQLiteStore
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of favourites and of the history.
@Suite struct KeepsakeTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  private func keep(
    _ kind: LibraryThing.Kind, _ id: String, _ isOne: Bool = true, at now: Int64 = 1
  ) throws {
    try Keepsakes.setFavourite(kind, id, to: isOne, at: now, bed.database)
  }

  private func titles() throws -> [String] {
    try Keepsakes.favourites(bed.database).map { "\($0.kind) \($0.title)" }
  }

  /// Makes two tracks of one album, and returns their ids and the album's.
  private func makeAlbum(in folder: String = "a") throws -> (tracks: [String], album: String) {
    for number in 1...2 {
      try bed.write(
        TaggedFile("Song \(number)", artist: "Nina", album: "Blues", track: number),
        to: "\(folder)/\(number).flac")
    }
    try bed.scan()
    return (try bed.tracks().map(\.id), try #require(try bed.albums().first?.id))
  }

  @Test func `everything that plays can be a favourite, the latest first`() throws {
    let (tracks, album) = try makeAlbum()
    let artist = try #require(try bed.albums().first?.artistId)
    let station = try StoredLists.addRadio(name: "FIP", uri: "http://fip/", bed.database)
    let list = try StoredLists.save("Mine", [], bed.database)
    let all: [(LibraryThing.Kind, String)] = [
      (.album, album), (.artist, artist), (.track, tracks[1]), (.radio, station.id),
      (.playlist, list.id), (.input, "Turntable"),
    ]
    for (time, (kind, id)) in all.enumerated() { try keep(kind, id, at: Int64(time)) }
    try keep(.album, album, at: 99)
    let found = try Keepsakes.favourites(bed.database)
    #expect(found.map(\.id) == all.map(\.1).reversed())
    #expect(
      try titles() == [
        "input Turntable", "playlist Mine", "radio FIP", "track Song 2", "artist Nina",
        "album Blues",
      ])
    #expect(found.last?.detail == "Nina" && found.last?.atS == 0)
    for (kind, id) in all { try keep(kind, id, false) }
    #expect(try titles().isEmpty)
  }

  @Test func `what is gone is no favourite, and one again when it is back`() throws {
    let (tracks, album) = try makeAlbum()
    try bed.write(TaggedFile("Other"), to: "other/1.flac")
    try keep(.album, album)
    try keep(.track, tracks[0])
    try bed.move("a", to: "../elsewhere")
    try bed.scan()
    #expect(try titles().isEmpty)
    try bed.move("../elsewhere", to: "a")
    try bed.scan()
    #expect(try titles().sorted() == ["album Blues", "track Song 1"])
    #expect(throws: Refusal.self) { try keep(.track, "t999") }
    #expect(throws: Refusal.self) { try keep(.album, tracks[0]) }
    try keep(.track, "t999", false)
  }

  @Test func `a favourite follows its files into another folder`() throws {
    let (tracks, album) = try makeAlbum()
    try keep(.album, album)
    try keep(.track, tracks[0])
    try bed.move("a", to: "b/c")
    try bed.scan()
    #expect(try titles().sorted() == ["album Blues", "track Song 1"])
    #expect(try Keepsakes.favourites(bed.database).first { $0.kind == .track }?.id == tracks[0])
  }

  @Test func `a station or playlist that is deleted is no favourite of a later one`() throws {
    let station = try StoredLists.addRadio(name: "FIP", uri: "http://fip/", bed.database)
    let list = try StoredLists.save("Mine", [], bed.database)
    try keep(.radio, station.id)
    try keep(.playlist, list.id)
    try StoredLists.removeRadio(station.id, bed.database)
    try StoredLists.removePlaylist(list.id, bed.database)
    _ = try StoredLists.addRadio(name: "FIP", uri: "http://fip/", bed.database)
    #expect(try titles().isEmpty)
  }

  @Test func `there is an end to favourites and to the history`() throws {
    let (tracks, _) = try makeAlbum()
    for number in 1...Keepsakes.favouriteLimit { try keep(.input, "\(number)") }
    #expect(throws: Refusal.self) { try keep(.track, tracks[0]) }
    #expect(try titles().count == Keepsakes.favouriteLimit)
    try bed.database.transaction { () throws(SQLiteError) in
      for number in 1...Keepsakes.playLimit {
        try bed.database.run(
          "INSERT INTO play (at, kind, key, title) VALUES (?, 'input', 'x', 'x')",
          SQLiteValue(number))
      }
    }
    for time in 1...3 { try play(.track, tracks[0], at: 20_000 + time) }
    let page = try Keepsakes.history(offset: 0, limit: 5, bed.database)
    #expect(page.count == Keepsakes.playLimit)
    #expect(page.plays.map(\.title) == ["Song", "Song", "Song", "x", "x"])
    let last = try Keepsakes.history(offset: page.count - 1, limit: 5, bed.database)
    #expect(last.plays.map(\.atS) == [4])
  }

  private func play(_ kind: LibraryThing.Kind, _ name: String, at time: Int) throws {
    try Keepsakes.note(
      .init(kind: kind, name: name, title: "Song", artist: nil, at: Int64(time)), bed.database)
  }

  @Test func `what was played lately is named once, as its album or station`() throws {
    let (tracks, album) = try makeAlbum()
    let station = try StoredLists.addRadio(name: "FIP", uri: "http://fip/", bed.database)
    try play(.track, tracks[0], at: 1)
    try play(.radio, "http://fip/", at: 2)
    try play(.input, "Turntable", at: 3)
    try play(.track, tracks[1], at: 4)
    try play(.radio, "http://nobody-has-kept-it/", at: 5)
    let recent = try Keepsakes.recent(limit: 9, bed.database)
    #expect(recent.map(\.id) == [album, "Turntable", station.id])
    #expect(recent.map(\.title) == ["Blues", "Turntable", "FIP"])
    #expect(recent.map(\.atS) == [4, 3, 2])
    #expect(try Keepsakes.recent(limit: 1, bed.database).map(\.id) == [album])
    let page = try Keepsakes.history(offset: 0, limit: 9, bed.database)
    #expect(page.plays.map(\.id) == [tracks[1], "Turntable", station.id, tracks[0]])
    #expect(page.plays.map(\.albumId) == [album, nil, nil, album])
    try Keepsakes.clearHistory(bed.database)
    #expect(try Keepsakes.recent(limit: 9, bed.database).isEmpty)
  }

  @Test func `favourites and the history are saved from a damaged file`() throws {
    let (tracks, album) = try makeAlbum()
    let list = try StoredLists.save("Mine", [], bed.database)
    _ = try StoredLists.save("Other", [], bed.database)
    try StoredLists.removePlaylist("p1", bed.database)
    try keep(.album, album)
    try keep(.track, tracks[1], at: 2)
    try keep(.playlist, "p2", at: 3)
    try play(.track, tracks[0], at: 7)
    let lists = UserLists(rescuedFrom: bed.database.path)
    #expect(
      list.id == "p1"
        && lists.sentence == "0 stations, 1 playlist, 0 podcasts and 3 favourites were")
    let fresh = try LibraryBed.open(bed.temporary.file("fresh.db"))
    try lists.write(to: fresh)
    bed.database = fresh
    #expect(try titles() == ["playlist Other"])
    try bed.scan()
    #expect(try titles() == ["playlist Other", "track Song 2", "album Blues"])
    #expect(try Keepsakes.recent(limit: 9, fresh).map(\.title) == ["Blues"])
  }

  @Test func `a file of an older version keeps its lists and is read once more`() throws {
    let (_, album) = try makeAlbum()
    try LibraryBed.makeOld(bed.database, version: 3)
    #expect(try LibrarySchema.prepare(bed.database))
    try keep(.album, album)
    try bed.scan()
    #expect(try titles() == ["album Blues"])
    let query = TrackQuery(order: .title, limit: 9)
    let tracks = try BrowsingQueries.tracks(query, bed.database)
    #expect(tracks.tracks.map(\.title) == ["Song 1", "Song 2"])
    let sort = try bed.database.prepare("SELECT min(sort) FROM track").first { $0.text(0) }
    #expect(sort == "song 1")
  }

  @Test func `a full disk keeps no favourite, and says so`() async throws {
    let (_, album) = try makeAlbum()
    let reader = try LibraryReader(path: bed.database.path, damaged: { _ in })
    _ = try await reader.answer { database in
      try database.prepare("PRAGMA max_page_count = 1").first { $0.int(0) }
    }
    func keep(_ name: String) async -> Refusal? {
      do throws(Refusal) {
        try await reader.answer { database in
          try Keepsakes.setFavourite(.input, name, to: true, at: 1, database)
        }
        return nil
      } catch {
        return error
      }
    }
    var refusal: Refusal?
    for number in 1...Keepsakes.favouriteLimit where refusal == nil {
      refusal = await keep("\(number) \(String(repeating: "x", count: 150))")
    }
    guard case .notKept(let line)? = refusal else { throw Missing(description: "refusal") }
    #expect(line.contains("full"))
    let kept = try Keepsakes.favourites(bed.database)
    #expect(kept.allSatisfy { $0.kind == .input } && !album.isEmpty)
  }
}
