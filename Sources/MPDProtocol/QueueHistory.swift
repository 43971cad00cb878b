/// Remembers which songs stood in a queue at its last versions, so that clients are told only what has moved.
package struct QueueHistory: Sendable {
  /// Versions that are remembered of a queue.
  package static let limit = 8

  private var versions: [(number: UInt32, songs: [Int])] = []

  package init() {}

  /// - Parameter songs: a number for each song, which is another one where clients are shown anything else of it.
  package mutating func note(_ songs: [Int], version: UInt32) {
    versions.removeAll { $0.number == version }
    versions.append((version, songs))
    if versions.count > Self.limit { versions.removeFirst() }
  }

  /// Returns the positions that have other songs than at a version. One that is not remembered, also one from the future,
  /// means all.
  package func changes(since version: UInt32) -> [Int] {
    guard let now = versions.last else { return [] }
    guard version != now.number else { return [] }
    guard let before = versions.first(where: { $0.number == version })?.songs else {
      return Array(now.songs.indices)
    }
    return now.songs.indices.filter { $0 >= before.count || before[$0] != now.songs[$0] }
  }
}
