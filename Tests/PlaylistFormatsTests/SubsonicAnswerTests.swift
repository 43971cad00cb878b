import Clock
import TestSupport
import Testing

@testable import PlaylistFormats

/// Tests of what servers of libraries answer, among them answers that somebody has made to do harm.
@Suite struct SubsonicAnswerTests {
  private func answer(_ text: String) throws -> SubsonicAnswer {
    try SubsonicAnswer(Array(text.utf8))
  }

  private func songs(_ songs: String) -> String {
    """
    {"subsonic-response": {"status": "ok", "version": "1.16.1", "openSubsonic": true,
     "searchResult3": {"song": [\(songs)]}}}
    """
  }

  private func reason(_ text: String) -> String? {
    do {
      _ = try answer(text)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func `a song has what its server says of it, as text or as number`() throws {
    let found = try answer(
      songs(
        """
        {"id": 7, "isDir": false, "title": "Sinnerman \\u0041", "album": "Pastel Blues", "albumId": "al-1",
         "artist": "Nina Simone", "displayAlbumArtist": "Various", "coverArt": "mf-7", "suffix": "FLAC",
         "genres": [{"name": "Jazz"}], "genre": "Soul", "path": "Nina/../Pastel Blues//07.flac",
         "track": 10, "discNumber": "2", "year": 1965, "duration": 620, "size": 12345678901,
         "created": "2024-02-29T12:00:01.5Z", "replayGain": {"title": "no", "trackGain": -1.5}}
        """))
    var song = ServedSong()
    (song.id, song.title, song.album, song.albumId) = ("7", "Sinnerman A", "Pastel Blues", "al-1")
    (song.artist, song.albumArtist, song.cover) = ("Nina Simone", "Various", "mf-7")
    (song.suffix, song.genre, song.folder) = ("flac", "Soul", "Nina/Pastel Blues")
    (song.track, song.disc, song.year, song.durationS) = (10, 2, 1_965, 620)
    (song.size, song.createdS) = (12_345_678_901, 1_709_208_001)
    #expect(found.songs == [song] && found.count == 1)
  }

  @Test func `what says too little, or nonsense, is left out, and counted`() throws {
    let found = try answer(
      songs(
        """
        {"id": "a", "size": -1, "year": 0, "duration": 1e400, "track": null, "created": "x", "suffix": "a/b"},
        {"title": "no id"}, {"id": "b", "isDir": true}, {"id": "c", "isVideo": true}, {"id": "\\n"}
        """))
    var song = ServedSong()
    song.id = "a"
    #expect(found.songs == [song] && found.count == 5)
    #expect(try answer(songs("")).count == 0)
    #expect(
      try answer("{\"subsonic-response\":{\"status\":\"ok\",\"searchResult3\":{}}}").count == 0)
  }

  @Test func `texts are cut, and identifiers that are too long leave out their songs`() throws {
    let long = String(repeating: "é", count: ServedSong.textLimit)
    let id = String(repeating: "x", count: ServedSong.idLimit)
    let path = (0..<20).map { "\($0)" }.joined(separator: "/")
    let found = try answer(
      songs(
        "{\"id\": \"\(id)\", \"title\": \"\(long)\", \"path\": \"\(path)\"}, {\"id\": \"\(id)x\"}"))
    #expect(found.songs.count == 1)
    #expect(found.songs[0].title.utf8.count == ServedSong.textLimit)
    #expect(found.songs[0].title.allSatisfy { $0 == "é" })
    #expect(found.songs[0].folder.split(separator: "/").count == ServedSong.depthLimit)
    let wide = Array(repeating: String(repeating: "x", count: 150), count: 4) + ["a.flac"]
    #expect(
      ServedSong.folder(ofPath: wide.joined(separator: "/")).utf8.count <= ServedSong.folderLimit)
  }

  @Test func `an answer has no more songs than were asked for`() throws {
    let many = (0...SubsonicAnswer.songLimit).map { "{\"id\": \"\($0)\"}" }
    let found = try answer(songs(many.joined(separator: ",")))
    #expect(found.songs.count == SubsonicAnswer.songLimit && found.count == many.count)
  }

  @Test(arguments: [
    (40, "refuses the user or the password (Wrong"), (41, "takes no tokens (Wrong"),
    (10, "set: login = password"), (50, "may not do this"), (70, "its error 70 (Wrong"),
  ])
  func `why a server refuses is said`(code: Int, words: String) {
    let text =
      "{\"subsonic-response\":{\"status\":\"failed\",\"error\":{\"code\":\(code),\"message\":\"Wrong\\u0007\"}}}"
    #expect(reason(text)?.contains(words) == true)
    #expect(reason(text)?.contains("\u{7}") == false)
  }

  @Test func `anything else is no answer`() {
    let nested = String(repeating: "[", count: 1_000_000)
    for text in [
      "", "{}", "<subsonic-response status=\"ok\"/>", "<html>", "[]", "\"ok\"", nested,
      "{\"subsonic-response\":{\"status\":\"ok\"", "{\"subsonic-response\":\(nested)",
      "{\"status\":\"ok\"}", "{\"subsonic-response\":{\"status\":\"failed\"}}",
    ] {
      #expect(
        reason(text)?.contains("no answer of a Subsonic server") == true, "\(text.prefix(40))")
    }
  }

  @Test func `a time is that of the calendar, or none`() {
    #expect(ServedSong.seconds("1970-01-01T00:00:00") == 0)
    #expect(ServedSong.seconds("2000-03-01 00:00:00.123456") == 951_868_800)
    #expect(ServedSong.seconds("2024-12-31T23:59:59+00:00") == 1_735_689_599)
    for text in ["", "2024", "2024-13-01T00:00:00", "9999-01-01T00:00:00", "a-b-cTd:e:f"] {
      #expect(ServedSong.seconds(text) == 0)
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `no bytes of an answer break what reads it`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let parts = [
      "{", "}", "[", "]", ",", ":", "\"subsonic-response\"", "\"song\"", "\"id\"", "\"x\"", "1",
      "\\u",
      "\"status\"", "\"ok\"", "\"", "true", "\"path\"", "\"a/../b\"", "\0",
    ]
    for _ in 0..<200 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        bytes +=
          Int.random(in: 0..<9, using: &random) > 0
          ? Array(random.element(parts).utf8) : random.bytes(Int.random(in: 0...4, using: &random))
      }
      let found = try? SubsonicAnswer(bytes)
      #expect(found?.songs.count ?? 0 <= SubsonicAnswer.songLimit)
    }
  }
}
