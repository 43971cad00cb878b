package import Clock

/// Collects what a program tells of its music, and lets through the newest of it a few times a second: a program, or whoever
/// plays to it, may tell as much as it likes.
package struct InputNews: Sendable {
  /// Shortest time between two turns.
  package static let interval = Nanoseconds.milliseconds(200)

  /// The title and the picture that it tells by now.
  package private(set) var metadata = ItemMetadata()
  private var state: InputEvent?
  private var volume: InputEvent?
  /// The picture that was told last; nil is none.
  private var toldCover: Artwork?
  private var hasNews = false
  private var next: LocalTime

  package init(at now: LocalTime) { next = now }

  package mutating func take(_ event: InputEvent) {
    hasNews = true
    metadata.take(event)
    switch event {
    case .playing, .paused, .stopped: state = event
    case .volume: volume = event
    case .title, .cover: break
    }
  }

  /// When there is something to tell; nil if there is nothing.
  package var deadline: LocalTime? { hasNews ? next : nil }

  /// Returns the newest volume, picture and state, each once; nil if it is not time yet, or nothing has been told.
  package mutating func turn(at now: LocalTime) -> [InputEvent]? {
    guard hasNews, next <= now else { return nil }
    defer { (state, volume, hasNews) = (nil, nil, false) }
    next = now + Self.interval
    let isNew = toldCover != metadata.artwork
    toldCover = metadata.artwork
    return [volume, isNew ? .cover(metadata.artwork) : nil, state].compactMap(\.self)
  }
}
