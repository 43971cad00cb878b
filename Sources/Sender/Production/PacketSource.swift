package import Audio

/// Reads the packets of an opened item as they are in its file or stream, undecoded. Used by one thread at a time.
package protocol PacketSource: AnyObject {
  /// Does not change within an item.
  var format: StreamFormat { get }
  /// The number, within the item, of the next valid frame.
  var position: Int64 { get }

  /// Returns the next packet; nil at the end of the item. The first packet, and the first after a `seek`, is for a
  /// fresh decoder.
  ///
  /// - Throws: if the stream cannot be passed on any further. Decoded, it may still go on from `position`.
  func next() throws(MediaError) -> EncodedPacket?

  /// Makes `next` continue so that its first valid frame is number `frame`, exactly. Packets that only prepare the
  /// decoder come before it.
  func seek(toFrame frame: Int64) throws(MediaError)
}

/// The reason why the packets of an item cannot be passed on as they are.
package enum PassObstacle: Error, Hashable, Sendable {
  /// Effects need the decoded sound.
  case soundIsChanged
  /// It fades into its neighbours.
  case isFaded
  /// The item has this many channels, which are mixed to fewer.
  case isMixed(channels: Int)
  /// The item has a rate, in Hz, that is not supported.
  case isResampled(rate: Int)
  /// The item goes on as long as somebody sends.
  case isLive
  /// The item cannot be opened a second time.
  case isPiped
  /// Not all rooms decode this codec.
  case roomsLack(Codec)
  /// No room knows this codec, or this form of it is not passed on.
  case notPassable(codec: String)
  case unreadable(MediaError)
}

/// The codec in which an item goes to the rooms, and the reason for it.
package struct WireChoice: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The rooms get the item's own packets.
    case passedOn
    /// The user asked for this codec.
    case asked
    /// Not all rooms decode the item's own codec.
    case roomsLack(Codec)
    case obstacle(PassObstacle)
  }

  package var codec: Codec
  package var reason: Reason
}
