package import Audio

/// The packets of an opened item as they stand in its file or stream, undecoded. Used by one thread at a time.
package protocol PacketSource: AnyObject {
  /// Does not change within an item.
  var format: StreamFormat { get }
  /// The number of the item's frame that the next valid one is.
  var position: Int64 { get }

  /// Nil at the end of the item. The first one, and the first one after a `seek`, is for a fresh decoder.
  ///
  /// - Throws: where the stream cannot be passed on any further; decoded, it may still go on from `position`.
  func next() throws(MediaError) -> EncodedPacket?

  /// The first valid frame of what `next` gives from now on is number `frame`, exactly; packets that only prepare the
  /// decoder come before it.
  func seek(toFrame frame: Int64) throws(MediaError)
}

/// Why the packets of an item cannot be passed on as they are.
package enum PassObstacle: Error, Hashable, Sendable {
  /// Effects need the decoded sound.
  case soundIsChanged
  /// So many channels are mixed to fewer.
  case isMixed(channels: Int)
  /// A rate, in Hz, that is none of ours.
  case isResampled(rate: Int)
  /// It goes on as long as somebody sends.
  case isLive
  /// It cannot be opened a second time.
  case isPiped
  /// Not all rooms decode this codec.
  case roomsLack(Codec)
  /// A codec that no room knows, or a form of it that is not passed on.
  case notPassable(codec: String)
  case unreadable(MediaError)
}

/// In which codec an item goes to the rooms, and why in that one.
package struct WireChoice: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The packets of the item itself.
    case passedOn
    /// The codec was asked for.
    case asked
    /// Not all rooms decode the item's own codec.
    case roomsLack(Codec)
    case obstacle(PassObstacle)
  }

  package var codec: Codec
  package var reason: Reason
}
