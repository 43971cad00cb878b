import Clock
import Driver
import ExpatFeeds
import House
import SQLiteStore
import Sender
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of podcasts and of where people have left things.
@Suite struct PodcastTests {
  private let bed: LibraryBed
  private let uri = "http://a.example/feed"

  init() throws { bed = try LibraryBed() }

  private func episode(_ number: Int) -> PodcastFeed.Episode {
    var episode = PodcastFeed.Episode(
      guid: "g\(number)", title: "No. \(number)", address: "http://a.example/\(number).mp3")
    (episode.publishedS, episode.durationS) = (Int64(number) * 1_000, 1_800)
    return episode
  }

  private func reading(
    _ numbers: some Sequence<Int>, picture: String? = nil, reach: SourceReach = .network
  ) -> Podcasts.Reading {
    var feed = PodcastFeed()
    feed.picture = picture
    feed.title = " Daily\u{1b}  Talk "
    feed.episodes = numbers.sorted(by: >).map(episode)
    return .init(feed: feed, reach: reach)
  }

  @discardableResult
  private func subscribe(_ numbers: some Sequence<Int>, uri: String? = nil) throws -> Podcast {
    try Podcasts.add(uri ?? self.uri, reach: .network, reading(numbers), at: 50, bed.database)
  }

  @discardableResult
  private func refresh(_ numbers: some Sequence<Int>, at now: Int64) throws -> Bool {
    let due = try #require(try Podcasts.takeDue(at: now, bed.database))
    return try Podcasts.write(reading(numbers), of: due, isFirst: false, at: now, bed.database)
  }

  private func episodes() throws -> [Episode] {
    try Podcasts.contents("f1", bed.database).episodes
  }

  private func keep(_ seconds: Double, of number: Int, isOver: Bool = false, at now: Int64 = 1)
    throws -> Bool
  {
    var item = HouseState.Item(
      entryId: 1, title: "x", isSeekable: true, isLive: false, hasVideo: false)
    item.durationS = 1_800
    return try Places.keep(
      .init(groupId: "g", item: item, seconds: seconds, isOver: isOver), track: nil,
      uri: "http://a.example/\(number).mp3", at: now, bed.database)
  }

  @Test func `at first the newest episode is new, and later what comes`() throws {
    let podcast = try subscribe(1...3)
    #expect(podcast.title == "Daily Talk" && podcast.episodeCount == 3 && podcast.newCount == 1)
    #expect(try episodes().map(\.title) == ["No. 3", "No. 2", "No. 1"])
    #expect(try episodes().map(\.isNew) == [true, false, false])
    #expect(try !refresh(1...3, at: 9_999))
    #expect(try refresh(2...5, at: 99_999))
    #expect(try episodes().map(\.isNew) == [true, true, true, false, false])
    // Subscribing again changes nothing.
    #expect(try subscribe(2...5).newCount == 3)
    #expect(try Podcasts.all(bed.database).count == 1)
  }

