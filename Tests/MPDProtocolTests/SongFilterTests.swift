import MPDProtocol
import Testing

@Suite struct SongFilterTests {
  private static func song(
    _ uri: String, title: String, artist: String?, year: Int? = nil, genres: [String] = []
  ) -> Song {
    var song = Song(uri: uri)
    (song.title, song.artist, song.year, song.genres) = (title, artist, year, genres)
    (song.durationS, song.modifiedS) = (60.4, 1_700_000_000)
    return song
  }

  private static let songs = [
    song("Aurora/1.flac", title: "Runaway", artist: "Aurora", year: 2016, genres: ["Pop", "Folk"]),
    song("Aurora/2.flac", title: "Conqueror", artist: "Aurora", year: 2016),
    song("Bach/1.flac", title: "Aria", artist: "Bach", year: 1955, genres: ["Classical"]),
    song("Björk/1.flac", title: "It's \"Oh\" So Quiet", artist: "Björk", year: 1995),
    song("loose.flac", title: "Loose", artist: nil),
  ]

  private func found(_ arguments: String..., isSearch: Bool = false) throws -> [String] {
    let filter = try SongFilter(arguments, isSearch: isSearch)
    return Self.songs.filter { filter.matches($0) }.map(\.uri)
  }

  @Test func `old filters match whole values, or parts in whatever case`() throws {
    #expect(try found("Artist", "Aurora") == ["Aurora/1.flac", "Aurora/2.flac"])
    #expect(try found("artist", "aurora") == [])
    #expect(try found("artist", "AURO", isSearch: true) == ["Aurora/1.flac", "Aurora/2.flac"])
    #expect(try found("any", "ARIA", isSearch: true) == ["Bach/1.flac"])
    #expect(try found("artist", "bjork", isSearch: true) == [])
    #expect(try found("artist", "Aurora", "title", "Runaway") == ["Aurora/1.flac"])
    #expect(try found("date", "200") == [])
    #expect(try found("albumartist", "Bach") == ["Bach/1.flac"])
    #expect(try found("artist", "") == ["loose.flac"])
    #expect(try found("genre", "Folk") == ["Aurora/1.flac"])
    #expect(try found("performer", "x") == [])
    #expect(try found("base", "Aurora") == ["Aurora/1.flac", "Aurora/2.flac"])
  }

  @Test func `expressions are read with their quotes, and negated and joined`() throws {
    #expect(try found("(artist == 'Bach')") == ["Bach/1.flac"])
    #expect(
      try found("((artist == \"Aurora\") AND (!(title == \"Runaway\")))") == ["Aurora/2.flac"])
    #expect(try found("(title == \"It's \\\"Oh\\\" So Quiet\")") == ["Björk/1.flac"])
    #expect(try found("(artist != \"Aurora\")").count == 3)
    #expect(try found("(title contains \"un\")") == ["Aurora/1.flac"])
    #expect(try found("(base 'Bach')") == ["Bach/1.flac"])
    #expect(try found("(modified-since \"2023-11-14T22:13:20Z\")").count == 5)
    #expect(try found("(modified-since \"2023-11-14T22:13:21Z\")").isEmpty)
    #expect(try found("(modified-since \"2023-11-14\")").count == 5)
    #expect(try found("(modified-since \"2023-11-15\")").isEmpty)
    #expect(try found("(any contains \"run\")", isSearch: true) == ["Aurora/1.flac"])
  }

  @Test func `what is no filter is refused with the words of the protocol`() {
    func refusal(_ arguments: String...) -> String? {
      do {
        _ = try SongFilter(arguments, isSearch: false)
        return nil
      } catch {
        return (error as Ack).text
      }
    }
    #expect(refusal("artist") == "Incorrect number of filter arguments")
    #expect(refusal("foo", "x") == "Unknown filter type: foo")
    #expect(refusal("(foo == 'x')") == "Unknown filter type: foo")
    #expect(refusal("(artist == 'x') extra") == "Unparsed garbage after expression")
    #expect(refusal("(artist == 'x'") == "')' expected")
    #expect(refusal("(artist == 'x") == "Closing quote not found")
    #expect(refusal("(artist == x)") == "Quoted string expected")
    #expect(refusal("(artist =~ 'x')")?.hasPrefix("Regular expressions") == true)
    #expect(refusal("(base '../x')") == "Bad URI")
  }

  @Test func `filters are neither deeper nor longer than their limits`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "(!", count: depth - 1) + "(artist == 'x')"
        + String(repeating: ")", count: depth - 1)
    }
    _ = try SongFilter([nested(SongFilter.depthLimit)], isSearch: false)
    #expect(throws: Ack.self) {
      try SongFilter([nested(SongFilter.depthLimit + 1)], isSearch: false)
    }
    let part = "(artist == 'x')"
    func joined(_ count: Int) -> String {
      "(" + Array(repeating: part, count: count).joined(separator: " AND ") + ")"
    }
    // The brackets around all of them are one part.
    _ = try SongFilter([joined(SongFilter.partLimit - 1)], isSearch: false)
    #expect(throws: Ack.self) { try SongFilter([joined(SongFilter.partLimit)], isSearch: false) }
  }

  @Test func `window and sort are taken from the end`() throws {
    var arguments = ["artist", "Aurora", "sort", "-title", "window", "0:1"]
    let order = try SongOrder(takenFrom: &arguments)
    #expect(arguments == ["artist", "Aurora"])
    #expect(order.applied(to: Self.songs).map(\.uri) == ["Aurora/1.flac"])
    var wrong = ["artist", "x", "sort", "nonsense"]
    #expect(throws: Ack.argument("Unknown sort tag")) { try SongOrder(takenFrom: &wrong) }
  }

  @Test func `groups come sorted, the last one outermost`() {
    var tree = TagTree(.title, groups: [.albumArtist, .date])
    for song in Self.songs { tree.add(song) }
    var reply = Reply()
    tree.write(to: &reply)
    #expect(
      String(decoding: reply.bytes, as: UTF8.self) == """
        Date: \nAlbumArtist: \nTitle: Loose
        Date: 1955\nAlbumArtist: Bach\nTitle: Aria
        Date: 1995\nAlbumArtist: Björk\nTitle: It's "Oh" So Quiet
        Date: 2016\nAlbumArtist: Aurora\nTitle: Conqueror\nTitle: Runaway

        """)
  }

  @Test func `a list of values has an end`() {
    var tree = TagTree(.title, groups: [])
    for number in 0...TagTree.limit {
      tree.add(Self.song("x", title: "\(number)", artist: nil))
    }
    var reply = Reply()
    tree.write(to: &reply)
    #expect(reply.bytes.count { $0 == 0x0a } == TagTree.limit)
  }

  @Test func `a song is written with whole and exact times, and in single lines`() {
    var song = Self.songs[0]
    song.title = "Run\naway"
    var reply = Reply()
    song.write(to: &reply, tags: [.title])
    #expect(
      String(decoding: reply.bytes, as: UTF8.self)
        == "file: Aurora/1.flac\nLast-Modified: 2023-11-14T22:13:20Z\nTitle: Run away\n"
        + "Time: 60\nduration: 60.400\n")
  }

  @Test func `an answer has an end, and is refused beyond it`() {
    var reply = Reply()
    let line = String(repeating: "x", count: 1 << 20)
    for _ in 0..<9 { reply.pair("a", line) }
    #expect(throws: Ack.self) { try reply.check() }
    #expect(reply.bytes.count <= Reply.limit + line.utf8.count + 8)
    reply.cut(to: 0)
    #expect(throws: Never.self) { try reply.check() }
  }
}
