internal import Sender

/// The tags of an item, with its cover and chapters. Texts are safe to show: they have no control characters, and at
/// most 500 characters.
public struct MediaMetadata: Hashable, Sendable {
  /// A picture that comes with an item, in the form in which it is stored: at most 4 MiB.
  public struct Cover: Hashable, Sendable {
    public let bytes: [UInt8]
    /// Such as `image/jpeg`.
    public let mimeType: String
  }

  public struct Chapter: Hashable, Sendable {
    /// Nil if the item does not name it.
    public let title: String?
    /// Position in the item.
    public let start: PlaybackTime
  }

  public let title: String?
  public let artist: String?
  public let album: String?
  public let albumArtist: String?
  /// Counts from 1.
  public let track: Int?
  /// Counts from 1.
  public let disc: Int?
  /// A year or a date, as the item states it.
  public let date: String?
  public let cover: Cover?
  /// In order; at most 512.
  public let chapters: [Chapter]
  /// True if the item has moving pictures: rooms play its sound, and a program may show the pictures in step.
  public let hasVideo: Bool

  init(_ metadata: ItemMetadata) {
    (title, artist, album) = (metadata.title, metadata.artist, metadata.album)
    (albumArtist, date) = (metadata.albumArtist, metadata.date)
    (track, disc, hasVideo) = (metadata.track, metadata.disc, metadata.hasVideo)
    cover = metadata.artwork.map { Cover(bytes: $0.bytes, mimeType: $0.mimeType) }
    chapters = metadata.chapters.map { Chapter(title: $0.title, start: PlaybackTime($0.start)) }
  }
}
