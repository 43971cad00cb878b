package import Audio
package import Clock
import WireProtocol

/// One opened item: frames one after the other, from any place in it. Used by one thread at a time.
package protocol MediaSource: AnyObject {
  /// Of the frames that `read` gives; does not change within an item.
  var format: AudioFormat { get }
  /// What the item holds: lossless sources of up to 24 bits are carried bit for bit.
  var sampleType: SampleType { get }
  /// Whether the item's own codec is lossless; decides what `--codec auto` chooses.
  var isLossless: Bool { get }
  /// Seconds of the item in one second of what `read` gives. Frames are counted and sought in the item's own
  /// time, whatever the rate.
  var rate: Double { get }
  /// Nil where it is not known, as on a pipe.
  var frameCount: Int64? { get }
  /// The same where it is known only about; may grow while the item arrives.
  var estimatedFrameCount: Int64? { get }
  /// May change with each read where the item is a radio station: it belongs to the frames read last.
  var metadata: ItemMetadata { get }
  /// False where `seek` goes nowhere but ahead, or nowhere at all.
  var isSeekable: Bool { get }
  var supply: Supply { get }
  /// Nil unless it is heard as it happens. Does not change within an item.
  var live: LiveTiming? { get }
  /// How long after their arrival the frames read last are heard, where that may change. The reading thread asks.
  var heldLatency: Nanoseconds? { get }
  /// Whether it is worth being kept for a seek, because opening it anew takes long, and is still fit for one.
  var isReusable: Bool { get }

  /// Appends up to `count` frames, interleaved; appends none only at the end of the item.
  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError)

  /// The source for reading from about this place on. One that changes its format is from there on what it is there, and
  /// stays so with `keepsFormat`. One whose item is changed while it plays belongs to the generation for which it was opened.
  func opened(
    at position: MediaDuration, in generation: UInt32, keepsFormat: Bool
  ) -> any MediaSource

  /// What goes on where this source has ended, and the item has not: the same in another format. Nil at the end of the item.
  func successor() -> (any MediaSource)?

  /// The next frame that `read` gives is number `frame`, exactly. At or past the end: `read` gives none.
  func seek(toFrame frame: Int64) throws(MediaError)

  /// The item's own packets from its beginning, beside the frames: both are read and sought on their own. Of a source
  /// that is used again they may be those from before, which stand anywhere.
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
  /// Whether a read may wait for others, such as the network: what it gave is then passed on at once.
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
  /// As the item has it: a year, or a date.
  package var date: String?
  package var artwork: Artwork?
  /// In LUFS, as the item's tags say.
  package var loudness: Double?
  /// The largest sample, of full scale 1, as the item's tags say.
  package var peak: Double?

  package init(title: String? = nil, artist: String? = nil, album: String? = nil) {
    self.title = title
    self.artist = artist
    self.album = album
  }

  /// Characters of a tag or title: several lines of a terminal, and more than any display has room for.
  package static let textLimit = 500

  /// A text of a file or list, as it may stand on a terminal.
  package static func shown(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit))).shownPlainly
  }
}

/// The picture that comes with an item, in the form in which it was stored.
package struct Artwork: Hashable, Sendable {
  /// A larger one is left out.
  package static let sizeLimit = ProtocolLimits.artwork

  package var bytes: [UInt8]
  /// Such as `image/jpeg`.
  package var mimeType: String

  /// Nil for nothing, and for more than `sizeLimit`.
  package init?(bytes: [UInt8], mimeType: String) {
    guard (1...Self.sizeLimit).contains(bytes.count) else { return nil }
    self.bytes = bytes
    self.mimeType = mimeType
  }
}

/// Why an item cannot be played: `description` is one line that says what, where and what to do.
package enum MediaError: Error, Hashable, Sendable {
  case notFound(path: String)
  case unreadable(path: String, reason: String)
  /// No audio in it, or not a media file at all.
  case notAudio(path: String, reason: String)
  case unsupported(path: String, reason: String)
  /// Broken in the middle; what came before was played.
  case broken(path: String, reason: String)
  /// It ends before its time; what there was of it was played. In whole seconds.
  case endsEarly(path: String, after: Int64, of: Int64)
  case notSeekable(path: String)
}