  @Test func `a podcast and its episodes have the picture at the feed's address`() throws {
    func read(_ picture: String?, at now: Int64) throws -> Bool {
      let due = try #require(try Podcasts.takeDue(at: now, bed.database))
      let reading = reading(1...2, picture: picture, reach: .internet)
      return try Podcasts.write(reading, of: due, isFirst: false, at: now, bed.database)
    }
    #expect(try subscribe(1...2).artwork == nil)
    #expect(try read("http://a.example/p.png", at: 9_999))
    let hash = try #require(try Podcasts.all(bed.database).first?.artwork)
    #expect(hash.utf8.count == 32)
    #expect(try Podcasts.entries(podcast: "f1", bed.database).map(\.artwork) == [hash])
    let origins = try PictureOrigins.of(hash, bed.folders, [], bed.database)
    #expect(origins.map(\.location) == ["http://a.example/p.png"])
    // As far as the episodes of the same reading, though the household's people may name more.
    #expect(
      origins.first?.request(size: 300) == .picture("http://a.example/p.png", .internet, size: 300))
    // Pages hear of another one, and not of the same.
    #expect(try !read("http://a.example/p.png", at: 99_999))
    #expect(try read("http://a.example/q.png", at: 999_999))
    #expect(try PictureOrigins.of(hash, bed.folders, [], bed.database).isEmpty)
    for wrong in ["file:///etc/passwd", "/etc/passwd", "http://a.example/\u{1}"] {
      _ = try read(wrong, at: 9_999_999 + Int64(wrong.count) * 1_000_000)
      #expect(try Podcasts.all(bed.database).first?.artwork == nil, "\(wrong)")
    }
  }

  @Test func `an episode goes on where it was left, until it was heard`() throws {
    try subscribe(1...3)
    #expect(try !keep(5, of: 2))
    #expect(try keep(700, of: 3) && !keep(600, of: 2, at: 2))
    #expect(try episodes().map(\.positionS) == [700, 600, nil])
    #expect(try Podcasts.all(bed.database).first?.newCount == 0)
    let begun = try Places.begun(limit: 9, bed.database)
    #expect(begun.map(\.id) == [try episodes()[1].id, try episodes()[0].id])
    #expect(begun.map(\.detail) == ["20 min left", "18 min left"])
    let entry = try #require(try Podcasts.entries(episode: begun[0].id, bed.database).first)
    #expect(entry.startS == 600 && entry.location == "http://a.example/2.mp3")
    #expect(entry.artist == "Daily Talk" && entry.durationS == 1_800)
    #expect(try keep(1_790, of: 3, isOver: true) && !keep(1_795, of: 3, isOver: true))
    #expect(try episodes().map(\.isPlayed) == [true, false, false])
    #expect(try Podcasts.entries(podcast: "f1", bed.database).map(\.startS) == [600])
    let second = try episodes()[1].id
    try Podcasts.mark(second, isPlayed: true, bed.database)
    #expect(try Places.begun(limit: 9, bed.database).isEmpty)
    #expect(try Podcasts.entries(podcast: "f1", bed.database).map(\.title) == ["No. 1"])
    try Podcasts.mark(second, isPlayed: false, bed.database)
    #expect(try Podcasts.entries(podcast: "f1", bed.database).map(\.title) == ["No. 2"])
    #expect(throws: Refusal.self) { try Podcasts.mark("e99", isPlayed: true, bed.database) }
    #expect(
      try !Places.keep(
        .init(
          groupId: "g",
          item: .init(entryId: 1, title: "", isSeekable: true, isLive: false, hasVideo: false),
          seconds: 99, isOver: false), track: nil, uri: "http://radio/", at: 1, bed.database))
  }

  @Test func `those who play know each place at once, also after a restart`() async throws {
    try subscribe(1...3)
    func uri(_ number: Int) -> String { "http://a.example/\(number).mp3" }
    var item = HouseState.Item(
      entryId: 1, title: "x", isSeekable: true, isLive: false, hasVideo: false)
    item.durationS = 1_800
    let known = item
    let places = KeptPlaces()
    func place(_ number: Int, _ places: KeptPlaces) -> Double? {
      places.place(of: PlayItem(id: 7, location: uri(number)))?.seconds
    }
    let reader = try LibraryReader(path: bed.database.path, places: places, damaged: { _ in })
    func keep(_ seconds: Double, of number: Int, in group: String) async throws {
      let place = PlaceWatch.Place(groupId: group, item: known, seconds: seconds, isOver: false)
      let address = uri(number)
      _ = try await reader.answer {
        try Places.keep(place, track: nil, uri: address, at: 1, $0)
      }
    }
    try await keep(700, of: 2, in: "kitchen")
    #expect(place(2, places) == 700 && place(1, places) == nil)
    // Another group goes on with it.
    try await keep(900.5, of: 2, in: "bath")
    #expect(place(2, places) == 900.5)
    let restarted = KeptPlaces()
    _ = try LibraryReader(path: bed.database.path, places: restarted, damaged: { _ in })
    #expect(place(2, restarted) == 900.5)
    let id = try #require(try Podcasts.episode(at: uri(2), bed.database))
    try await reader.answer { try Podcasts.mark(id, isPlayed: true, $0) }
    #expect(place(2, places) == nil)
  }

  @Test func `a long track goes on where it was left, also from another folder`() throws {
    for (name, length) in [("a/long", 1_201.0), ("a/short", 1_199), ("book/whole", 1_201)] {
      let file = "\(name).flac"
      let name = String(name.drop { $0 != "/" }.dropFirst())
      try bed.write(TaggedFile(name), to: file)
      try bed.scan()
      try bed.database.run(
        "UPDATE track SET duration = ? WHERE title = ?", .real(length), .text(name))
    }
    for name in ["long", "short", "whole"] {
      var item = HouseState.Item(
        entryId: 1, title: name, isSeekable: true, isLive: false, hasVideo: false)
      item.durationS = 1_201
      _ = try Places.keep(
        .init(groupId: "g", item: item, seconds: 601, isOver: false),
        track: try bed.track(name)?.id, uri: "", at: 1, bed.database)
    }
    func start(_ name: String) throws -> Double? {
      let id = try #require(try bed.track(name)?.id)
      return try QueueEntries.of(.track(id), bed.folders, bed.database).first?.startS
    }
    #expect(try start("long") == 601 && start("short") == nil)
    // An album that a queue comes to begins in the middle of a track only if that is all of it.
    #expect(
      try Places.ofTurns(bed.folders, bed.database) == [bed.path("book/whole.flac"): 601])
    #expect(try Places.ofTurns(LibraryFolders([]), bed.database).isEmpty)
    try bed.move("a", to: "b/c")
    try bed.scan()
    #expect(
      try Places.begun(limit: 9, bed.database).map(\.title).sorted()
        == ["long", "short", "whole"])
  }

  @Test func `a feed that fails is asked less and less often, and the line goes when it is back`()
    throws
  {
    try subscribe(1...2)
    var now: Int64 = 50
    var pauses: [Int64] = []
    for turn in 0..<7 {
      let before = now
      while try Podcasts.takeDue(at: now, bed.database) == nil { now += 60 }
      pauses.append(now - before)
      let due = Podcasts.Due(id: 1, uri: uri, reach: .network, failures: turn)
      let problem = turn < 3 ? "nobody answers" : "it is gone"
      #expect(
        try Podcasts.failed(due, because: problem, at: now, bed.database)
          == (turn == 0 || turn == 3))
    }
    #expect(pauses == [3_600, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400])
    #expect(try Podcasts.all(bed.database).first?.problem == "it is gone")
    #expect(
      try Podcasts.all(bed.database).first?.thing.detail == "1 new; cannot be read: it is gone")
    try Podcasts.hurry(bed.database)
    #expect(try refresh(1...2, at: now))
    #expect(try Podcasts.all(bed.database).first?.problem == nil)
    #expect(try Podcasts.takeDue(at: now, bed.database) == nil)
  }

  @Test func `a feed that was read while the clock was years ahead is read again`() throws {
    try subscribe(1...2)
    let now: Int64 = 50
    _ = try Podcasts.takeDue(at: now, bed.database)
    try Podcasts.hurry(bed.database)
    #expect(try Podcasts.takeDue(at: now + 10 * 365 * 86_400, bed.database)?.uri == uri)
    #expect(try Podcasts.takeDue(at: now, bed.database)?.uri == uri)
    #expect(try Podcasts.takeDue(at: now, bed.database) == nil)
  }

  @Test func `what the program that reads feeds says is not believed`() throws {
    var false1 = episode(1)
    var false2 = episode(2)
    var false3 = episode(3)
    var odd = episode(4)
    false1.address = "file:///etc/passwd"
    false2.guid = String(repeating: "x", count: PodcastFeed.textLimit + 1)
    false3.durationS = .nan
    (odd.title, odd.publishedS) = ("\u{1b}[2J \u{202e}", .max)
    var feed = PodcastFeed()
    feed.episodes = [false1, false2, false3, odd]
    _ = try Podcasts.add(
      "http://a.example/x", reach: .network, .init(feed: feed, reach: .network), at: 1,
      bed.database)
    let podcast = try #require(try Podcasts.all(bed.database).first)
    #expect(podcast.title == "a.example")
    let found = try Podcasts.contents(podcast.id, bed.database).episodes
    #expect(found.map(\.title) == ["[2J"] && found.first?.publishedAtS == nil)
  }

  @Test func `an answer of the program that reads feeds is bounded`() throws {
    let whole = WorkerAnswer.feed(reading(1...PodcastFeed.episodeLimit).feed, isOwn: true).bytes
    guard case .feed(let feed, isOwn: true)? = WorkerAnswer(whole) else {
      throw Missing(description: "feed")
    }
    #expect(feed.episodes.count == PodcastFeed.episodeLimit)
    #expect(feed.episodes[0].publishedS == 300_000 && feed.episodes[0].durationS == 1_800)
    let more = WorkerAnswer.feed(reading(1...PodcastFeed.episodeLimit + 1).feed, isOwn: true).bytes
    #expect(WorkerAnswer(more) == nil && WorkerAnswer(Array(whole.dropLast(3))) != nil)
    #expect(WorkerAnswer(Array("feed\0\0T\0\0only a guid".utf8)) == nil)
  }

  @Test func `there is an end to podcasts, episodes and places`() throws {
    for number in 1...Podcasts.limit { try subscribe([], uri: "http://a.example/\(number)") }
    #expect(throws: Refusal.self) { try subscribe([], uri: "http://a.example/more") }
    try subscribe([], uri: "http://a.example/1")
    #expect(try Podcasts.all(bed.database).count == Podcasts.limit)
    try Podcasts.remove("f1", bed.database)
    #expect(throws: Refusal.self) { try Podcasts.remove("f1", bed.database) }
    let podcast = try subscribe(1...PodcastFeed.episodeLimit)
    let due = Podcasts.Due(
      id: try #require(LibraryNumber.parse(podcast.id, LibraryNumber.podcast)), uri: uri,
      reach: .network)
    for start in [200, 400] {
      let numbers = start..<(start + PodcastFeed.episodeLimit)
      #expect(
        try Podcasts.write(reading(numbers), of: due, isFirst: false, at: 1, bed.database))
    }
    let kept = try Podcasts.contents(podcast.id, bed.database).episodes
    #expect(kept.count == PodcastFeed.episodeLimit && kept.first?.title == "No. 699")
    try bed.database.transaction { () throws(SQLiteError) in
      for number in 1...Places.limit {
        try bed.database.run(
          "INSERT INTO place (kind, key, seconds, at) VALUES ('track', ?, 1, ?)",
          SQLiteValue(number), SQLiteValue(number))
      }
    }
    _ = try keep(99, of: 699, at: 5_000)
    let count = try bed.database.prepare("SELECT count(*), min(at) FROM place")
      .first { [$0.int(0), $0.int(1)] }
    #expect(count == [Places.limit, 2])
  }

  @Test(.timeLimit(.minutes(5)))
  func `more feeds than can wait are refused, and those that wait end with the library`()
    async
  {
    let desk = FeedDesk(command: ["/bin/sleep", "100"])
    @Sendable func problem() async -> String {
      do throws(FeedDesk.Problem) {
        return "\(try await desk.read("http://a.example/", .network))"
      } catch {
        return error.text
      }
    }
    await withTaskGroup { group in
      for _ in 0..<FeedDesk.waitingLimit { group.addTask { await problem() } }
      while desk.waitingCount < FeedDesk.waitingLimit, !Task.isCancelled { await Task.yield() }
      #expect(await problem().contains("too many others"))
      desk.close()
      for await line in group { #expect(line == "the library is being closed") }
    }
    #expect(desk.waitingCount == 0)
  }

  @Test func `whoever unsubscribes leaves nothing behind`() throws {
    let podcast = try subscribe(1...3)
    let episode = try episodes()[0].id
    _ = try keep(600, of: 3)
    for (kind, id) in [(LibraryThing.Kind.podcast, podcast.id), (.episode, episode)] {
      try Keepsakes.setFavourite(kind, id, to: true, at: 1, bed.database)
    }
    try Keepsakes.note(
      .init(kind: .radio, name: "http://a.example/3.mp3", title: "Three", artist: nil, at: 7),
      bed.database)
    #expect(try Keepsakes.favourites(bed.database).map(\.title) == ["No. 3", "Daily Talk"])
    #expect(try Keepsakes.recent(limit: 9, bed.database).map(\.id) == [episode])
    try Podcasts.remove(podcast.id, bed.database)
    #expect(try Keepsakes.favourites(bed.database).isEmpty)
    #expect(try Places.begun(limit: 9, bed.database).isEmpty)
    let history = try Keepsakes.history(offset: 0, limit: 9, bed.database)
    #expect(history.plays.map(\.title) == ["Three"] && history.plays.first?.id == nil)
    let rest = try bed.database.prepare(
      "SELECT (SELECT count(*) FROM episode) + (SELECT count(*) FROM place)"
    ).first { $0.int(0) }
    #expect(rest == 0)
  }

  @Test func `podcasts and places are saved from a damaged file`() throws {
    try subscribe(1...3)
    let first = try episodes()
    try Podcasts.mark(first[0].id, isPlayed: true, bed.database)
    _ = try keep(600, of: 2)
    let lists = UserLists(rescuedFrom: bed.database.path)
    #expect(!lists.isEmpty && lists.sentence.contains("1 podcast and"))
    let fresh = try LibraryBed.open(bed.temporary.file("fresh.db"))
    try lists.write(to: fresh)
    let found = try Podcasts.contents("f1", fresh).episodes
    #expect(found.map(\.id) == first.map(\.id) && found.map(\.isPlayed) == [true, false, false])
    #expect(found.map(\.positionS) == [nil, 600, nil])
    #expect(try Podcasts.takeDue(at: 1, fresh)?.uri == uri)
  }

  @Test func `a file of the version before gets tables for podcasts, and keeps its lists`() throws {
    _ = try StoredLists.addRadio(name: "FIP", uri: "http://fip/", bed.database)
    try LibraryBed.makeOld(bed.database, version: 6)
    #expect(try LibrarySchema.prepare(bed.database))
    #expect(try StoredLists.radios(bed.database).map(\.name) == ["FIP"])
    #expect(try subscribe(1...2).episodeCount == 2)
  }

  @Test func `a file of the version before gets room for pictures, and reads all feeds for them`()
    throws
  {
    try subscribe(1...2)
    try LibraryBed.makeOld(bed.database, version: 7)
    #expect(try LibrarySchema.prepare(bed.database))
    #expect(try Podcasts.all(bed.database).map(\.episodeCount) == [2])
    #expect(try Podcasts.takeDue(at: 51, bed.database)?.uri == uri)
  }
}
