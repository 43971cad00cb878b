import FFmpegSource
import Sender
import Synchronization

/// The feeds of live items that are no inputs with a name, while they are played. An item that begins anew, such as after a
/// pause, listens to the feed that is open: most cards can be opened only once, two readers of a pipe would share its sound,
/// and the header of standard input is gone. From any thread.
final class DirectFeeds: Sendable {
  struct Wanted: Hashable {
    var location: LiveLocation
    var raw: RawFormat?
    var latency: LiveLatency?
  }

  /// A feed that runs as long as somebody has this object.
  final class Shared: Sendable {
    let feed: LiveFeed
    let goal: LatencyGoal?

    init(_ feed: LiveFeed, _ goal: LatencyGoal?) { (self.feed, self.goal) = (feed, goal) }

    deinit { feed.stop() }
  }

  private struct Place {
    weak var shared: Shared?
  }

  private let places = Mutex<[Wanted: Place]>([:])

  /// Returns the feed that is open, or opens one, which may wait for a header.
  func feed(
    _ wanted: Wanted, opening open: () throws(MediaError) -> Shared
  ) throws(MediaError) -> Shared {
    if let shared = places.withLock({ $0[wanted]?.shared }) { return shared }
    let shared = try open()
    places.withLock { places in
      places = places.filter { $0.value.shared != nil }
      places[wanted] = Place(shared: shared)
    }
    return shared
  }
}
