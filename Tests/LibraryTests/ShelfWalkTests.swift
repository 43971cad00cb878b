import Driver
import ExpatFeeds
import House
import LinuxIO
import PlaylistFormats
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of listings of media servers of UPnP.
@Suite struct ShelfWalkTests {
  private func server() throws -> MediaServer {
    MediaServer(
      name: "Loft", description: try #require(ListenAddress("http://127.0.0.1:1/rootDesc.xml")))
  }

  private func song(_ id: String) -> ServedSong {
    var song = ServedSong()
    (song.id, song.title, song.suffix) = ("/\(id).flac", id, "flac")
    return song
  }

  private func page(
    _ songs: [String] = [], _ containers: [String] = [], total: Int = 0, more: Int = 0
  ) -> ShelfPage {
    var page = ShelfPage()
    (page.songs, page.objects) = (songs.map(song), songs)
    (page.containers, page.total) = (containers, total)
    page.count = songs.count + containers.count + more
    return page
  }

  /// Returns the titles of the songs that are told, page by page, and the reason of a failure.
  private func list(_ walk: ShelfWalk) -> (pages: [[String]], reason: String?) {
    var (pages, reason) = ([[String]](), String?.none)
    let ask = { (_: Int) in walk.next() }
    _ = ServerReader.list(ask) { news in
      switch news {
      case .page(let songs): pages.append(songs.map(\.title))
      case .failed(let text): reason = text
      case .end: break
      }
      return true
    }
    return (pages, reason)
  }

  private func walk(
    canSearch: Bool = false, _ answer: @escaping (ShelfQuestion) -> WorkerAnswer?
  ) -> ShelfWalk {
    ShelfWalk { question in
      switch question {
      case .description: .done("/ctl")
      case .capabilities: canSearch ? .done("dc:title,upnp:class") : .broken("none")
      default: answer(question)
      }
    }
  }

  @Test func `a server that can search is asked for all songs, page by page`() {
    var asked: [ShelfQuestion] = []
    let found = list(
      walk(canSearch: true) { question in
        asked.append(question)
        return .shelf(page(asked.count == 1 ? ["a", "b"] : ["c"], total: 3))
      })
    #expect(found.pages == [["a", "b"], ["c"]] && found.reason == nil)
    #expect(asked == [.search(control: "/ctl", from: 0), .search(control: "/ctl", from: 2)])
  }

  @Test func `containers are walked, and no song is told twice`() {
    let tree: [String: ShelfPage] = [
      "0": page([], ["music", "folders"], total: 2), "music": page(["a", "b"], ["0"], total: 3),
      "folders": page(["b", "c"], ["music", "deep"], total: 4), "deep": page(),
    ]
    let found = list(
      walk { question in
        guard case .browse("/ctl", let id, 0) = question else { return .broken("\(question)") }
        return tree[id].map { .shelf($0) }
      })
    #expect(found.pages == [["a", "b"], ["c"]] && found.reason == nil)
  }

  /// As Gerbera 1.1 lists them: each place of a song has an identifier and an address of its own, some have other titles, and
  /// nothing says what they refer to.
  @Test func `a song whose places have other names is told once, as its album has it`() {
    func place(_ id: String, _ title: String, track: Int?, size: Int64) -> ServedSong {
      var song = song(id)
      (song.title, song.artist, song.album, song.track) = (title, "Nina", "Blues", track)
      (song.size, song.durationS) = (size, 2.5)
      return song
    }
    func page(_ songs: [ServedSong], _ containers: [String] = []) -> ShelfPage {
      var page = ShelfPage()
      (page.songs, page.objects) = (songs, songs.map(\.id))
      (page.containers, page.count) = (containers, songs.count + containers.count)
      page.total = page.count
      return page
    }
    let tree = [
      "0": page([], ["audio", "files"]), "audio": page([], ["albums", "all"]),
      "albums": page([], ["blues"]),
      // The last two look the same, and are two songs.
      "blues": page([
        place("1", "A", track: 1, size: 9), place("2", "B", track: nil, size: 9),
        place("3", "C", track: nil, size: 9), place("4", "D", track: 2, size: 8),
        place("5", "E", track: 2, size: 8),
      ]),
      "all": page([
        place("6", "Nina - A", track: 1, size: 9), place("7", "B", track: nil, size: 9),
        place("8", "Nina - D", track: 2, size: 8), place("9", "Nina - E", track: 2, size: 8),
      ]),
      "files": page([
        place("10", "1.flac", track: 1, size: 9), place("11", "F", track: nil, size: 9),
        place("12", "2.flac", track: 2, size: 7), place("13", "3.flac", track: 2, size: 0),
        place("14", "4.flac", track: 2, size: 0),
      ]),
    ]
    let found = list(
      walk { question in
        guard case .browse("/ctl", let id, 0) = question else { return .broken("\(question)") }
        return tree[id].map { .shelf($0) }
      })
    #expect(found.pages == [["A", "B", "C", "D", "E"], ["F", "2.flac", "3.flac", "4.flac"]])
    #expect(found.reason == nil)
  }

  @Test(arguments: [WorkerAnswer.broken("708"), .shelf(ShelfPage())])
  func `a server whose search fails or finds nothing is walked`(answer: WorkerAnswer) {
    var searches = 0
    let found = list(
      walk(canSearch: true) { question in
        guard case .search = question else { return .shelf(page(["a"], total: 1)) }
        searches += 1
        return answer
      })
    #expect(found.pages == [["a"]] && found.reason == nil && searches == 2)
  }

  @Test func `a page that fails ends the listing with its reason`() {
    let found = list(
      walk { question in
        guard case .browse(_, _, 0) = question else { return .broken("away") }
        return .shelf(page(["a"], total: 9))
      })
    #expect(found.pages == [["a"]] && found.reason == "away")
    #expect(list(ShelfWalk { _ in .broken("gone") }).reason == "gone")
    #expect(list(ShelfWalk { _ in nil }).reason?.contains("took too long") == true)
  }

  @Test func `a server without end is walked up to the limits`() {
    var (asked, depth) = (0, 0)
    // Each container has further ones for ever.
    var found = list(
      walk { question in
        guard case .browse(_, let id, _) = question else { return nil }
        asked += 1
        depth = max(depth, id.split(separator: "/").count)
        let inner = (0..<3).map { "\(id)/\($0)" }
        return .shelf(page([], inner, total: 3))
      })
    #expect(found.pages == [] && found.reason == nil)
    #expect(asked == ShelfWalk.containerLimit)
    asked = 0
    found = list(
      walk { question in
        guard case .browse(_, let id, _) = question else { return nil }
        asked += 1
        return .shelf(page([], ["\(id)/x"], total: 1))
      })
    #expect(asked == ShelfWalk.depthLimit + 1 && found.reason == nil)
    asked = 0
    found = list(
      walk { _ in
        asked += 1
        return .shelf(page(["a"]))
      })
    #expect(asked == ShelfWalk.pageLimit && found.pages == [["a"]])
  }

  @Test func `a server that calls one song by other names for ever is left at the limit`() {
    var asked = 0
    let found = list(
      walk { _ in
        asked += 1
        var same = page(Array(repeating: "a", count: ShelfPage.objectLimit))
        same.objects = same.objects.indices.map { "\(asked)-\($0)" }
        return .shelf(same)
      })
    #expect(asked == ShelfWalk.toldLimit / ShelfPage.objectLimit)
    #expect(found.pages == [["a"]] && found.reason == nil)
  }

  // MARK: - The program that asks

  private func answer(
    _ text: String, _ question: ShelfQuestion, status: String = "200 OK"
  ) throws -> WorkerAnswer {
    ShelfRequest.answer(
      Array("HTTP/1.1 \(status)\r\n\r\n\(text)".utf8), try server(), question)
  }

  private func reason(_ answer: WorkerAnswer) -> String? {
    if case .broken(let reason) = answer { reason } else { nil }
  }

  @Test func `a media server's control must be at its own host and port`() throws {
    func description(_ control: String) -> String {
      """
      <root xmlns="urn:schemas-upnp-org:device-1-0"><device><friendlyName>Loft</friendlyName>
      <serviceList><service>
      <serviceType>urn:schemas-upnp-org:service:ContentDirectory:1</serviceType>
      <controlURL>\(control)</controlURL></service></serviceList></device></root>
      """
    }
    guard case .done("/ctl") = try answer(description("/ctl"), .description) else {
      throw Missing(description: "a path")
    }
    guard case .done("Loft") = try answer(description("/ctl"), .name) else {
      throw Missing(description: "a name")
    }
    #expect(reason(try answer("", .name, status: "500 Oh")) == "it answers HTTP 500")
    #expect(
      reason(try answer(description("http://10.0.0.1/ctl"), .description))?.contains("another")
        == true)
    #expect(reason(try answer("", .description, status: "302 Found")) == "it answers HTTP 302")
    let browse = ShelfQuestion.browse(control: "/ctl", "0", from: 0)
    #expect(reason(try answer("", browse, status: "404 Not Found")) == "it answers HTTP 404")
    #expect(
      reason(try answer("<x/>", browse, status: "500 Oh"))?.contains("no answer of a media") == true
    )
    let large = [UInt8](repeating: 32, count: ServerRequest.listLimit)
    #expect(reason(ShelfRequest.answer(large, try server(), browse)) == "it is larger than 8 MiB")
    #expect(reason(ShelfRequest.answer([], try server(), browse))?.contains("no answer") == true)
  }

  @Test func `a full page of a media server fits into an answer, and survives its way`() throws {
    var full = song("1")
    let text = String(repeating: "x", count: ServedSong.textLimit)
    (full.title, full.artist, full.albumArtist, full.album, full.genre) = (
      text, text, text, text, text
    )
    full.id = String(repeating: "y", count: ListenAddress.pathLimit)
    (full.cover, full.durationS, full.size) = (full.id, 1_234.125, 1 << 50)
    var all = ShelfPage()
    all.songs = Array(repeating: full, count: ShelfPage.objectLimit)
    all.objects = Array(
      repeating: String(repeating: "z", count: ShelfPage.idLimit), count: ShelfPage.objectLimit)
    (all.count, all.total) = (501, 7_000)
    for page in [all, page(["a"], ["b", "c"], total: 9), ShelfPage()] {
      let bytes = WorkerAnswer.shelf(page).bytes
      #expect(bytes.count <= BackgroundProgram.messageLimit)
      guard case .shelf(let found)? = WorkerAnswer(bytes) else {
        throw Missing(description: "a page")
      }
      #expect(found == page)
      #expect(WorkerAnswer(bytes + [0]) == nil)
    }
    for text in ["shelf\0-1\0000\0000", "shelf\0001\0001\000501", "shelf\0001\0001\000-3\0a"] {
      #expect(WorkerAnswer(Array(text.utf8)) == nil)
    }
    let server = try server()
    for question in [
      ShelfQuestion.description, .name, .capabilities(control: "/c"),
      .search(control: "/c", from: 500),
      .browse(control: "/c", "64$1", from: 7),
    ] {
      let request = WorkerRequest.shelf(server, question)
      #expect(WorkerRequest(request.bytes) == request)
    }
  }

  @Test func `a song of a media server is opened at its host and port alone`() throws {
    let items = ServerAccess.items(HeldServers([try server()]))
    func address(_ id: String) -> String? {
      try? items.address("library:Loft/A/" + ServedName.name(id: id, suffix: "flac"))
    }
    #expect(address("/MediaItems/1.flac") == "http://127.0.0.1:1/MediaItems/1.flac")
    for id in ["@10.0.0.1/x", "MediaItems", "http://10.0.0.1/x", "/a\r\nX: y", "/a b"] {
      #expect(address(id) == nil)
    }
  }
}
