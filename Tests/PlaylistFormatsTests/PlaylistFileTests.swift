import Clock
import Sender
import TestSupport
import Testing

@testable import PlaylistFormats

@Suite struct PlaylistFileTests {
  private func locations(
    _ text: String, _ name: String, base: String? = nil
  ) throws(PlaylistFile.ParseError) -> [String] {
    try PlaylistFile.entries(
      in: Array(text.utf8), format: PlaylistFile.format(ofName: name) ?? .m3u,
      base: base ?? "/music/" + name
    ).map(\.location)
  }

  private func titles(_ text: String, _ format: PlaylistFile.Format) throws -> [String?] {
    try PlaylistFile.entries(in: Array(text.utf8), format: format, base: "/music/x").map(\.title)
  }

  @Test func `a list is known by its name`() {
    #expect(PlaylistFile.format(ofName: "a.M3U") == .m3u)
    #expect(PlaylistFile.format(ofName: "http://x/a.pls?x=1.mp3") == .pls)
    #expect(PlaylistFile.format(ofName: "a.b.xspf") == .xspf)
    #expect(PlaylistFile.format(ofName: "a.json") == .json)
    #expect(PlaylistFile.format(ofName: "a.flac") == nil)
    #expect(PlaylistFile.format(ofName: "m3u") == nil)
  }

  @Test func `M3U: comments are passed over, line ends are of any kind`() throws {
    let text =
      "\u{FEFF}#EXTM3U\r\n#EXTINF:5,One\r\n 1.mp3 \r\n\r\nsub/2.mp3\n/abs/3.mp3\nhttp://h/4"
    let expected = ["/music/1.mp3", "/music/sub/2.mp3", "/abs/3.mp3", "http://h/4"]
    #expect(try locations(text, "a.m3u") == expected)
    #expect(try locations("sub\\1.mp3", "a.m3u") == ["/music/sub/1.mp3"])
    #expect(try locations("1.mp3", "a.m3u", base: "a.m3u") == ["1.mp3"])
  }

