/// Remembers which songs stood in a queue at its last versions, so that clients are told only what has moved.
package struct QueueHistory: Sendable {
  /// Versions that are remembered of a queue.
  package static let limit = 8

  private var versions: [(number: UInt32, ids: [Int])] = []

  package init() {}

  package mutating func note(_ ids: [Int], version: UInt32) {
    versions.removeAll { $0.number == version }
    versions.append((version, ids))
    if versions.count > Self.limit { versions.removeFirst() }
  }

  /// Returns the positions that have other songs than at a version. One that is not remembered, also one from the future,
  /// means all.
  package func changes(since version: UInt32) -> [Int] {
    guard let now = versions.last else { return [] }
    guard version != now.number else { return [] }
    guard let before = versions.first(where: { $0.number == version })?.ids else {
      return Array(now.ids.indices)
    }
    return now.ids.indices.filter { $0 >= before.count || before[$0] != now.ids[$0] }
  }
}
