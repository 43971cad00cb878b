import Dispatch
package import Sender
import Synchronization

/// The loudness of a household's tracks, as far as somebody has measured them. From any thread.
package final class MeasuredLoudness: Sendable {
  package struct Track: Hashable, Sendable {
    package var level: ItemLevel
    /// The album's number, and the level of all of it.
    package var album: Int64?
    package var albumLevel: ItemLevel?

    package init(_ level: ItemLevel, album: Int64? = nil, albumLevel: ItemLevel? = nil) {
      (self.level, self.album, self.albumLevel) = (level, album, albumLevel)
    }
  }

  private struct State {
    var tracks: [String: Track] = [:]
    /// The location that was asked for last and is not known.
    var wish: String?
    var isWanted = false
    var wanted: @Sendable () -> Void = {}
    /// True while those that are known are being read.
    var isLoading = false
  }

  /// In seconds. Ten thousand tracks take a third of a second at 2.5 GHz; a disk that hangs must not silence a group.
  private static let loadTimeout = 10.0

  private let state = Mutex(State())
  /// Signalled once the known levels are read. Whoever has waited signals it again for the next one.
  private let loaded = DispatchSemaphore(value: 0)

  package init() {}

  /// Lets those who ask for a level wait until `replace` or `endLoading`: music that goes on while the daemon starts
  /// must have the gain that it had. To be called before anything plays.
  package func beginLoading() { state.withLock { $0.isLoading = true } }

  package func endLoading() {
    let wasLoading = state.withLock { state in
      defer { state.isLoading = false }
      return state.isLoading
    }
    if wasLoading { loaded.signal() }
  }

  private func waitUntilLoaded() {
    guard state.withLock({ $0.isLoading }) else { return }
    if loaded.wait(timeout: .now() + Self.loadTimeout) == .success { loaded.signal() }
  }

  /// Returns the level to which the item's gain is reckoned: its album's beside another track of that, so that the
  /// album keeps its quiet songs quiet; else its own. One that is not known is wished for. Blocks for up to `loadTimeout`, so
  /// only threads that open sources may call it: see `ProducerThread`.
  package func level(of location: String, beside neighbours: [String]) -> ItemLevel? {
    waitUntilLoaded()
    let (level, wanted) = state.withLock { state -> (ItemLevel?, (@Sendable () -> Void)?) in
      guard let track = state.tracks[location] else {
        (state.wish, state.isWanted) = (location, true)
        return (nil, state.wanted)
      }
      let isInAlbum = neighbours.contains { neighbour in
        neighbour != location && track.album != nil
          && state.tracks[neighbour]?.album == track.album
      }
      return (isInAlbum ? track.albumLevel ?? track.level : track.level, nil)
    }
    wanted?()
    return level
  }

  /// True once the level of an item was wished for that is not known.
  package var isWanted: Bool { state.withLock { $0.isWanted } }

  /// Called when a level is wished for, on the thread that wishes; and once at once if one is.
  package func whenWanted(_ body: @escaping @Sendable () -> Void) {
    let isWanted = state.withLock { state in
      state.wanted = body
      return state.isWanted
    }
    if isWanted { body() }
  }

  /// The location whose level was wished for last, once.
  package func takeWish() -> String? {
    state.withLock { state in
      defer { state.wish = nil }
      return state.wish
    }
  }

  package func set(_ tracks: [String: Track]) {
    state.withLock { $0.tracks.merge(tracks) { $1 } }
  }

  /// Forgets those at other locations.
  package func replace(with tracks: [String: Track]) {
    state.withLock { $0.tracks = tracks }
    endLoading()
  }
}
