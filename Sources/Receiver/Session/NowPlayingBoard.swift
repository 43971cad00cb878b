import Clock
package import WireProtocol

/// What displays show of what is heard.
package struct SoundingItem: Hashable, Sendable {
  package var description: ItemDescription
  /// Nil where there is none, and until it has come.
  package var artwork: SoundingArtwork?

  package init(description: ItemDescription, artwork: SoundingArtwork? = nil) {
    self.description = description
    self.artwork = artwork
  }
}

/// A picture as the sender has it.
package struct SoundingArtwork: Hashable, Sendable {
  /// Such as `image/jpeg`, as the sender says: look at the bytes before you believe it.
  package var mimeType: String
  package var bytes: [UInt8]
}

/// What the sender has announced, by media time, and what of it is heard. Holds
/// `ProtocolLimits.heldAnnouncements` and `ProtocolLimits.heldArtwork` bytes at most.
struct NowPlayingBoard {
  /// Where the sound is.
  enum Position: Hashable {
    /// It says nothing about what is shown.
    case unknown
    /// No sound, and none to come for now.
    case nothing
    case sounding(MediaTime)
    /// Silent here, and to go on from here.
    case paused(MediaTime)
    /// Silent here for want of packets.
    case starved(MediaTime)
  }

  struct Change: Hashable {
    let item: SoundingItem?
  }

  /// In order of media time.
  private(set) var announcements: [NowPlaying] = []
  private(set) var artworks = ArtworkShelf()
  /// What is heard, or would be but for a pause.
  private var heard: ItemDescription?
  /// What was told of it.
  private var told: SoundingItem?

  /// It takes the place of all that begin at or after it.
  mutating func announce(_ announcement: NowPlaying) {
    announcements.removeAll { $0.from >= announcement.from }
    guard announcements.count < ProtocolLimits.heldAnnouncements else { return }
    announcements.append(announcement)
  }

  /// Forgets what older generations say of `time` and later.
  mutating func flush(from time: MediaTime, generation: UInt32) {
    announcements.removeAll { $0.from >= time && $0.generation < generation }
  }

  mutating func add(_ piece: ArtworkPiece) {
    let named = announcements.compactMap(\.item?.artwork) + [heard?.artwork ?? 0]
    artworks.add(piece) { named.contains($0) }
  }

  /// The stream is over.
  mutating func removeAll() {
    announcements = []
    artworks = ArtworkShelf()
    heard = nil
  }

  /// What is to be told, if it is something new.
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
      // Nothing new is heard, but the list may have ended here.
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
