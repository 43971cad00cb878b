import Testing

@testable import ExpatFeeds

/// Tests of feeds, among them those that somebody has made to do harm.
@Suite struct PodcastFeedTests {
  private func feed(_ text: String) throws -> PodcastFeed { try PodcastFeed(Array(text.utf8)) }

  private func item(_ number: Int, _ more: String = "") -> String {
    """
    <item><title>No. \(number)</title><guid>g\(number)</guid>\(more)
    <enclosure url="http://a.example/\(number).mp3" type="audio/mpeg" length="1"/></item>
    """
  }

  private func rss(_ items: String) -> String {
    "<?xml version='1.0'?><rss><channel><title>Daily</title>\(items)</channel></rss>"
  }

  private func fault(_ text: String) -> String? { fault(Array(text.utf8)) }

  private func fault(_ bytes: [UInt8]) -> String? {
    do throws(PodcastFeed.Fault) {
      _ = try PodcastFeed(bytes)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `RSS with the names of iTunes is read`() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
        <image><title>The picture</title><url>http://a.example/p.png</url></image>
        <title> Wind &amp;
          Weather </title><itunes:title>Other</itunes:title>
        <item>
          <title><![CDATA[One <b>& two]]></title><itunes:title>One</itunes:title>
          <guid isPermaLink="false"> g-1 </guid><link>http://a.example/1</link>
          <pubDate>Tue, 10 Jun 2003 04:00:00 +0200</pubDate>
          <itunes:duration>1:02:03</itunes:duration>
          <enclosure url=" http://a.example/1.mp3?x=1&amp;y=2 " length="5" type="audio/mpeg" />
        </item>
        <item><title>Words alone</title><guid>g-2</guid></item>
        <item><title>A film</title><enclosure url="http://a.example/f.mp4" type="video/mp4"/></item>
        <item><title>Nameless</title>
          <enclosure url="http://a.example/3.M4A?t=1" type=""/></item>
      </channel></rss>
      """
    let found = try feed(text)
    #expect(found.title == "Wind & Weather")
    #expect(found.picture == "http://a.example/p.png")
    #expect(found.episodes.map(\.title) == ["One <b>& two", "Nameless"])
    #expect(found.episodes.map(\.guid) == ["g-1", "http://a.example/3.M4A?t=1"])
    #expect(found.episodes[0].address == "http://a.example/1.mp3?x=1&y=2")
    #expect(found.episodes[0].publishedS == 1_055_210_400)
    #expect(found.episodes.map(\.durationS) == [3_723, nil])
  }

  @Test(arguments: [
    ("<image><url>http://a.example/small.png</url></image><itunes:image href=' http://a.example/p.png '/>"),
    ("<itunes:image href='http://a.example/p.png'/><image><url>http://a.example/small.png</url></image>"),
    ("<image><url>http://a.example/p.png</url></image><itunes:image/>"),
  ])
  func `the picture of iTunes is the larger one`(elements: String) throws {
    #expect(try feed(rss(elements)).picture == "http://a.example/p.png")
  }

  @Test func `pictures of episodes, and addresses that are too long, are none of the feed`() throws
  {
    let long = "http://a.example/" + String(repeating: "x", count: PodcastFeed.addressLimit)
    let elements = """
      <itunes:image href="\(long)"/><image><url>\(long)</url></image>
      \(item(1, "<itunes:image href='http://a.example/1.png'/><image><url>u</url></image>"))
      """
    let found = try feed(rss(elements))
    #expect(found.picture == nil && found.episodes.count == 1)
  }

  @Test func `the logo of a feed in Atom is its picture`() throws {
    let text = """
      <feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><logo>http://a.example/l.png</logo>
      <entry><logo>http://a.example/e.png</logo></entry></feed>
      """
    #expect(try feed(text).picture == "http://a.example/l.png")
  }

  @Test func `Atom is read`() throws {
    let found = try feed(
      """
      <feed xmlns="http://www.w3.org/2005/Atom"><title>Talk</title><id>f</id>
        <entry><title>Old</title><id>a</id><updated>2004-02-29T23:59:60Z</updated>
          <link rel="alternate" href="http://a.example/a"/>
          <link rel="enclosure" type="audio/ogg" href="http://a.example/a.ogg"/></entry>
        <entry><title>New</title><id>b</id><published>2024-03-01T01:30:00.5-05:30</published>
          <link rel="enclosure" href="http://a.example/b.opus"/></entry>
      </feed>
      """)
    #expect(found.title == "Talk" && found.episodes.map(\.title) == ["New", "Old"])
    #expect(found.episodes.map(\.publishedS) == [1_709_276_400, 1_078_099_200])
  }

  @Test func `the newest episodes are kept, whatever the order of the feed`() throws {
    let count = 3 * PodcastFeed.episodeLimit + 7
    let items = (0..<count).map { number in
      item(number, "<pubDate>\(1 + number % 28) Jan \(1_970 + number / 28) 00:00 GMT</pubDate>")
    }
    for text in [items.joined(), items.reversed().joined()] {
      let found = try feed(rss(text)).episodes
      #expect(found.count == PodcastFeed.episodeLimit)
      #expect(found.first?.guid == "g\(count - 1)")
      #expect(found.last?.guid == "g\(count - PodcastFeed.episodeLimit)")
    }
    let undated = try feed(rss((0..<count).map { item($0) }.joined())).episodes
    #expect(undated.map(\.guid) == (0..<PodcastFeed.episodeLimit).map { "g\($0)" })
  }

  @Test func `an episode without an address is none, whatever it says of its type`() throws {
    let found = try feed(
      rss(item(1) + "<item><guid></guid><enclosure url=' ' type='audio/mpeg'/></item>"))
    #expect(found.episodes.map(\.guid) == ["g1"])
  }

  @Test func `long texts are cut, and an address that is too long is left out`() throws {
    let long = String(repeating: "ä", count: 200_000)
    let found = try feed(
      rss(
        item(1, "<description>\(long)</description>")
          + "<item><title>\(long)</title><guid>\(long)</guid>"
          + "<enclosure url='http://a.example/2.mp3' type='audio/mpeg'/></item>"
          + "<item><enclosure url='http://a.example/\(long)' type='audio/mpeg'/></item>"))
    #expect(found.episodes.count == 2)
    let texts = found.episodes.flatMap { [$0.title, $0.guid] }
    #expect(texts.allSatisfy { $0.utf8.count <= PodcastFeed.textLimit })
    let whole =
      PodcastFeed.episodeLimit * (2 * PodcastFeed.textLimit + PodcastFeed.addressLimit + 50)
    #expect(whole < 1 << 20, "an answer of the program that reads feeds has a limit")
  }

  @Test(arguments: ["", "<guid>"])
  func `long names of episodes differ, however they begin`(guid: String) throws {
    let long = "http://a.example/" + String(repeating: "p", count: PodcastFeed.textLimit)
    let items = (1...3).map { number in
      let address = "\(long)/\(number).mp3"
      return "<item>\(guid.isEmpty ? "" : "<guid>\(address)</guid>")"
        + "<enclosure url='\(address)' type='audio/mpeg'/></item>"
    }
    let names = try feed(rss(items.joined())).episodes.map(\.guid)
    #expect(Set(names).count == 3 && names.allSatisfy { $0.utf8.count <= PodcastFeed.textLimit })
    #expect(try feed(rss(items.reversed().joined())).episodes.map(\.guid) == names.reversed())
  }

  @Test func `entities that a feed declares expand to nothing`() {
    var text = "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY l0 'lol'>"
    for level in 1...9 {
      let many = String(repeating: "&l\(level - 1);", count: 10)
      text += "<!ENTITY l\(level) '\(many)'>"
    }
    #expect(
      fault(text + "]><rss><channel><title>&l9;</title></channel></rss>")?.contains("entities")
        == true)
    let file =
      "<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss><channel><title>&x;</title></channel></rss>"
    #expect(fault(file)?.contains("entities") == true)
    #expect(fault("<!DOCTYPE rss SYSTEM 'file:///etc/passwd'><rss><channel/></rss>") == nil)
  }

  @Test func `elements without end nest no deeper than the limit`() {
    let deep = String(repeating: "<a>", count: 1_000_000)
    #expect(fault("<rss>" + deep) == "its elements nest too deeply")
    let just = String(repeating: "<a>", count: PodcastFeed.depthLimit - 1)
    #expect(fault("<rss>" + just)?.contains("no element found") == true)
  }

  @Test(arguments: [
    "", " ", "no feed at all", "<html><body>404</body></html>", "{}", "<rss", "<rss></feed>",
    "<rss><channel><title>&nothing;</title></channel></rss>", "<rss>\u{0}</rss>",
    "<?xml version='1.0' encoding='klingon'?><rss/>",
  ])
  func `what is no feed is named in one line`(text: String) throws {
    let line = try #require(fault(text))
    #expect(line.hasPrefix("it is no feed: ") && !line.contains("\n"))
  }

  @Test func `a feed that is cut or not UTF-8 is none`() {
    let whole = Array(rss(item(1) + item(2)).utf8)
    for count in 0..<whole.count { #expect(fault(Array(whole.prefix(count))) != nil) }
    var broken = whole
    broken[whole.count / 2] = 0xff
    #expect(fault(broken)?.contains("line") == true)
  }

  @Test func `other encodings that feeds have are read`() throws {
    let latin =
      Array("<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><title>".utf8)
      + [0xe9] + Array("</title></channel></rss>".utf8)
    #expect(try PodcastFeed(latin).title == "é")
    let text = "<rss><channel><title>é</title></channel></rss>"
    let wide: [UInt8] =
      [0xff, 0xfe]
      + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 255), UInt8(unit >> 8)] }
    #expect(try PodcastFeed(wide).title == "é")
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("1 Jan 70 00:01 GMT", 60),
    ("31 Dec 99 16:00:00 PST", 946_684_800),
    ("Wed, 02 Oct 2002 08:00:00 EST", 1_033_563_600),
    ("Wed, 2 October 2002 15:00 +0200", 1_033_563_600),
    ("2002-10-02", 1_033_516_800), ("2002-10-02T10:00:00-05:00", 1_033_570_800), ("yesterday", nil),
    ("", nil),
    ("99 Foo 2002 00:00 GMT", nil), ("2002-13-02T10:00Z", nil), ("1 Jan 2002 99:00 GMT", nil),
    ("9223372036854775807-01-01T00:00Z", nil), ("--T", nil), ("1970-", nil),
  ])
  func `dates are read as feeds write them`(text: String, seconds: Int64?) {
    #expect(FeedTime.seconds(text) == seconds)
  }

  @Test(arguments: [
    ("3723", 3_723), ("1:02:03", 3_723), ("62:03", 3_723), ("0:00", nil), ("-1", nil), ("nan", nil),
    ("inf", nil), ("1:2:3:4", nil), ("999999999", nil), ("", nil), ("an hour", nil),
  ])
  func `lengths are read as feeds write them`(text: String, seconds: Double?) {
    #expect(FeedTime.duration(text) == seconds)
  }
}
