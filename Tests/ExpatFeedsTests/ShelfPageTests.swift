import Clock
import PlaylistFormats
import TestSupport
import Testing

@testable import ExpatFeeds

/// Tests of what media servers of UPnP tell, among it documents that somebody has made to do harm.
@Suite struct ShelfPageTests {
  private static let item = """
    <item id="1" parentID="0"><dc:title>Sinnerman &lt;1&gt; é</dc:title><dc:creator>Nina</dc:creator>
    <upnp:class>object.item.audioItem.musicTrack</upnp:class><upnp:artist role="AlbumArtist">Various</upnp:artist>
    <upnp:artist>Nina Simone</upnp:artist><upnp:album>Pastel Blues</upnp:album><upnp:genre>Jazz</upnp:genre>
    <upnp:genre>Soul</upnp:genre><dc:date>1965-10-01</dc:date><upnp:originalTrackNumber>10</upnp:originalTrackNumber>
    <upnp:albumArtURI>/AlbumArt/1.jpg</upnp:albumArtURI>
    <res size="900" duration="0:10:20.500" protocolInfo="http-get:*:audio/x-flac:DLNA.ORG_CI=0">/1.flac</res></item>
    """

  private func list(_ objects: String) -> String {
    """
    <DIDL-Lite xmlns="urn:schemas-upnp-org:metadata-1-0/DIDL-Lite/" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns:upnp="urn:schemas-upnp-org:metadata-1-0/upnp/">\(objects)</DIDL-Lite>
    """
  }

  private func page(_ text: String) throws(MarkupFault) -> ShelfPage {
    try ShelfPage(Array(text.utf8)) { $0.hasPrefix("/") ? $0 : nil }
  }

  private func song(_ files: String, type: String = "object.item.audioItem") throws -> ServedSong? {
    try page(list("<item id='1'><upnp:class>\(type)</upnp:class>\(files)</item>")).songs.first
  }

  private func file(_ type: String, _ more: String = "*", _ path: String = "/a.x") -> String {
    "<res protocolInfo=\"http-get:*:\(type):\(more)\">\(path)</res>"
  }

  private func answer(_ content: String) -> String {
    """
    <?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>
    <u:BrowseResponse xmlns:u="urn:schemas-upnp-org:service:ContentDirectory:1">\(content)</u:BrowseResponse>
    </s:Body></s:Envelope>
    """
  }

