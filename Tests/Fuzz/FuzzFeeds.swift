import ExpatFeeds

/// Feeds arbitrary bytes to what reads feeds of podcasts, and checks the bounds of what it finds. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFeeds(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let feed = try? PodcastFeed(Array(UnsafeBufferPointer(start: start, count: count))) else {
    return 0
  }
  precondition(feed.title.utf8.count <= PodcastFeed.textLimit)
  precondition((feed.picture ?? "").utf8.count <= PodcastFeed.addressLimit)
  precondition(feed.episodes.count <= PodcastFeed.episodeLimit)
  for episode in feed.episodes {
    precondition(
      [episode.title, episode.guid].allSatisfy { $0.utf8.count <= PodcastFeed.textLimit })
    precondition(!episode.guid.isEmpty && episode.address.utf8.count <= PodcastFeed.addressLimit)
    precondition(episode.durationS.map { $0 > 0 && $0.isFinite } ?? true)
  }
  return 0
}
