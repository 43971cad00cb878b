import Clock
package import WireProtocol

/// A description of the sounding item, for displays.
package struct SoundingItem: Hashable, Sendable {
  package var description: ItemDescription
  /// Nil if the item has none, and until it has arrived.
  package var artwork: SoundingArtwork?

  package init(description: ItemDescription, artwork: SoundingArtwork? = nil) {
    self.description = description
    self.artwork = artwork
  }
}

/// A picture as the sender has it.
package struct SoundingArtwork: Hashable, Sendable {
  /// A type such as `image/jpeg`, as the sender claims: check the bytes before you believe it.
  package var mimeType: String
  package var bytes: [UInt8]
}

/// The sender's announcements by media time, and the item that sounds. Holds at most
/// `ProtocolLimits.heldAnnouncements` announcements and `ProtocolLimits.heldArtwork` bytes of
/// pictures.
struct NowPlayingBoard {
  /// State of the sound, with its position.
  enum Position: Hashable {
    /// Not known; the display stays as it is.
    case unknown
    /// No sound now, and none to come for the present.
    case nothing
    case sounding(MediaTime)
    /// Silent here, to continue from this time.
    case paused(MediaTime)
    /// Silent here because packets are missing.
    case starved(MediaTime)
  }

  struct Change: Hashable {
    let item: SoundingItem?
  }

  /// In order of media time.
  private(set) var announcements: [NowPlaying] = []
  private(set) var artworks = ArtworkShelf()
  /// The item that sounds, or would sound but for a pause.
  private var heard: ItemDescription?
  /// The item last reported to displays.
  private var told: SoundingItem?

  /// Adds an announcement, which replaces all that begin at or after it.
  mutating func announce(_ announcement: NowPlaying) {
    announcements.removeAll { $0.from >= announcement.from }
    guard announcements.count < ProtocolLimits.heldAnnouncements else { return }
    announcements.append(announcement)
  }

  /// Forgets announcements of older generations at and after `time`.
  mutating func flush(from time: MediaTime, generation: UInt32) {
    announcements.removeAll { $0.from >= time && $0.generation < generation }
  }

  mutating func add(_ piece: ArtworkPiece) {
    let named = announcements.compactMap(\.item?.artwork) + [heard?.artwork ?? 0]
    artworks.add(piece) { named.contains($0) }
  }

  /// Forgets everything, because the stream is over.
  mutating func removeAll() {
    announcements = []
    artworks = ArtworkShelf()
    heard = nil
  }

  /// Moves to `position`. Returns the change to report to displays, if there is one.
  mutating func advance(to position: Position) -> Change? {
    switch position {
    case .unknown: break
    case .nothing: heard = nil
    case .sounding(let time):
      forget(before: time)
      if let first = announcements.first, first.from <= time { heard = first.item }
    case .paused(let time):
      if let here = announcement(at: time) { heard = here.item }
    case .starved(let time):
      // No new item sounds, but the list may have ended here.
      if let here = announcement(at: time), here.item == nil { heard = nil }
    }
    return change()
  }

  private func announcement(at time: MediaTime) -> NowPlaying? {
    announcements.last { $0.from <= time }
  }

  private mutating func forget(before time: MediaTime) {
    let past = announcements.lastIndex { $0.from <= time } ?? 0
    if past > 0 { announcements.removeFirst(past) }
  }

  private mutating func change() -> Change? {
    let hasArtwork = heard.map { artworks.holds($0.artwork) } ?? false
    guard heard != told?.description || hasArtwork != (told?.artwork != nil) else { return nil }
    told = heard.map {
      SoundingItem(description: $0, artwork: hasArtwork ? artworks[$0.artwork] : nil)
    }
    return Change(item: told)
  }
}
