package import House

/// Tracks with all their tags and the places of their files, from any thread.
package protocol LibrarySongs: Sendable {
  /// Calls `body` with each track of a query, in the order of their paths, on a thread of the library's own.
  ///
  /// - Returns: what `body` has made of `start`.
  func songs<Value: Sendable>(
    _ query: SongQuery, into start: Value,
    _ body: @escaping @Sendable (inout Value, LibrarySong) -> Void
  ) async throws(Refusal) -> Value
}

/// Paths begin with the name of one of the library's folders.
package enum SongQuery: Hashable, Sendable {
  /// All tracks in a folder and below it; the empty path is the whole library.
  case below(String)
  /// Those in this folder, but not below it.
  case inside(String)
  /// The track with this path.
  case at(String)
  /// Those with these ids, in no order.
  case tracks([String])
  case artist(String)
  case album(String)
  case title(String)
}

package struct LibrarySong: Hashable, Sendable {
  package var track: Track
  /// Within the library.
  package var path: String
  package var genres: [String] = []
  package var composers: [String] = []
  /// Seconds since 1970.
  package var modifiedS: Int64 = 0
  package var byteCount: Int64 = 0
  /// As it goes into a queue; nil where its folder is none of the library any more.
  package var entry: Order.NewEntry?

  package init(_ track: Track, path: String) { (self.track, self.path) = (track, path) }
}
