package import Clock
package import Sender
import Synchronization

/// The places at which items begin whose turn it is: where a household has left them. By their locations; from any thread.
package final class KeptPlaces: Sendable {
  private let seconds = Mutex<[String: Double]>([:])

  package init() {}

  /// Forgets those of other items.
  package func replace(with places: [String: Double]) { seconds.withLock { $0 = places } }

  /// Returns the place at which an item was left; nil if it begins at its beginning.
  package func place(of item: PlayItem) -> MediaDuration? {
    // A damaged library may name any number.
    seconds.withLock { $0[item.location] }.map { MediaDuration(seconds: min(max(0, $0), 1e8)) }
  }
}
