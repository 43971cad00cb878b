import House
import SQLiteStore
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of grouping tracks into albums, and of the order of lists.
@Suite struct AlbumTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  @Test func `two discs in folders of their own are one album, in order`() throws {
    for disc in 1...2 {
      for track in 1...2 {
        try bed.write(
          TaggedFile(
            "\(disc).\(track)", artist: "Fleetwood Mac", album: "Live", track: track, disc: disc),
          to: "Live/CD \(disc)/0\(track).flac")
      }
    }
    try bed.scan()
    let albums = try bed.albums()
    #expect(albums.count == 1 && albums.first?.trackCount == 4)
    let id = try #require(albums.first?.id)
    let contents = try LibraryQueries.album(id, bed.database)
    #expect(contents.tracks.map(\.title) == ["1.1", "1.2", "2.1", "2.2"])
    let entries = try QueueEntries.of(.album(id), bed.folders, bed.database)
    #expect(entries.map(\.title) == ["1.1", "1.2", "2.1", "2.2"])
    #expect(entries.first?.location == bed.path("Live/CD 1/01.flac"))
    #expect(entries.first?.trackId == contents.tracks.first?.id)
  }

  @Test func `files that name no album are one of their folder, with their own pictures`() throws {
    var first = TaggedFile("First", artist: "Ella")
    first.picture = [0xff, 0xd8, 0xff, 0xe0, 1]
    var second = TaggedFile("Second", artist: "Billie")
    second.picture = [0xff, 0xd8, 0xff, 0xe0, 2]
    try bed.write(first, to: "Mixed tape/CD1/1.flac")
    try bed.write(second, to: "Mixed tape/CD2/2.flac")
    try bed.write(TaggedFile("Third", artist: "Ella"), to: "3.flac")
    try bed.write(TaggedFile("Named", artist: "Ella", album: "Mixed tape"), to: "Mixed tape/4.flac")
    try bed.scan()
    #expect(try bed.albums().map(\.title) == ["Mixed tape", "Music", "Mixed tape"])
    #expect(try bed.albums().map(\.trackCount) == [1, 1, 2])
    #expect(try bed.albums().map(\.artist) == ["Ella", "Ella", "Various artists"])
    #expect(try bed.track("First")?.album == nil)
    let pictures = try bed.tracks().compactMap(\.artwork)
    #expect(Set(pictures).count == 2)
    let artists = try LibraryQueries.artists(offset: 0, limit: 9, bed.database).artists
    #expect(artists.map(\.name) == ["Billie", "Ella", "Various artists"])
  }

  @Test func `files that an older version gave no album get one by the next scan`() throws {
    try bed.write(TaggedFile("First"), to: "Tape/1.flac")
    try bed.scan()
    try bed.database.execute("UPDATE track SET album_id = NULL; DELETE FROM album")
    try bed.scan()
    #expect(try bed.albums().isEmpty)
    try LibraryBed.makeOld(bed.database, version: 2)
    #expect(try LibrarySchema.prepare(bed.database))
    try bed.scan()
    #expect(try bed.albums().map(\.title) == ["Tape"])
  }

  @Test func `a compilation is one album, by its artist or by various`() throws {
    for (track, artist) in ["Prince", "Madonna"].enumerated() {
      try bed.write(
        TaggedFile("\(track)", artist: artist, album: "Hits", albumArtist: "Radio"),
        to: "Hits/\(track).flac")
      try bed.write(
        TaggedFile("\(track)", artist: artist, album: "Mix"), to: "Mix/\(track).flac")
    }
    try bed.scan()
    let albums = try bed.albums()
    #expect(albums.map(\.title) == ["Hits", "Mix"])
    #expect(albums.map(\.artist) == ["Radio", "Various artists"])
    #expect(albums.map(\.trackCount) == [2, 2])
    let artists = try LibraryQueries.artists(offset: 0, limit: 9, bed.database).artists
    #expect(artists.map(\.name) == ["Radio", "Various artists"])
  }

  @Test func `guests leave an album to the artist of most of its tracks`() throws {
    let albums = [
      "Debut": ["Björk", "Björk, FEAT. Anna", "Björk (feat. Ben)", "Anna"],
      "Sailin": ["Little Feat and Friends"],
      "Split": ["Anna", "Ben", "Anna feat. Ben", "Ben"], "Lonely": ["Anna", nil, nil],
      "Guests": ["Cleo ft. Anna", "Cleo Featuring Ben"], "Nobody": [nil],
    ]
    for (album, artists) in albums {
      for (track, artist) in artists.enumerated() {
        try bed.write(
          TaggedFile("\(track)", artist: artist, album: album), to: "\(album)/\(track).flac")
      }
    }
    try bed.scan()
    #expect(
      try bed.albums().map { "\($0.title): \($0.artist ?? "")" } == [
        "Nobody: ", "Lonely: Anna", "Debut: Björk", "Guests: Cleo",
        "Sailin: Little Feat and Friends", "Split: Various artists",
      ])
    // A library of an older version is brought up to that by the next scan.
    try bed.database.execute("UPDATE album SET artist_name = 'Various artists'")
    try LibraryBed.makeOld(bed.database, version: 8)
    #expect(try LibrarySchema.prepare(bed.database))
    try bed.scan()
    #expect(try bed.albums().filter { $0.artist == "Various artists" }.map(\.title) == ["Split"])
  }

  @Test func `albums with the same title by different artists are two`() throws {
    for artist in ["ABBA", "Queen"] {
      try bed.write(
        TaggedFile("x", artist: artist, album: "Gold", albumArtist: artist),
        to: "\(artist)/Gold/1.flac")
      try bed.write(
        TaggedFile("x", artist: artist, album: "Best of"), to: "best \(artist)/1.flac")
    }
    try bed.scan()
    #expect(try bed.albums().map(\.title) == ["Best of", "Gold", "Best of", "Gold"])
    #expect(try bed.albums().map(\.artist) == ["ABBA", "ABBA", "Queen", "Queen"])
  }

  @Test func `albums come by artist, title, year and newness, in pages`() throws {
    let all = [("The Zombies", "Odessey", 1968), ("Änglar", "Zeta", 2001), ("beck", "Alpha", 1994)]
    for (artist, title, year) in all {
      try bed.write(
        TaggedFile("x", artist: artist, album: title, albumArtist: artist, date: "\(year)"),
        to: "\(title)/1.flac")
      try bed.scan()
    }
    func titles(_ order: AlbumQuery.Order, from offset: Int = 0) throws -> [String] {
      let query = AlbumQuery(order: order, offset: offset, limit: 2)
      let page = try LibraryQueries.albums(query, bed.database)
      #expect(page.count == 3)
      return page.albums.map(\.title)
    }
    #expect(try titles(.artist) == ["Zeta", "Alpha"])
    #expect(try titles(.artist, from: 2) == ["Odessey"])
    #expect(try titles(.title) == ["Alpha", "Odessey"])
    #expect(try titles(.year) == ["Zeta", "Alpha"])
    try bed.database.execute("UPDATE album SET added = CASE title WHEN 'Odessey' THEN 9 ELSE 1 END")
    #expect(try titles(.added).first == "Odessey")
    let artist = try #require(try bed.albums().first?.artistId)
    let query = AlbumQuery(order: .title, artistId: artist, limit: 9)
    #expect(try LibraryQueries.albums(query, bed.database).albums.map(\.title) == ["Zeta"])
  }

  @Test func `an artist plays by year, a folder in its natural order`() throws {
    for (title, year, name) in [("late", 1990, "2"), ("early", 1970, "10")] {
      try bed.write(
        TaggedFile(title, artist: "Nina", album: title, albumArtist: "Nina", date: "\(year)"),
        to: "Nina/\(name)/1.flac")
    }
    try bed.write(TaggedFile("guest", artist: "Nina"), to: "Other/1.flac")
    try bed.scan()
    let artist = try #require(try bed.track("late")?.artistId)
    let played = try QueueEntries.of(.artist(artist), bed.folders, bed.database)
    #expect(played.map(\.title) == ["early", "late", "guest"])
    let folder = try QueueEntries.of(.folder("Music/Nina"), bed.folders, bed.database)
    #expect(folder.map(\.title) == ["late", "early"])
    #expect(throws: (any Error).self) {
      try QueueEntries.of(.folder("Music/None"), bed.folders, bed.database)
    }
  }
}
