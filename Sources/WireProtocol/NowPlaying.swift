package import Clock

/// Announces the item that plays from a media time on, until the next one begins. See
/// docs/protocol/control-messages.md.
package struct NowPlaying: Hashable, Sendable {
  package var generation: UInt32
  package var from: MediaTime
  /// Nil if nothing plays from here on.
  package var item: ItemDescription?

  package init(generation: UInt32, from: MediaTime, item: ItemDescription?) {
    self.generation = generation
    self.from = from
    self.item = item
  }
}

/// The description of an item that displays in the rooms show.
package struct ItemDescription: Hashable, Sendable {
  /// Texts are empty if they are not known. At most `ProtocolLimits.itemText` bytes of UTF-8.
  package var title: String
  package var artist: String
  package var album: String
  /// From 1; 0 if it is not known.
  package var track: UInt16
  /// Zero if it is not known.
  package var duration: MediaDuration
  /// The number of its picture; 0 if it has none.
  package var artwork: UInt32

  package init(
    title: String = "", artist: String = "", album: String = "", track: UInt16 = 0,
    duration: MediaDuration = .zero, artwork: UInt32 = 0
  ) {
    self.title = title
    self.artist = artist
    self.album = album
    self.track = track
    self.duration = duration
    self.artwork = artwork
  }
}

/// A part of a picture. See docs/protocol/media.md.
package struct ArtworkPiece: Hashable, Sendable {
  /// Number of the picture, as `ItemDescription` names it; from 1.
  package var number: UInt32
  /// Size of the whole picture, in bytes.
  package var size: Int
  /// The place of `bytes` in the picture.
  package var offset: Int
  /// Such as `image/jpeg`.
  package var mimeType: String
  /// At most `ProtocolLimits.artworkPiece`.
  package var bytes: [UInt8]

  package init(number: UInt32, size: Int, offset: Int, mimeType: String, bytes: [UInt8]) {
    self.number = number
    self.size = size
    self.offset = offset
    self.mimeType = mimeType
    self.bytes = bytes
  }
}
