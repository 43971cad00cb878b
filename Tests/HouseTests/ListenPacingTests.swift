import Sender
import Testing

@testable import House

/// Tests of when listens are sent, and to which address.
@Suite struct ListenPacingTests {
  private var pacing = ListenPacing(tokenFile: "/etc/token")

  @Test mutating func `a service that is away is told of once, and tried ever more seldom`() {
    let tries = (0..<14).map { _ in pacing.take(.failed("no route"), of: 3) }
    #expect(tries.map(\.pauseS).prefix(4) == [5, 10, 20, 40])
    #expect(tries.last?.pauseS == ListenPacing.longestPauseS)
    #expect(tries.allSatisfy { !$0.isDone })
    let lines = tries.compactMap(\.line)
    #expect(lines.count == 1 && lines[0].contains("no route") && lines[0].contains("kept"))
    let back = pacing.take(.taken, of: 3)
    #expect(back == .init(isDone: true, line: "listens are taken again"))
    #expect(pacing.take(.taken, of: 3).line == nil)
    #expect(pacing.take(.failed("x"), of: 1).pauseS == 5)
  }

  @Test mutating func `a wrong token says what to do, once`() {
    let first = pacing.take(.wrongKey, of: 1)
    #expect(first.line?.contains("write it into /etc/token") == true && !first.isDone)
    #expect(pacing.take(.wrongKey, of: 1).line == nil)
    // It is another trouble if the network goes then.
    #expect(pacing.take(.failed("x"), of: 1).line != nil)
  }

  @Test mutating func `a pause that a service asks for is kept, within bounds`() {
    #expect(pacing.take(.busy(afterS: 42), of: 1) == .init(isDone: false, pauseS: 42))
    #expect(pacing.take(.busy(afterS: 0), of: 1).pauseS == 1)
    #expect(pacing.take(.busy(afterS: 99_999), of: 1).pauseS == ListenPacing.longestPauseS)
    #expect(pacing.take(.busy(afterS: nil), of: 1).pauseS > 5)
  }

  @Test mutating func `one listen that is refused keeps back no other`() {
    #expect(pacing.limit == ListenPacing.batchLimit)
    #expect(pacing.take(.rejected, of: 3) == .init(isDone: false))
    #expect(pacing.limit == 1)
    #expect(pacing.take(.taken, of: 1).isDone)
    let refused = pacing.take(.rejected, of: 1)
    #expect(refused.isDone && refused.pauseS == 0 && refused.line?.contains("dropped") == true)
    #expect(pacing.take(.rejected, of: 1).line == nil)
    #expect(pacing.limit == ListenPacing.batchLimit)
  }

  @Test func `an address has a host, and nothing that could be read as more`() {
    let own = ListenAddress("http://Maloja.lan:42010/apis/listenbrainz")
    #expect(own?.authority == "Maloja.lan:42010" && own?.isSecure == false)
    #expect(ListenAddress("https://a.example")?.text == "https://a.example/")
    #expect(ListenAddress("https://[::1]:8/x")?.authority == "[::1]:8")
    for wrong in [
      "", "a.example", "ftp://a", "https://", "https:///x", "https://a b/", "https://a:0/",
      "https://a:70000", "https://user:pass@a/", "https://a/?x=1", "https://a/#x", "https://a?b",
      "https://a/\r\nX: y", "https://a\r\nX: y/", "https://[a]/", "https://[::1",
      "https://[::1%eth0]/",
      "https://-a/", "https://a/\u{e9}", "file:///etc/passwd", "https://a:+80/",
      "https://" + String(repeating: "a", count: ListenAddress.limit),
    ] { #expect(ListenAddress(wrong) == nil, "\(wrong)") }
    var service = ListenService(
      name: "x", kind: .listenBrainz, address: .listenBrainz, tokenFile: "/x")
    #expect(service.target.text == "https://api.listenbrainz.org/1/submit-listens")
    service.address = ListenAddress("http://m/apis/listenbrainz") ?? .lastFM
    #expect(service.target.text == "http://m/apis/listenbrainz/1/submit-listens")
  }

  @Test func `groups and rooms that are named count, and no others`() {
    var service = ListenService(name: "x", kind: .lastFM, address: .lastFM, tokenFile: "/x")
    let group = ListenCounterTests.Player().group(at: 0)
    let rooms = [("1", "Sofa"), ("2", "Bath"), ("3", "Attic")].map {
      HouseState.Room(id: $0.0, name: $0.1, state: .playing, isPaired: true, isPresent: true)
    }
    for (names, hears) in [
      ([], true), (["bath"], true), (["Kitchen"], true), (["Attic"], false), (["x", "Sofa"], true),
    ] as [([String], Bool)] {
      service.groups = names
      #expect(service.hears(group, rooms) == hears, "\(names)")
    }
  }

  @Test func `texts of a listen are cut, and one without artist is none`() throws {
    var item = HouseState.Item(
      entryId: 1, title: String(repeating: "ä", count: 400), isSeekable: true, isLive: false,
      hasVideo: false)
    #expect(Listen(item, at: 1) == nil)
    item.artist = " \t"
    #expect(Listen(item, at: 1) == nil)
    item.artist = "Nina"
    let listen = try #require(Listen(item, at: 1))
    #expect(listen.title.utf8.count == Listen.textLimit)
  }
}
