package import Audio
package import Clock

/// The messages that the sender sends on the media connection. See docs/protocol/media.md.
package enum MediaMessage: Hashable, Sendable {
  /// The first message on a media connection: names the session to which it belongs.
  case attach(session: UInt64)
  /// Packets that name `id` are of this format. Comes before the first of them, and again after a reconnect.
  case format(id: UInt16, StreamFormat)
  case packet(AudioPacket)
  /// A part of a picture that announcements name.
  case artwork(ArtworkPiece)
}

/// One packet of compressed audio, with its place in the stream.
package struct AudioPacket: Hashable, Sendable {
  package var generation: UInt32
  /// Counts packets of a stream from 0, across generations; a packet sent again keeps its number.
  package var sequence: UInt64
  /// The media time at which the first valid frame sounds. A multiple of its format's frame duration.
  package var mediaTime: MediaTime
  package var formatID: UInt16
  /// The first packet of a run: its decoder starts afresh.
  package var startsRun: Bool
  /// The last packet of the stream, as far as the sender knows.
  package var endsStream: Bool
  package var encoded: EncodedPacket

  package init(
    generation: UInt32, sequence: UInt64, mediaTime: MediaTime, formatID: UInt16,
    startsRun: Bool, endsStream: Bool, encoded: EncodedPacket
  ) {
    self.generation = generation
    self.sequence = sequence
    self.mediaTime = mediaTime
    self.formatID = formatID
    self.startsRun = startsRun
    self.endsStream = endsStream
    self.encoded = encoded
  }
}