  @Test func `an HLS stream is not a list`() {
    #expect(throws: PlaylistFile.ParseError.stream) {
      try locations("#EXTM3U\n#EXT-X-TARGETDURATION:5\n1.ts", "a.m3u8")
    }
  }

  @Test func `PLS: the numbers give the order`() throws {
    let text = "[playlist]\nFile2=b.mp3\nTitle1=One\nfile1 = http://h/a\nFile10=c.mp3\nVersion=2\n"
    #expect(try locations(text, "a.pls") == ["http://h/a", "/music/b.mp3", "/music/c.mp3"])
    #expect(throws: PlaylistFile.ParseError.malformed(line: 1, expected: "[playlist]")) {
      try locations("<html>", "a.pls")
    }
  }

  @Test func `XSPF: the first location of each track`() throws {
    let text = """
      <?xml version="1.0"?><!-- <track><location>no</location></track> -->
      <x:playlist xmlns:x="u"><location>list.xspf</location><trackList>
      <track id="1"><title>A</title><location> a&amp;b&#233;&#x41;.mp3 </location>
      <location>other.mp3</location></track>
      <track><location>d%20e.mp3</location></track>
      <track><location><![CDATA[c<d.mp3]]></location></track>
      <track><title>none</title></track><track><location/></track>
      <track><location>file:///x/a%20b%zz.mp3</location></track>
      """
    // The root element of the list has a prefix.
    #expect(throws: PlaylistFile.ParseError.self) { try locations(text, "a.xspf") }
    let plain = text.replacing("x:playlist", with: "playlist")
    let expected = ["/music/a&béA.mp3", "/music/d e.mp3", "/music/c<d.mp3", "/x/a b%zz.mp3"]
    #expect(try locations(plain, "a.xspf") == expected)
  }

  @Test func `M3U: a title belongs to the location below it`() throws {
    let text = """
      #EXTM3U
      #EXTINF:123, Nina Simone - Sinnerman, live
      1.mp3
      2.mp3
      #EXTINF:-1 group-title="a, b",Station
      # a comment
      http://h/3
      #EXTINF:7
      4.mp3
      #EXTINF:7,
      5.mp3
      """
    #expect(try titles(text, .m3u) == ["Nina Simone - Sinnerman, live", nil, "Station", nil, nil])
  }

  @Test func `M3U: a station's logo belongs to the location below it`() throws {
    let text = """
      #EXTINF:-1 tvg-id="x" tvg-logo="http://h/a.png?b=1" group-title="News",One
      http://h/1
      http://h/2
      #EXTINF:-1 tvg-logo="",Three
      http://h/3
      #EXTINF:-1 tvg-logo="http://h/open
      http://h/4
      """
    let found = try PlaylistFile.entries(in: Array(text.utf8), format: .m3u, base: "a.m3u")
    #expect(found.map(\.picture) == ["http://h/a.png?b=1", nil, nil, "http://h/open"])
    #expect(found.map(\.title) == ["One", nil, "Three", nil])
  }

  @Test func `XSPF: a track's picture is its own`() throws {
    let text = """
      <playlist><image>http://h/list.png</image><trackList>
      <track><location>http://h/1</location><image> http://h/a.png </image></track>
      <track><location>http://h/2</location></track></trackList></playlist>
      """
    let found = try PlaylistFile.entries(in: Array(text.utf8), format: .xspf, base: "a.xspf")
    #expect(found.map(\.picture) == ["http://h/a.png", nil])
  }

  @Test func `PLS: a title belongs to the location of its number`() throws {
    let text = "[playlist]\nTitle2=B = b\nFile1=a\nFile2=b\ntitle3 = C\nFile3=c\nLength1=-1\n"
    #expect(try titles(text, .pls) == [nil, "B = b", "C"])
  }

  @Test func `XSPF: a title belongs to its track, wherever it stands in it`() throws {
    let text = """
      <playlist><title>The list</title><trackList>
      <track><title> Rock &amp; <![CDATA[<Roll>]]> </title><location>1</location></track>
      <track><location>2</location><title>Two</title></track>
      <track><location>3</location></track><track><title>none</title></track>
      <track><location>4</location><title/>
      """
    #expect(try titles(text, .xspf) == ["Rock & <Roll>", "Two", nil, nil])
  }

  @Test func `a title in Latin-1 is shown as such`() throws {
    let list: [UInt8] = Array("#EXTINF:1,F".utf8) + [0xfc] + Array("r\na.mp3\n".utf8)
    let found = try PlaylistFile.entries(in: list, format: .m3u, base: "a.m3u")
    #expect(found.map(\.title) == ["Für"])
  }

  @Test func `JSON: strings and objects, alone or in an object`() throws {
    #expect(try locations("[\"a.mp3\", \"/b\\u00e9\\n\"]", "a.json") == ["/music/a.mp3", "/bé\n"])
    let text = """
      {"name": "x", "version": 1.5e3, "items": [{"title": "A", "url": "http://h/a"}, "b.mp3",
       {"path": "\\ud83d\\ude00.mp3", "tags": {"rating": null, "ok": true}}]}
      """
    #expect(try locations(text, "a.json") == ["http://h/a", "/music/b.mp3", "/music/😀.mp3"])
    let tagged = "{\"items\": [{\"url\": \"a.mp3\", \"tags\": [\"slow\", \"live\"]}, \"b.mp3\"]}"
    #expect(try locations(tagged, "a.json") == ["/music/a.mp3", "/music/b.mp3"])
    #expect(throws: PlaylistFile.ParseError.malformed(line: 2, expected: ", or ]")) {
      try locations("[\"a\"\n\"b\"]", "a.json")
    }
    for text in ["", "[", "\"x", "[\"\\u12\"]", "{\"a\" 1}", "[1,]", "[] []", "nul\u{1F}l"] {
      #expect(throws: PlaylistFile.ParseError.self) { try locations(text, "a.json") }
    }
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: PlaylistFile.ParseError.malformed(line: 1, expected: "less nesting")) {
      try locations(deep, "a.json")
    }
  }

  @Test func `entries of a list on the network lie beside it`() throws {
    let base = "https://host:8/a/b/list.m3u?x=/y"
    let text = "1.mp3\n/2.mp3\n//other/3.mp3\nhttp://h/4.mp3"
    let expected = [
      "https://host:8/a/b/1.mp3", "https://host:8/2.mp3", "https://other/3.mp3", "http://h/4.mp3",
    ]
    #expect(try locations(text, "a.m3u", base: base) == expected)
    #expect(try locations("1.mp3", "a.m3u", base: "http://h") == ["http://h/1.mp3"])
  }

  @Test func `size, entries and emptiness are told`() {
    let large = [UInt8](repeating: 65, count: PlaylistFile.sizeLimit + 1)
    #expect(throws: PlaylistFile.ParseError.tooLarge(bytes: large.count)) {
      try PlaylistFile.entries(in: large, format: .m3u, base: "a")
    }
    #expect(throws: PlaylistFile.ParseError.tooManyEntries) {
      try locations(String(repeating: "a\n", count: 20_001), "a.m3u")
    }
    for name in ["a.m3u", "a.json"] {
      #expect(throws: PlaylistFile.ParseError.empty) {
        try locations(name == "a.m3u" ? "#\n\n" : "[]", name)
      }
    }
  }

  @Test(arguments: [PlaylistFile.Format.m3u, .pls, .xspf, .json])
  func `no bytes stop the reader`(format: PlaylistFile.Format) {
    let words = [
      "<", ">", "</track>", "<track>", "<location>", "&#", ";", "&amp", "]]>", "<![CDATA[", "{",
      "}",
      "[", "]", "\"", "\\u", "d83d", ",", ":", "File1=", "[playlist]", "\n", "#EXT", "x", "<!--",
      "<playlist", "#EXTINF:", "Title1=", "<title>", "</title>",
    ]
    for seed in UInt64(1)...300 {
      var random = SplitMix64(seed: seed)
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        bytes += Array((words.randomElement(using: &random) ?? "").utf8)
        if Bool.random(using: &random) { bytes.append(UInt8.random(in: 0...255, using: &random)) }
      }
      _ = try? PlaylistFile.entries(in: bytes, format: format, base: "/a/b")
    }
  }

  @Test func `a list in Latin-1 names files in Latin-1`() throws {
    let list: [UInt8] = Array("#EXTM3U\n".utf8) + [0x46, 0xfc, 0x72, 0x0a]
    let found = try PlaylistFile.entries(in: list, format: .m3u, base: "/music/a.m3u")
    #expect(
      found.map { FileName.bytes(of: $0.location) }
        == [(Array("/music/F".utf8) + [0xfc, 0x72, 0]).map { CChar(bitPattern: $0) }])
  }
}
