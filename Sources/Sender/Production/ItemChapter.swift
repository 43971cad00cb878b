package import Clock
import WireProtocol

/// A chapter of an item, as of an audiobook.
package struct ItemChapter: Hashable, Sendable {
  /// Largest number of chapters of one item; further ones are left out.
  package static let limit = 512
  /// Largest title, in bytes.
  package static let titleLimit = 128
  /// Possible starts, in flicks.
  package static let starts: ClosedRange<Int64> = 0...(1 << 58)

  /// Nil if the item does not name it.
  package var title: String?
  package var start: MediaDuration

  package init(title: String?, start: MediaDuration) {
    self.title = title.map { $0.shownPlainly.plain(atMost: Self.titleLimit) }
    self.start = MediaDuration(
      flicks: min(max(start.flicks, Self.starts.lowerBound), Self.starts.upperBound))
  }
}
