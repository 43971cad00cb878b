package import Audio
package import Clock
import WireProtocol

/// One opened item: gives its frames in order, from any position. Used by one thread at a time.
package protocol MediaSource: AnyObject {
  /// Format of the frames that `read` gives; does not change within an item.
  var format: AudioFormat { get }
  /// Sample type of the item. Lossless sources of up to 24 bits are carried bit for bit.
  var sampleType: SampleType { get }
  /// True if the item's own codec is lossless; decides what `--codec auto` chooses.
  var isLossless: Bool { get }
  /// Seconds of the item per second of what `read` gives. Frames are counted and sought in the item's own time,
  /// whatever the rate.
  var rate: Double { get }
  /// Nil if it is not known, as on a pipe.
  var frameCount: Int64? { get }
  /// The frame count, or an estimate if only that is known; may grow while the item arrives.
  var estimatedFrameCount: Int64? { get }
  /// Metadata of the frames read last: a radio station may change it with each read.
  var metadata: ItemMetadata { get }
  /// False if `seek` only goes ahead, or nowhere at all.
  var isSeekable: Bool { get }
  var supply: Supply { get }
  /// Nil unless the item is heard as it happens. Does not change within an item.
  var live: LiveTiming? { get }
  /// Time from the arrival of the frames read last to their sound, which may change. The reading thread asks for it.
  var heldLatency: Nanoseconds? { get }
  /// True if the source is worth keeping for a seek, because opening it again takes long, and can still be used for
  /// one.
  var isReusable: Bool { get }

  /// Appends up to `count` frames, interleaved. Appends none only at the end of the item.
  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError)

  /// Returns the source for reading from about this position on. If the item's format changes, that source has the
  /// format of this position; with `keepsFormat`, it keeps one format to the end. If the item is changed while it
  /// plays, that source belongs to the generation for which it was opened.
  func opened(
    at position: MediaDuration, in generation: UInt32, keepsFormat: Bool
  ) -> any MediaSource

  /// Returns the source that continues the item in another format, where this one has ended; nil at the end of the
  /// item.
  func successor() -> (any MediaSource)?

  /// Returns where playing begins that is to begin at `position`, which is not zero: there, or at the nearest place that
  /// can be reached.
  func place(near position: MediaDuration) -> MediaDuration

  /// Makes `read` continue with frame number `frame`, exactly. At or past the end, `read` gives none.
  func seek(toFrame frame: Int64) throws(MediaError)

  /// Returns the item's own packets, from its beginning. They are read and sought independently of the frames. A reused
  /// source may return the same packets, at any position.
  func packets() throws(PassObstacle) -> any PacketSource
}

extension MediaSource {
  package var estimatedFrameCount: Int64? { frameCount }
  package var rate: Double { 1 }
  package var isSeekable: Bool { true }
  package var supply: Supply { .stored }
  package var live: LiveTiming? { nil }
  package var heldLatency: Nanoseconds? { live?.latency }
  package var isReusable: Bool { false }
  package func opened(
    at position: MediaDuration, in generation: UInt32, keepsFormat: Bool
  ) -> any MediaSource { self }
  package func successor() -> (any MediaSource)? { nil }
  package func place(near position: MediaDuration) -> MediaDuration { position }
  /// True for a station whose last hour is kept.
  package var isKept: Bool { supply == .live && isSeekable }
  /// True if a read may wait for others, such as the network. What it has read is then passed on at once.
  var mayWait: Bool { supply != .stored || live != nil }

  package func packets() throws(PassObstacle) -> any PacketSource {
    throw .notPassable(codec: "PCM")
  }
}

package struct ItemMetadata: Hashable, Sendable {
  package var title: String?
  package var artist: String?
  package var album: String?
  package var albumArtist: String?
  /// From 1.
  package var track: Int?
  /// From 1.
  package var disc: Int?
  /// A year or a date, as the item states it.
  package var date: String?
  package var artwork: Artwork?
  /// In LUFS, from the item's tags.
  package var loudness: Double?
  /// The largest sample, relative to full scale 1, from the item's tags.
  package var peak: Double?
  /// In order; at most `ItemChapter.limit`.
  package var chapters: [ItemChapter] = []
  /// True if the item has moving pictures, too.
  package var hasVideo = false

  package init(title: String? = nil, artist: String? = nil, album: String? = nil) {
    self.title = title
    self.artist = artist
    self.album = album
  }

  /// Limit of characters in a tag or title: several lines of a terminal, and more than any display has room for.
  package static let textLimit = 500

  /// Returns a text from a file or list in a form that is safe on a terminal.
  package static func shown(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit))).shownPlainly
  }
}

/// The picture that comes with an item, in the form in which it was stored.
package struct Artwork: Hashable, Sendable {
  /// Largest picture, in bytes. A larger one is left out.
  package static let sizeLimit = ProtocolLimits.artwork

  package var bytes: [UInt8]
  /// Such as `image/jpeg`.
  package var mimeType: String

  /// Returns nil if `bytes` is empty or longer than `sizeLimit`.
  package init?(bytes: [UInt8], mimeType: String) {
    guard (1...Self.sizeLimit).contains(bytes.count) else { return nil }
    self.bytes = bytes
    self.mimeType = mimeType
  }
}

/// The reason why an item cannot be played. `description` is one line that says what is wrong, where, and what to do.
package enum MediaError: Error, Hashable, Sendable {
  case notFound(path: String)
  case unreadable(path: String, reason: String)
  /// It holds no audio, or is not a media file at all.
  case notAudio(path: String, reason: String)
  case unsupported(path: String, reason: String)
  /// The item is broken in the middle; the part before was played.
  case broken(path: String, reason: String)
  /// The item ended before its time, after what there was of it was played. In whole seconds.
  case endsEarly(path: String, after: Int64, of: Int64)
  case notSeekable(path: String)
}
