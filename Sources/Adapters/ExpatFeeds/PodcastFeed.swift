/// A podcast as its feed describes it, in RSS 2.0 with the names of iTunes, or in Atom. Texts are the feed's own: control
/// characters are still in them.
package struct PodcastFeed: Sendable {
  package struct Episode: Sendable {
    /// Names the episode in its feed for good.
    package var guid: String
    package var title: String
    /// Where its audio is.
    package var address: String
    /// Seconds since 1970.
    package var publishedS: Int64?
    package var durationS: Double?

    package init(guid: String, title: String, address: String) {
      (self.guid, self.title, self.address) = (guid, title, address)
    }
  }

  /// Episodes of one feed; older ones are left out.
  package static let episodeLimit = 300
  /// Bytes of a title, and of a guid. Longer titles are cut; of longer guids, the beginning and a hash are kept.
  package static let textLimit = 500
  /// Bytes of an address; an episode with a longer one is left out.
  package static let addressLimit = 2_000
  /// Elements that stand in each other.
  package static let depthLimit = 64

  package var title = ""
  /// The address of its picture.
  package var picture: String?
  /// The newest first.
  package var episodes: [Episode] = []

  package init() {}

  /// A sentence's part that says why it is no feed.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  package init(_ bytes: [UInt8]) throws(Fault) { self = try FeedReader.read(bytes) }

  /// Leaves out what is older than the newest `episodeLimit`. Episodes without a date stay in the order of the feed.
  mutating func sort() {
    let order = episodes.enumerated().sorted { a, b in
      let (first, second) = (a.element.publishedS ?? .min, b.element.publishedS ?? .min)
      return first == second ? a.offset < b.offset : first > second
    }
    episodes = order.prefix(Self.episodeLimit).map(\.element)
  }
}
