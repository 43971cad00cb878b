/// A list before an edit, as long as it can be brought back: until the list that took its place is edited otherwise.
package struct QueueUndo: Hashable, Sendable {
  /// For people, such as `cleared 12 items`.
  package let sentence: String
  package internal(set) var queue: QueueRecord
  /// As the group's of this name was then.
  package let unshuffled: [Int]?
  /// Where the group was; nil where it goes on from where it is.
  package let place: Place?

  package struct Place: Hashable, Sendable {
    package let queue: QueuePlace?
    package let wasPlaying: Bool

    package init(_ queue: QueuePlace?, wasPlaying: Bool) {
      (self.queue, self.wasPlaying) = (queue, wasPlaying)
    }
  }

  package init(
    _ done: String, _ count: Int, _ queue: QueueRecord, unshuffled: [Int]?, _ place: Place?
  ) {
    self.init(
      sentence: "\(done) \(count) item\(count == 1 ? "" : "s")", queue, unshuffled: unshuffled,
      place)
  }

  /// One that was kept.
  package init(sentence: String, _ queue: QueueRecord, unshuffled: [Int]?, _ place: Place?) {
    (self.sentence, self.queue) = (sentence, queue)
    (self.unshuffled, self.place) = (unshuffled, place)
  }
}

/// Where in its queue a group goes on.
package struct QueuePlace: Hashable, Sendable {
  /// The farthest place in an item, in seconds: nothing is as long, and the place stays a number.
  static let farthest: Double = 100_000_000

  package let entry: Int
  package let seconds: Double
  /// True if it is where somebody has left the entry, if there is such a place; else at `seconds`.
  package let resumes: Bool

  /// - Parameter seconds: a terminal, or a file on a damaged disk, may name any number.
  package init(entry: Int, seconds: Double) {
    (self.entry, resumes) = (entry, false)
    self.seconds = seconds > 0 ? min(seconds, Self.farthest) : 0
  }

  /// The place at which an entry begins whose turn it is.
  package init(turnOf entry: Int) { (self.entry, seconds, resumes) = (entry, 0, true) }

  /// The place `steps` further on in the list; nil beyond the ends of a list that does not repeat.
  package func moved(by steps: Int, in entries: [Int], repeats: Bool) -> QueuePlace? {
    guard let index = entries.firstIndex(of: entry) else { return nil }
    let moved = index + steps
    let count = entries.count
    if repeats { return QueuePlace(turnOf: entries[((moved % count) + count) % count]) }
    return entries.indices.contains(moved) ? QueuePlace(turnOf: entries[moved]) : nil
  }
}
