import ExpatFeeds
import House
import SQLiteStore
import Sender
import Service
import Synchronization
import TestSupport
import Testing

@testable import Library

/// Tests of reading all feeds that are due, by programs that never answer.
@Suite(.timeLimit(.minutes(5))) struct FeedRoundTests {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  private let bed: LibraryBed
  private let library: MediaLibrary

  init() throws {
    bed = try LibraryBed()
    library = try MediaLibrary(
      .init(
        folders: [String](), database: bed.temporary.file("whole.db"),
        pictures: bed.temporary.file("pictures"),
        worker: ["/bin/sh", "-c", "exec /bin/sleep 1000"]),
      changed: { _ in }, report: { _ in })
  }

  /// Subscribes to so many podcasts, long ago.
  private func subscribe(_ count: Int) async throws {
    try await library.file.answer { database in
      for number in 1...count {
        _ = try Podcasts.add(
          "http://a.example/\(number)", reach: .network,
          .init(feed: PodcastFeed(), reach: .network), at: 50, database)
      }
    }
  }

  private func wait(for count: Int) async throws {
    while library.feeds.waitingCount < count { try await giveWay() }
  }

  private func dueCount() async throws -> Int? {
    try await library.file.answer { database in
      try database.prepare("SELECT count(*) FROM podcast WHERE due <= unixepoch()")
        .first { $0.int(0) } ?? nil
    }
  }

  @Test func `feeds that a library leaves unread as it closes are not said to be broken`()
    async throws
  {
    try await subscribe(3)
    let round = Task { [library] in await library.readDueFeeds() }
    try await wait(for: 1)
    library.close()
    await round.value
    #expect(try await library.podcasts().map(\.problem) == [nil, nil, nil])
    #expect(try await dueCount() == 3)
  }

  @Test func `feeds for which there is no time are read in the next round`() async throws {
    try await subscribe(2)
    await withTaskGroup { [library] group in
      for _ in 0..<FeedDesk.waitingLimit {
        group.addTask { _ = try? await library.feeds.read("http://a.example/", .network) }
      }
      try? await wait(for: FeedDesk.waitingLimit)
      await library.readDueFeeds()
      library.close()
    }
    #expect(try await library.podcasts().map(\.problem) == [nil, nil])
    #expect(try await dueCount() == 2)
  }

  @Test func `whoever asks for new episodes again and again has each feed read once at a time`()
    async throws
  {
    try await subscribe(1)
    let ended = Count()
    await withTaskGroup { [library] group in
      group.addTask { await library.readDueFeeds() }
      try? await wait(for: 1)
      for _ in 0..<3 {
        group.addTask {
          try? await library.file.answer { try Podcasts.hurry($0) }
          await library.readDueFeeds()
          ended.value.add(1, ordering: .relaxed)
        }
      }
      while ended.value.load(ordering: .relaxed) < 3, library.feeds.waitingCount == 1,
        !Task.isCancelled
      {
        await Task.yield()
      }
      #expect(library.feeds.waitingCount == 1)
      library.close()
    }
  }

  @Test func `whoever subscribes waits neither for a round of feeds nor for somebody else`()
    async throws
  {
    try await subscribe(2)
    await withTaskGroup { [library] group in
      group.addTask { await library.readDueFeeds() }
      try? await wait(for: 1)
      group.addTask { _ = try? await library.subscribe("http://b.example/", reach: .network) }
      while library.newFeeds.waitingCount == 0, !Task.isCancelled { await Task.yield() }
      await #expect(throws: Refusal.self) {
        try await library.subscribe("http://c.example/", reach: .network)
      }
      library.close()
    }
  }

  @Test func `a round looks once more if it was asked for while it ran`() {
    defer { library.close() }
    #expect(library.feeds.beginRound() && !library.feeds.beginRound())
    #expect(!library.feeds.beginRound() && library.feeds.endRound())
    #expect(!library.feeds.endRound() && library.feeds.beginRound())
  }
}
