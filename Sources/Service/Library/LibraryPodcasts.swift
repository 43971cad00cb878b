package import House
package import Sender

/// The podcasts that a household has subscribed to, from any thread. Problems are sentences for people.
package protocol LibraryPodcasts: Sendable {
  func podcasts() async throws(Refusal) -> [Podcast]
  /// Reads the feed first. A podcast that is there already is read anew.
  func subscribe(_ uri: String, reach: SourceReach) async throws(Refusal) -> Podcast
  func unsubscribe(_ id: String) async throws(Refusal)
  /// A podcast with its episodes, the newest first.
  func podcast(_ id: String) async throws(Refusal) -> PodcastContents
  /// Looks for new episodes of all podcasts. Returns once it has begun.
  func refreshPodcasts() async throws(Refusal)
  func markEpisode(_ id: String, isPlayed: Bool) async throws(Refusal)
  /// Episodes and long tracks that were begun and not heard to their ends, the latest first.
  func begun(limit: Int) async throws(Refusal) -> [LibraryThing]
}

package struct Podcast: Codable, Hashable, Sendable {
  package static let uriLengths = Radio.uriLengths

  package var id: String
  package var title: String
  /// The address of its feed, which may hold its subscriber's key: nil for a guest.
  package var uri: String?
  package var episodeCount: Int
  /// Episodes that nobody has begun: those that have come since the household has subscribed, and the newest before.
  package var newCount: Int
  /// Why its feed could not be read the last time.
  package var problem: String?
  package var artwork: String?

  package init(id: String, title: String, uri: String, episodeCount: Int, newCount: Int) {
    (self.id, self.title, self.uri) = (id, title, uri)
    (self.episodeCount, self.newCount) = (episodeCount, newCount)
  }

  /// True for an address of the web; a feed has no other.
  package static func isAddress(_ uri: String) -> Bool { Radio.isAddress(uri) }
}

package struct Episode: Codable, Sendable {
  package var id: String
  package var title: String
  /// Seconds since 1970.
  package var publishedAtS: Double?
  package var durationS: Double?
  /// Where it goes on when it is played.
  package var positionS: Double?
  package var isNew: Bool
  package var isPlayed: Bool

  package init(id: String, title: String, isNew: Bool, isPlayed: Bool) {
    (self.id, self.title) = (id, title)
    (self.isNew, self.isPlayed) = (isNew, isPlayed)
  }
}

package struct PodcastContents: Codable, Sendable {
  package var podcast: Podcast
  package var episodes: [Episode]

  package init(podcast: Podcast, episodes: [Episode]) {
    (self.podcast, self.episodes) = (podcast, episodes)
  }
}

extension Podcast {
  package var thing: LibraryThing {
    let count = newCount > 0 ? "\(newCount) new" : nil
    let parts = [count, problem.map { "cannot be read: \($0)" }].compactMap(\.self)
    return LibraryThing(
      .podcast, id: id, title: title, detail: parts.isEmpty ? nil : parts.joined(separator: "; "))
  }
}

extension Episode {
  package var thing: LibraryThing {
    let state: String? =
      if isPlayed { "played" } else if let positionS { "at \(TimeText.format(positionS))" } else {
        isNew ? "new" : nil
      }
    var thing = LibraryThing(.episode, id: id, title: title, detail: state)
    thing.atS = publishedAtS
    return thing
  }
}
