import House
import SQLiteStore
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of genres, composers, years, letters, all tracks and artists.
@Suite struct BrowsingTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  private func write(
    _ title: String, _ artist: String, _ album: String, _ year: Int, genre: String = "",
    composer: String = ""
  ) throws {
    var file = TaggedFile(title, artist: artist, album: album, date: "\(year)")
    file.tags += [("GENRE", genre), ("COMPOSER", composer)].filter { !$0.1.isEmpty }
    try bed.write(file, to: "\(artist)/\(album)/\(title).flac")
  }

  private func tags(_ kind: LibraryTag.Kind) throws -> [LibraryTag] {
    try BrowsingQueries.tags(kind, offset: 0, limit: 100, bed.database).tags
  }

  @Test func `genres and composers are those that files name, without regard to case`() throws {
    try write("1", "Nina", "Blues", 1965, genre: "Jazz; Soul", composer: "Bach, Johann Sebastian")
    try write("2", "Nina", "Blues", 1965, genre: "jazz")
    try write("3", "Miles", "Kind", 1959, genre: "JAZZ")
    try bed.scan()
    func genres() throws -> [String] { try tags(.genre).map { $0.name.lowercased() } }
    #expect(try genres() == ["jazz", "soul"])
    #expect(try tags(.genre).map(\.albumCount) == [2, 1])
    #expect(try tags(.genre).map(\.trackCount) == [3, 1])
    #expect(try tags(.composer).map(\.name) == ["Bach, Johann Sebastian"])
    let soul = try #require(try tags(.genre).last?.id)
    var albums = AlbumQuery(order: .title, limit: 9)
    albums.tagId = soul
    #expect(try LibraryQueries.albums(albums, bed.database).albums.map(\.title) == ["Blues"])
    let tracks = TrackQuery(order: .title, tagId: soul, limit: 9)
    #expect(try BrowsingQueries.tracks(tracks, bed.database).tracks.map(\.title) == ["1"])
    // A file that changes its genre leaves nothing behind.
    try write("1", "Nina", "Blues", 1965, genre: "Folk")
    try bed.scan()
    #expect(try genres() == ["folk", "jazz"])
    #expect(try tags(.composer).isEmpty)
    let first = try BrowsingQueries.tags(.genre, offset: 1, limit: 1, bed.database)
    #expect(first.count == 2 && first.tags.map { $0.name.lowercased() } == ["jazz"])
  }

  @Test func `a file that names many genres has a few`() throws {
    let names = (1...50).map { "g\($0)" }.joined(separator: ";")
    try write("1", "Nina", "Blues", 1965, genre: names + ";" + String(repeating: "x", count: 999))
    try write("2", "Nina", "Blues", 1965, genre: String(repeating: "y", count: 999))
    try bed.scan()
    #expect(try tags(.genre).count == 9)
    #expect(try tags(.genre).allSatisfy { $0.name.count <= 100 })
  }

  @Test func `years are counted, and each has its albums`() throws {
    try write("1", "Nina", "Blues", 1965)
    try write("2", "Miles", "Kind", 1959)
    try write("3", "Ella", "Live", 1965)
    try bed.scan()
    let years = try BrowsingQueries.years(bed.database)
    #expect(years == [.init(year: 1965, albumCount: 2), .init(year: 1959, albumCount: 1)])
    var query = AlbumQuery(order: .title, limit: 9)
    query.year = 1965
    #expect(
      try LibraryQueries.albums(query, bed.database).albums.map(\.title) == ["Blues", "Live"])
    #expect(
      try BrowsingQueries.letters(.albums(.year), bed.database)
        == [.init(letter: "1960s", offset: 0), .init(letter: "1950s", offset: 2)])
  }

  @Test func `letters lead to the first name of each, in every order`() throws {
    let artists = ["2Pac", "ABBA", "The Animals", "Émile", "Queen", "Яна"]
    for (number, artist) in artists.enumerated() {
      try write("Song \(number)", artist, "\(6 - number) title", 2000)
    }
    try bed.scan()
    func names(_ list: LetteredList) throws -> [String] {
      try BrowsingQueries.letters(list, bed.database).map { "\($0.letter)\($0.offset)" }
    }
    #expect(try names(.artists) == ["#0", "A1", "E3", "Q4", "Я5"])
    #expect(try names(.albums(.artist)) == ["#0", "A1", "E3", "Q4", "Я5"])
    #expect(try names(.albums(.title)) == ["#0"])
    #expect(try names(.albums(.added)).isEmpty)
    #expect(try names(.tracks) == ["S0"])
    let fifth = try LibraryQueries.artists(offset: 4, limit: 1, bed.database).artists
    #expect(fifth.map(\.name) == ["Queen"])
  }

  @Test func `an artist has albums by year, and is found on those of others`() throws {
    try write("1", "Nina", "Late", 1980)
    try write("2", "Nina", "Early", 1960)
    for artist in ["Nina", "Miles"] {
      try bed.write(
        TaggedFile(artist, artist: artist, album: "Hits", albumArtist: "Radio"),
        to: "Hits/\(artist).flac")
    }
    try bed.scan()
    let nina = try #require(try bed.track("1")?.artistId)
    let contents = try BrowsingQueries.artist(nina, bed.database)
    #expect(contents.artist.name == "Nina" && contents.trackCount == 3)
    #expect(contents.albums.map(\.title) == ["Early", "Late"])
    #expect(contents.appearsOn.map(\.title) == ["Hits"])
    let page = try BrowsingQueries.tracks(
      TrackQuery(order: .title, artistId: nina, offset: 1, limit: 1), bed.database)
    #expect(page.count == 3 && page.tracks.map(\.title) == ["2"])
    #expect(throws: Refusal.self) { try BrowsingQueries.artist("r99", bed.database) }
    #expect(throws: Refusal.self) { try BrowsingQueries.artist("a1", bed.database) }
  }

  @Test func `all tracks are in the order of their titles, without those that are gone`() throws {
    for title in ["Zebra", "An apple", "The Bee", "Éclair"] { try write(title, "A", "B", 2000) }
    try bed.scan()
    try bed.remove("A/B/Zebra.flac")
    try bed.scan()
    let page = try BrowsingQueries.tracks(TrackQuery(order: .title, limit: 9), bed.database)
    #expect(page.count == 3 && page.tracks.map(\.title) == ["An apple", "The Bee", "Éclair"])
    let newest = try BrowsingQueries.tracks(TrackQuery(order: .added, limit: 1), bed.database)
    #expect(newest.count == 3 && newest.tracks.count == 1)
  }
}
