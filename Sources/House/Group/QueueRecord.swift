package import Sender

/// The entries of a queue in their order, as they are kept. Each entry has a rank, and ranks grow along the queue. An edit
/// gives few entries a new rank, so that few rows of a long queue are written.
package struct QueueRecord: Hashable, Sendable {
  package typealias Details = Order.NewEntry

  package struct Entry: Hashable, Sendable {
    package let id: Int
    package fileprivate(set) var rank: Int64
    private let shared: Shared
    package var details: Details { shared.details }

    package init(id: Int, rank: Int64 = 0, _ details: Details) {
      (self.id, self.rank, shared) = (id, rank, Shared(details))
    }

    package static func == (one: Entry, other: Entry) -> Bool {
      one.id == other.id && one.rank == other.rank
        && (one.shared === other.shared || one.details == other.details)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  /// All copies of a queue share what is known of an entry. One that becomes known better gets another of these.
  private final class Shared: Sendable {
    let details: Details

    init(_ details: Details) { self.details = details }
  }

  /// Between the ranks of entries that are added at the ends.
  private static let gap: Int64 = 1 << 32
  /// Between the ranks of entries that make room for others, at least, so that they need not do so soon again.
  private static let leastGap: Int64 = 1 << 16
  /// Ranks lie between this and its negative: what adds and subtracts few of them cannot overflow.
  private static let rankLimit: Int64 = 1 << 61
  /// How many entries that have gone from one place are passed at once. Beyond it, those behind them get new ranks.
  private static let lookAhead = 8

  package private(set) var entries: [Entry] = []

  package init() {}

  /// As they were kept; all get new ranks where theirs do not grow.
  package init(_ entries: [Entry]) {
    self.entries = entries
    let areInOrder = zip(entries, entries.dropFirst()).allSatisfy { $0.rank < $1.rank }
    let ends = [entries.first, entries.last].compactMap { $0?.rank }
    let isWithin = ends.allSatisfy { (-Self.rankLimit...Self.rankLimit).contains($0) }
    if !areInOrder || !isWithin { rankAnew() }
  }

  package var ids: [Int] { entries.map(\.id) }

  /// Takes what has become known of entries since they were added.
  package mutating func describe(_ known: [Int: Details]) {
    for place in entries.indices {
      guard let details = known[entries[place].id] else { continue }
      entries[place] = Entry(id: entries[place].id, rank: entries[place].rank, details)
    }
  }

  // MARK: - Following the list

  /// Becomes a record of `items`. Entries that stand in the same order as before keep their ranks, as far as it is found
  /// in one walk.
  package mutating func follow(_ items: [PlayItem], _ details: (PlayItem) -> Details) {
    let shorter = min(entries.count, items.count)
    var start = 0
    while start < shorter, entries[start].id == items[start].id { start += 1 }
    var end = 0
    while end < shorter - start,
      entries[entries.count - 1 - end].id == items[items.count - 1 - end].id
    {
      end += 1
    }
    let new = items[start..<items.count - end]
    let (merged, added) = merge(new, with: entries[start..<entries.count - end], details)
    entries.replaceSubrange(start..<entries.count - end, with: merged)
    for run in added { rank(start + run.lowerBound..<start + run.upperBound) }
  }

  /// Returns also where entries stand that have no rank yet.
  private func merge(
    _ items: ArraySlice<PlayItem>, with old: ArraySlice<Entry>, _ details: (PlayItem) -> Details
  ) -> ([Entry], [Range<Int>]) {
    var merged: [Entry] = []
    merged.reserveCapacity(items.count)
    var added: [Range<Int>] = []
    var next = old.startIndex
    for item in items {
      let near = next..<min(next + Self.lookAhead, old.endIndex)
      if let found = near.first(where: { old[$0].id == item.id }) {
        merged.append(old[found])
        next = found + 1
        continue
      }
      let place = merged.count
      merged.append(Entry(id: item.id, details(item)))
      if let last = added.last, last.upperBound == place {
        added[added.count - 1] = last.lowerBound..<place + 1
      } else {
        added.append(place..<place + 1)
      }
    }
    return (merged, added)
  }

  // MARK: - Ranks

  /// Gives the entries in `run` ranks between their neighbours', and the entries before them too where there is no room.
  /// Those before them have ranks, and the one behind them.
  private mutating func rank(_ run: Range<Int>) {
    var run = run
    var leastGap: Int64 = 1
    repeat {
      let low = run.lowerBound > 0 ? entries[run.lowerBound - 1].rank : nil
      let high = run.upperBound < entries.count ? entries[run.upperBound].rank : nil
      if let (first, step) = Self.ranks(run.count, after: low, before: high, leastGap) {
        for index in run {
          entries[index].rank = first + Int64(index - run.lowerBound) * step
        }
        return
      }
      leastGap = Self.leastGap
      if run.lowerBound == 0 { break }
      run = max(0, run.lowerBound - run.count)..<run.upperBound
    } while true
    rankAnew()
  }

  private mutating func rankAnew() {
    for index in entries.indices { entries[index].rank = Int64(index) * Self.gap }
  }

  private static func ranks(
    _ count: Int, after low: Int64?, before high: Int64?, _ leastGap: Int64
  ) -> (first: Int64, step: Int64)? {
    let count = Int64(count)
    var (first, step) = (Int64(0), gap)
    if let low, let high {
      step = (high - low) / (count + 1)
      first = low + step
    } else if let low {
      first = low + gap
    } else if let high {
      first = high - count * gap
    }
    let last = first + (count - 1) * step
    guard step >= leastGap, first >= -rankLimit, last <= rankLimit else { return nil }
    return (first, step)
  }
}