  private func reason(_ read: () throws(MarkupFault) -> Void) -> String? {
    do throws(MarkupFault) {
      try read()
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `a song has what its media server says of it`() throws {
    var song = ServedSong()
    (song.id, song.title, song.artist) = ("/1.flac", "Sinnerman <1> é", "Nina Simone")
    (song.albumArtist, song.album, song.genre) = ("Various", "Pastel Blues", "Jazz")
    (song.cover, song.suffix, song.size) = ("/AlbumArt/1.jpg", "flac", 900)
    (song.track, song.year, song.durationS) = (10, 1_965, 620.5)
    let found = try page(list(Self.item + "<container id='64$1'/><item id='2' refID='1'/>"))
    #expect(found.songs == [song] && found.objects == ["1"])
    #expect(found.containers == ["64$1"] && found.count == 3)
  }

  @Test func `names count by their namespaces, whatever their prefixes are`() throws {
    let other = """
      <x:DIDL-Lite xmlns:x="urn:schemas-upnp-org:metadata-1-0/DIDL-Lite/" xmlns:dc="urn:other"
       xmlns:u="urn:schemas-upnp-org:metadata-1-0/upnp/" xmlns:p="http://purl.org/dc/elements/1.1/">
      <x:item id="1"><dc:title>Wrong</dc:title><p:title>Right</p:title><title>Wrong</title>
      <u:class>object.item.audioItem</u:class><u:album>A</u:album><album>B</album>
      <x:res protocolInfo="http-get:*:audio/mpeg:*">/a</x:res><res>/b</res></x:item>
      <item id="2"><u:class>object.item.audioItem</u:class></item></x:DIDL-Lite>
      """
    let found = try page(other)
    #expect(found.songs.map(\.title) == ["Right"] && found.songs.map(\.album) == ["A"])
    #expect(found.songs.map(\.id) == ["/a"])
    #expect(reason { () throws(MarkupFault) in _ = try page("<DIDL-Lite/>") } != nil)
  }

  @Test func `the file that is nearest to the server's own is taken`() throws {
    let flac = file("audio/x-flac", "DLNA.ORG_CI=0", "/own.flac")
    let converted = file("audio/flac", "DLNA.ORG_PN=X;DLNA.ORG_CI=1", "/made.flac")
    let samples = file("audio/L16;rate=44100;channels=2", "DLNA.ORG_CI=1", "/made.l16")
    let wave = file("audio/wav", "*", "/made.wav")
    #expect(try song(samples + wave + flac + converted)?.id == "/own.flac")
    #expect(try song(converted + wave)?.id == "/made.wav")
    #expect(try song(converted)?.id == "/made.flac")
    #expect(try song(samples) == nil)
    for (type, suffix) in [
      ("audio/mpeg", "mp3"), ("AUDIO/X-FLAC", "flac"), ("application/ogg", "ogg"),
      ("audio/aac", "x"), ("audio/mp4", "m4a"),
    ] { #expect(try song(file(type))?.suffix == suffix) }
    for type in ["video/mp4", "image/jpeg", "audio/x-mpegurl", ""] {
      #expect(try song(file(type)) == nil)
    }
    #expect(try song(file("audio/mpeg", "*", "http://elsewhere/a.mp3")) == nil)
    #expect(try song("<res protocolInfo='rtsp:*:audio/mpeg:*'>/a</res><res>/a</res>") == nil)
    #expect(try song(flac, type: "object.item.videoItem") == nil)
  }

  @Test func `nonsense in a song is left out, and its texts are cut`() throws {
    let long = String(repeating: "é", count: 2 * ServedSong.textLimit)
    let found = try song(
      """
      <dc:title>\(long)</dc:title><dc:date>-1</dc:date><upnp:originalTrackNumber>+1</upnp:originalTrackNumber>
      <upnp:originalDiscNumber>99999999999999999999</upnp:originalDiscNumber>
      <res size="-1" duration="1:99:00" protocolInfo="http-get:*:audio/mpeg:*">/a</res>
      """)
    var song = ServedSong()
    (song.id, song.suffix, song.title) = ("/a", "mp3", String(long.prefix(100)))
    #expect(found == song)
    let id = String(repeating: "x", count: ShelfPage.idLimit)
    let others = try page(list("<container id='\(id)'/><container id='\(id)x'/><container/>"))
    #expect(others.containers == [id] && others.count == 3)
    for (text, seconds) in [
      ("0:00:00", nil), ("1:02:03", 3_723), ("0:00:01.25", 1.25), ("00:00:02.5", 2.5),
      ("0:00:01.0625", 1.062), ("0:00:01.", 1), ("0:00:01.x", 1), ("x:1:2", nil),
    ]
      as [(String, Double?)]
    {
      let res = "<res duration='\(text)' protocolInfo='http-get:*:audio/mpeg:*'>/a</res>"
      #expect(try self.song(res)?.durationS == seconds)
    }
  }

  @Test func `a page has no more objects than were asked for`() throws {
    let many = String(repeating: Self.item, count: ShelfPage.objectLimit + 1)
    let found = try page(list(many))
    #expect(found.songs.count == ShelfPage.objectLimit && found.count == ShelfPage.objectLimit + 1)
  }

  @Test func `an answer has its page as a text, and why there is none`() throws {
    let escaped =
      "&lt;DIDL-Lite xmlns=&quot;urn:schemas-upnp-org:metadata-1-0/DIDL-Lite/&quot;/&gt;"
    let found = try ShelfAnswer(
      Array(answer("<Result>\(escaped)</Result><TotalMatches>7</TotalMatches>").utf8))
    #expect(found.total == 7)
    #expect(try ShelfPage(found.result) { $0 }.count == 0)
    let able = try ShelfAnswer(Array(answer("<SearchCaps>upnp:class, x</SearchCaps>").utf8))
    #expect(able.capabilities == "upnp:class, x")
    let fault = """
      <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><detail>
      <UPnPError xmlns="urn:schemas-upnp-org:control-1-0"><errorCode>701</errorCode></UPnPError>
      </detail></s:Fault></s:Body></s:Envelope>
      """
    #expect(
      reason { () throws(MarkupFault) in _ = try ShelfAnswer(Array(fault.utf8)) }
        == "the server answers with its error 701")
  }

  @Test func `a description tells where its songs are asked for`() throws {
    func description(_ services: String) -> [UInt8] {
      Array(
        """
        <d:root xmlns:d="urn:schemas-upnp-org:device-1-0"><d:device><d:serviceList>
        \(services)</d:serviceList></d:device></d:root>
        """.utf8)
    }
    func service(_ type: String, _ control: String) -> String {
      "<d:service><d:serviceType>urn:schemas-upnp-org:service:\(type):1</d:serviceType>"
        + "<d:controlURL> \(control) </d:controlURL></d:service>"
    }
    let found = try DeviceDescription(
      description(service("ConnectionManager", "/a") + service("ContentDirectory", "/b")))
    #expect(found.control == "/b" && found.name.isEmpty)
    let named = try DeviceDescription(
      description(
        "<d:friendlyName> Loft &amp; attic </d:friendlyName>" + service("ContentDirectory", "/b")
          + "<d:friendlyName>Inner</d:friendlyName>"))
    #expect(named.name == "Loft & attic")
    for bytes in [description(service("ConnectionManager", "/a")), Array("<html/>".utf8), []] {
      #expect(
        reason { () throws(MarkupFault) in _ = try DeviceDescription(bytes) }?
          .contains("no description of a") == true)
    }
  }

  @Test func `what declares a type of document is refused, and so is all that is broken`() {
    let entities = (1...9).map {
      "<!ENTITY a\($0) \"\(String(repeating: "&a\($0 - 1);", count: 10))\">"
    }
    let laughs =
      "<!DOCTYPE x [<!ENTITY a0 \"ha\">\(entities.joined())]><DIDL-Lite>&a9;</DIDL-Lite>"
    let deep = String(repeating: "<a>", count: 1_000_000)
    let outside = "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><x/>"
    for text in [laughs, outside, deep, list(Self.item.dropLast(9).description), "", "{}", "\0"] {
      let bytes = Array(text.utf8)
      #expect(reason { () throws(MarkupFault) in _ = try page(text) } != nil)
      #expect(reason { () throws(MarkupFault) in _ = try ShelfAnswer(bytes) } != nil)
      #expect(reason { () throws(MarkupFault) in _ = try DeviceDescription(bytes) } != nil)
    }
    for text in [laughs, outside] {
      #expect(
        reason { () throws(MarkupFault) in _ = try page(text) }?
          .contains("it declares a type of document") == true)
    }
    #expect(reason { () throws(MarkupFault) in _ = try page(deep) }?.contains("nest") == true)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `no bytes of a media server break what reads them`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let whole = Array(list(Self.item + Self.item).utf8)
    for _ in 0..<100 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...20, using: &random))
        bytes.replaceSubrange(
          place..<end, with: random.bytes(Int.random(in: 0...3, using: &random)))
      }
      let found = try? ShelfPage(bytes) { $0 }
      #expect(found?.songs.count == found?.objects.count && found?.count ?? 0 < 10)
      _ = try? ShelfAnswer(bytes)
      _ = try? DeviceDescription(bytes)
    }
  }
}
