import ExpatFeeds
import House
import SQLiteStore
import Sender
import Service
import TestSupport
import Testing

@testable import Library

@Suite struct SearchTests {
  private let bed: LibraryBed

  init() throws {
    bed = try LibraryBed()
    let all = [
      ("Ménage à trois", "Léo Ferré", "Été"), ("Love Me Do", "The Beatles", "Please Please Me"),
      ("All You Need Is Love", "The Beatles", "Yellow Submarine"), ("Жизнь", "Кино", "Ночь"),
    ]
    for (place, (title, artist, album)) in all.enumerated() {
      try bed.write(
        TaggedFile(title, artist: artist, album: album, albumArtist: artist),
        to: "\(place)/\(place).flac")
    }
    try bed.scan()
  }

  @Test(arguments: [
    ("menage", "Ménage à trois"), ("FERRÉ", "Ménage à trois"), ("ete", "Ménage à trois"),
    ("beat need", "All You Need Is Love"), ("submar", "All You Need Is Love"),
    ("жиз", "Жизнь"), ("кино", "Жизнь"), ("love me d", "Love Me Do"),
  ])
  func `beginnings of words find a track, without regard to accents and case`(
    text: String, title: String
  ) throws {
    #expect(try bed.search(text).tracks.map(\.title) == [title])
  }

  @Test func `titles that begin with it come first`() throws {
    #expect(try bed.search("love").tracks.map(\.title) == ["Love Me Do", "All You Need Is Love"])
    #expect(try bed.search("l").tracks.first?.title == "Love Me Do")
  }

  @Test func `albums, artists, stations and playlists are found by their names`() throws {
    _ = try StoredLists.addRadio(name: "FIP Été", uri: "http://radio/fip", bed.database)
    _ = try StoredLists.save("Summer love", [], bed.database)
    #expect(try bed.search("ete").albums.map(\.title) == ["Été"])
    #expect(try bed.search("ete").radios.map(\.name) == ["FIP Été"])
    #expect(try bed.search("beatles").artists.map(\.name) == ["The Beatles"])
    #expect(try bed.search("beatles").albums.count == 2)
    #expect(try bed.search("summer").playlists.map(\.name) == ["Summer love"])
  }

  @Test func `podcasts are found by the beginnings of words of their titles`() throws {
    var feed = PodcastFeed()
    feed.title = "The Wéekly Show"
    let reading = Podcasts.Reading(feed: feed, reach: .network)
    _ = try Podcasts.add("http://a/feed", reach: .network, reading, at: 1, bed.database)
    for text in ["weekly", "SHO wee", "the"] {
      #expect(try bed.search(text).podcasts.map(\.title) == ["The Wéekly Show"], "\(text)")
    }
    for text in ["eekly", "weekly love"] { #expect(try bed.search(text).podcasts.isEmpty) }
    #expect(try SearchQuery("the")?.result(bed.database, limit: 0).podcasts.isEmpty == true)
  }

  @Test(arguments: [
    "", "  ", "\"", "*", "a\"b*", "NEAR(", "title:", "^", "OR", "-", "'; DROP", "😀",
  ])
  func `nothing that is typed is an error`(text: String) throws {
    _ = try bed.search(text)
    #expect(try bed.search(String(repeating: "a ", count: 5_000)).tracks.isEmpty == false)
  }
}
