import Glibc
package import House
package import Sender
package import Service

extension MediaLibrary {
  package func podcasts() async throws(Refusal) -> [Podcast] {
    try await file.answer { try Podcasts.all($0) }
  }

  package func podcast(_ id: String) async throws(Refusal) -> PodcastContents {
    try await file.answer { try Podcasts.contents(id, $0) }
  }

  package func subscribe(_ uri: String, reach: SourceReach) async throws(Refusal) -> Podcast {
    let uri = WebAddress.typed(uri)
    guard Podcast.isAddress(uri) else {
      throw .invalid("a feed has an address such as https://host/path")
    }
    try await file.answer { try Podcasts.check(uri, $0) }
    let reading: Podcasts.Reading
    do throws(FeedDesk.Problem) {
      reading = try await newFeeds.read(uri, reach)
    } catch {
      throw .invalid("this feed cannot be read: \(error.text)")
    }
    let now = Int64(time(nil))
    return try await file.edit { try Podcasts.add(uri, reach: reach, reading, at: now, $0) }
  }

  package func unsubscribe(_ id: String) async throws(Refusal) {
    try await file.edit { try Podcasts.remove(id, $0) }
  }

  package func markEpisode(_ id: String, isPlayed: Bool) async throws(Refusal) {
    try await file.edit { try Podcasts.mark(id, isPlayed: isPlayed, $0) }
  }

  package func refreshPodcasts() async throws(Refusal) {
    try await file.answer { try Podcasts.hurry($0) }
    Task { await readDueFeeds() }
  }

  package func begun(limit: Int) async throws(Refusal) -> [LibraryThing] {
    try await file.answer { try Places.begun(limit: limit, $0) }
  }

  /// Reads the feeds that are due, one after the other, unless somebody does so already.
  func readDueFeeds() async {
    guard feeds.beginRound() else { return }
    repeat { await readRound() } while feeds.endRound()
  }

  /// Ends early where a feed cannot even be tried: it stays due, for the next round.
  private func readRound() async {
    while !Task.isCancelled {
      let now = Int64(time(nil))
      guard let due = try? await file.answer({ try Podcasts.takeDue(at: now, $0) }) else { return }
      let isChanged: Bool?
      do throws(FeedDesk.Problem) {
        let reading = try await feeds.read(due.uri, due.reach)
        isChanged = try? await file.answer {
          try Podcasts.write(reading, of: due, isFirst: false, at: now, $0)
        }
      } catch {
        guard !error.isUntried else {
          try? await file.answer { try Podcasts.giveBack(due, at: now, $0) }
          return
        }
        isChanged = try? await file.answer {
          try Podcasts.failed(due, because: error.text, at: now, $0)
        }
      }
      if isChanged == true { try? await file.edit { _ in } }
    }
  }

  /// Reads feeds as they become due, until the task is cancelled.
  package func followPodcasts() async {
    repeat { await readDueFeeds() } while (try? await Task.sleep(for: .seconds(60))) != nil
  }

  /// Keeps where an item was left: a track of the library by its id, an episode by its address.
  func keep(_ place: PlaceWatch.Place, uri: String) async throws(Refusal) {
    let now = Int64(time(nil))
    let isChanged = try await file.answer {
      try Places.keep(place, track: place.item.trackId, uri: uri, at: now, $0)
    }
    if isChanged { try await file.edit { _ in } }
  }
}
