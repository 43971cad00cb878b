import Clock
import FFmpegSource
import Foundation
import House
import SQLiteStore
import Sender
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of listens on their way to a service: their file, their forms, and the answers.
@Suite struct ListenTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func listen(_ number: Int64 = 1, title: String? = nil) throws -> Listen {
    var item = HouseState.Item(
      entryId: 1, title: title ?? "No. \(number)", isSeekable: true, isLive: false, hasVideo: false)
    (item.artist, item.album, item.durationS) = ("Nina", "Pastel", 200.5)
    return try #require(Listen(item, at: 1_700_000_000 + number))
  }

  private func store(_ services: String...) throws -> ListenStore {
    try ListenStore(path: folder.file("listens.db"), services: services) { _ in }
  }

  private func service(
    _ kind: ListenService.Kind = .listenBrainz, _ token: String = "0123-abcd"
  ) throws -> ListenService {
    let path = try folder.write(Array(token.utf8), to: "token")
    return ListenService(
      name: "a", kind: kind, address: .listenBrainz, tokenFile: path)
  }

  // MARK: - The file

  @Test func `what waits is there after a restart, in order, each service for itself`() async throws
  {
    let first = try store("a", "b")
    for number in 1...3 {
      #expect(
        try await first.keep([.init(listen: listen(Int64(number)), services: ["a", "b"])], [:]) == 0
      )
    }
    let sent = try await first.oldest(of: "a", limit: 2)
    #expect(sent.map(\.listen.title) == ["No. 1", "No. 2"])
    try await first.remove(sent)
    let second = try store("a", "b")
    #expect(try await second.oldest(of: "a", limit: 9).map(\.listen.title) == ["No. 3"])
    #expect(try await second.oldest(of: "b", limit: 9).count == 3)
    // A service that is not configured any more leaves nothing.
    let third = try store("b", "c")
    #expect(try await third.oldest(of: "a", limit: 9).isEmpty)
    #expect(
      try await third.oldest(of: "b", limit: 9).map(\.listen) == (1...3).map { try listen($0) })
  }

  @Test func `no more listens wait than the limit, and the oldest are dropped`() async throws {
    let store = try store("a", "b")
    let entry = ListenStore.Entry(listen: try listen(0), services: ["a"])
    let full = Array(repeating: entry, count: ListenStore.limit)
    #expect(try await store.keep(full, [:]) == 0)
    let more = try (1...3).map { ListenStore.Entry(listen: try listen($0), services: ["a", "b"]) }
    #expect(try await store.keep(more, [:]) == 3)
    let all = try await store.oldest(of: "a", limit: ListenStore.limit + 9)
    #expect(all.count == ListenStore.limit && all.last?.listen.title == "No. 3")
    #expect(try await store.oldest(of: "b", limit: 9).count == 3)
  }

  @Test func `a hearing is kept with its listen, and a damaged file is set aside`() async throws {
    var counter = ListenCounter()
    var item = HouseState.Item(
      entryId: 1, title: "x", isSeekable: true, isLive: false, hasVideo: false)
    (item.artist, item.durationS) = ("Nina", 200)
    let group = HouseState.Group(
      id: "g1", name: "Kitchen", isNamed: false, roomIds: [], state: .playing, item: item,
      volume: 50, muted: false, repeat: .off, effects: EffectsReport(Effects()),
      queue: .init(revision: 1, count: 1, index: 0, canUndo: nil))
    _ = counter.take([group], at: .init(nowMs: 0, wallS: 0))
    let changes = counter.takeChanges()
    let first = try store("a")
    _ = try await first.keep([], changes)
    let kept = try await store("a").hearings()
    #expect(kept["g1"] == changes["g1"] ?? nil && kept.count == 1)
    _ = try await first.keep([], ["g1": nil])
    #expect(try await first.hearings().isEmpty)

    let path = try folder.write(Array(repeating: 7, count: 9_000), to: "broken.db")
    var lines: [String] = []
    _ = try ListenStore(path: path, services: []) { lines.append($0) }
    #expect(lines.count == 1 && lines[0].contains("set aside"))
  }

  @Test func `no more listens that a disk has refused are kept than the limit`() throws {
    var unsaved = UnsavedListens()
    for number in 0...UnsavedListens.limit {
      unsaved.add([.init(listen: try listen(Int64(number)), services: ["a"])], ["g": nil])
    }
    #expect(unsaved.entries.count == UnsavedListens.limit && unsaved.hearings.count == 1)
    #expect(unsaved.entries.first?.listen.title == "No. 1")
  }

  // MARK: - Secrets

  @Test func `a token stands alone in its file, and Last.fm has three lines`() throws {
    #expect(
      try ListenKey(of: service(.listenBrainz, "# mine\n 0123-abcd \r\n")).token == "0123-abcd")
    let key = try ListenKey(
      of: service(.lastFM, "api-key = aaaaaaaa\nsecret=bbbbbbbb\nsession-key =  cccccccc\n"))
    #expect(key.apiKey == "aaaaaaaa" && key.secret == "bbbbbbbb" && key.token == "cccccccc")
    for (kind, text) in [
      (.listenBrainz, ""), (.listenBrainz, "short"), (.listenBrainz, "01234567\n89abcdef"),
      (.listenBrainz, "01234567: x"), (.listenBrainz, "01234567\u{e9}"),
      (.listenBrainz, String(repeating: "a", count: 257)),
      (.listenBrainz, "01234567" + String(repeating: "\n", count: ListenKey.sizeLimit)),
      (.lastFM, "0123-abcd"), (.lastFM, "api-key = aaaaaaaa\nsecret = bbbbbbbb"),
    ] as [(ListenService.Kind, String)] {
      let error = #expect(throws: ListenKey.Problem.self) {
        try ListenKey(of: service(kind, text))
      }
      #expect(error?.text.contains(folder.file("token")) == true)
      #expect(text.isEmpty || error?.text.contains(text) == false)
    }
    var gone = try service()
    gone.tokenFile = folder.file("none")
    #expect(throws: ListenKey.Problem.self) { try ListenKey(of: gone) }
  }

  // MARK: - Forms

  private func object(_ bytes: [UInt8]) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  @Test func `ListenBrainz gets one, many, and what plays now`() throws {
    var listen = try listen(title: "Say \"hi\" \u{1}\u{1F3B5}")
    (listen.number, listen.releaseId) = (7, "f2e4b4a4-0000-4000-8000-1234567890ab")
    let one = try object(ListenBody.json([listen], isNow: false))
    #expect(one["listen_type"] as? String == "single")
    let payload = try #require((one["payload"] as? [[String: Any]])?.first)
    #expect(payload["listened_at"] as? Int == 1_700_000_001)
    let track = try #require(payload["track_metadata"] as? [String: Any])
    #expect(track["artist_name"] as? String == "Nina")
    #expect(track["track_name"] as? String == listen.title)
    #expect(track["release_name"] as? String == "Pastel")
    let more = try #require(track["additional_info"] as? [String: Any])
    #expect(more["duration_ms"] as? Int == 200_500 && more["tracknumber"] as? Int == 7)
    #expect(more["release_mbid"] as? String == listen.releaseId)
    let many = try object(ListenBody.json([listen, listen], isNow: false))
    #expect(many["listen_type"] as? String == "import")
    let now = try object(ListenBody.json([listen], isNow: true))
    #expect(now["listen_type"] as? String == "playing_now")
    #expect((now["payload"] as? [[String: Any]])?.first?["listened_at"] == nil)
  }

  /// The example in Last.fm's own specification of signatures, section 8, with its own values.
  @Test func `Last.fm's documented signature is that of sorted names and values`() throws {
    let values = ["api_key": "xxxxxxxx", "method": "auth.getSession", "token": "xxxxxxx"]
    let signed = ListenBody.signature(values, "mysecret") { String(decoding: $0, as: UTF8.self) }
    #expect(signed == "api_keyxxxxxxxxmethodauth.getSessiontokenxxxxxxxmysecret")
    let order = Dictionary(uniqueKeysWithValues: (0..<12).map { ("a[\($0)]", "") })
    #expect(
      ListenBody.signature(order, "") { String(decoding: $0, as: UTF8.self) }
        .hasPrefix("a[0]a[10]a[11]a[1]a[2]"))
  }

  @Test func `Last.fm gets a form that is signed`() throws {
    let key = try ListenKey(
      of: service(.lastFM, "api-key = aaaaaaaa\nsecret = bbbbbbbb\nsession-key = cccccccc"))
    let listens = [try listen(1, title: "A&B = é"), try listen(2)]
    let form = String(
      decoding: try ListenBody.form(listens, isNow: false, key) { try AddressPost.hash(of: $0) },
      as: UTF8.self)
    let fields = Dictionary(
      uniqueKeysWithValues: form.split(separator: "&").map { field in
        let parts = field.split(separator: "=", omittingEmptySubsequences: false)
        return (
          String(parts[0]).removingPercentEncoding ?? "",
          String(parts[1]).removingPercentEncoding ?? ""
        )
      })
    #expect(fields["method"] == "track.scrobble" && fields["sk"] == "cccccccc")
    #expect(fields["track[0]"] == "A&B = é" && fields["timestamp[1]"] == "1700000002")
    #expect(fields["duration[0]"] == "200" && fields["album[1]"] == "Pastel")
    #expect(fields["format"] == "json" && !form.contains("bbbbbbbb"))
    let signed = fields.filter { !["format", "api_sig"].contains($0.key) }
      .sorted { $0.key < $1.key }.map { $0.key + $0.value }.joined()
    #expect(try fields["api_sig"] == AddressPost.hash(of: Array((signed + "bbbbbbbb").utf8)))
    let now = String(
      decoding: ListenBody.form([listens[1]], isNow: true, key) { _ in "x" }, as: UTF8.self)
    #expect(now.contains("track.updateNowPlaying") && now.contains("artist=Nina"))
    #expect(!now.contains("timestamp"))
  }

  @Test func `a request survives its way to the program that sends it`() throws {
    let request = WorkerRequest.listens(
      ListenRequest(
        [try listen(title: "a\0b")], isNow: false, to: try service(),
        try ListenKey(of: service())))
    #expect(WorkerRequest(request.bytes) == request)
    let long = try listen(title: String(repeating: "\u{1}", count: Listen.textLimit))
    let full = WorkerRequest.listens(
      ListenRequest(
        Array(repeating: long, count: ListenPacing.batchLimit), isNow: false, to: try service(),
        try ListenKey(of: service())))
    #expect(full.bytes.count < 1 << 20)
    #expect(WorkerRequest(Array("listens\0{}".utf8)) == nil)
  }

  // MARK: - Answers

  @Test func `an answer is its status, a pause and an error, whatever else it has`() throws {
    func answer(_ text: String) -> ListenAnswer { ListenAnswer(Array(text.utf8)) }
    #expect(answer("HTTP/1.1 200 OK\r\n\r\n").outcome(.listenBrainz) == .taken)
    let busy = "HTTP/1.1 429 No\r\nX-RateLimit-Reset-In: 7\r\n\r\n"
    #expect(answer(busy).outcome(.listenBrainz) == .busy(afterS: 7))
    #expect(answer("HTTP/1.1 429 No\r\nretry-after:  9 \r\n\r\n").afterS == 9)
    #expect(answer("HTTP/1.1 401 No\r\n\r\n").outcome(.listenBrainz) == .wrongKey)
    #expect(answer("HTTP/1.1 400 No\r\n\r\n").outcome(.listenBrainz) == .rejected)
    let failed = "HTTP/1.0 403 x\r\n\r\n{\"message\":\"x\",\"error\": 9}"
    #expect(answer(failed).outcome(.lastFM) == .wrongKey)
    for (error, outcome) in [(29, ListenPacing.Outcome.busy(afterS: nil)), (6, .rejected)] {
      #expect(answer("HTTP/1.1 200 OK\r\n\r\n{\"error\":\(error)}").outcome(.lastFM) == outcome)
    }
    #expect(answer("HTTP/1.1 200 OK\r\n\r\n{\"error\":9}").outcome(.listenBrainz) == .taken)
    for (text, part) in [
      ("HTTP/1.1 302 Found\r\nLocation: http://b/\r\n\r\n", "moved"), ("", "no answer"),
      ("SSH-2.0-x\r\n", "no answer"), ("HTTP/1.1 502 x\r\n\r\n", "502"),
      ("HTTP/1.1 404 x\r\n\r\n", "check url"),
      ("HTTP/1.1 99999999999999999999 x\r\n\r\n", "HTTP 99999"),
    ] {
      guard case .failed(let reason) = answer(text).outcome(.lastFM) else {
        Issue.record("\(text)")
        continue
      }
      #expect(reason.contains(part), "\(reason)")
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `no bytes of an answer break what looks at it`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let parts = [
      "HTTP/1.1 ", "200", "\r\n", "retry-after:", ":", " ", "\"error\":", "7", "\0", "\n",
    ]
    for _ in 0..<200 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        bytes +=
          Bool.random(using: &random)
          ? Array(random.element(parts).utf8) : random.bytes(Int.random(in: 0...4, using: &random))
      }
      let answer = ListenAnswer(bytes)
      #expect(ListenAnswer(words: answer.words[...]) == answer)
      #expect((0...99_999).contains(answer.status) && answer.afterS ?? 0 < 100_000)
    }
  }

  // MARK: - Facts

  @Test func `the library knows the album's identifier, and audiobooks by genre or name`() throws {
    let bed = try LibraryBed()
    let id = "f2e4b4a4-0000-4000-8000-1234567890AB"
    var music = TaggedFile("One", artist: "Nina", album: "A", track: 7)
    music.tags += [("MUSICBRAINZ_ALBUMID", id), ("GENRE", "Jazz")]
    try bed.write(music, to: "a/1.flac")
    var book = TaggedFile("Two", artist: "Nina", album: "B")
    book.tags.append(("GENRE", "Hörbuch"))
    try bed.write(book, to: "b/2.flac")
    try bed.scan()
    let tracks = try bed.tracks()
    #expect(tracks.count == 2)
    #expect(
      try ListenFacts.of(track: tracks[0].id, bed.database)
        == ListenFacts(
          number: 7, releaseId: id.lowercased(), library: "Music", libraryId: "1"))
    #expect(try ListenFacts.of(track: tracks[1].id, bed.database)?.isSpoken == true)
    #expect(try ListenFacts.of(track: "t99", bed.database) == nil)
    #expect(ListenFacts.isSpoken("/a/Book.M4B") && !ListenFacts.isSpoken("a.m4a"))
  }
}
