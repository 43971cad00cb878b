import Clock
import WireProtocol

/// The pictures to send to a room, and when each may be sent.
struct ArtworkPlan {
  /// The next one first.
  var pictures: [NumberedArtwork] = []
  /// Packets that sound at or after this media time may wait for the pictures.
  var lead = MediaTime.zero
  /// True if pictures may be sent when there is no packet to send, though one may come in an instant.
  var fillsGaps = true
}

/// The progress of the pictures on one media connection.
struct ArtworkFlow {
  /// Numbers of the pictures that were sent completely and are still wanted.
  private var sent: [UInt32] = []
  private var current: UInt32 = 0
  private var offset = 0

  /// Forgets pictures that are not in `pictures`. The room may forget them too, and gets them again when they
  /// are wanted again.
  mutating func keep(_ pictures: [NumberedArtwork]) {
    sent.removeAll { number in !pictures.contains { $0.number == number } }
  }

  /// Returns a message with the next piece of the first picture that was not sent completely.
  func next(of pictures: [NumberedArtwork]) -> [UInt8]? {
    guard let picture = unsent(of: pictures) else { return nil }
    let bytes = picture.artwork.bytes
    let start = picture.number == current ? offset : 0
    let piece = ArtworkPiece(
      number: picture.number, size: bytes.count, offset: start,
      mimeType: picture.artwork.mimeType,
      bytes: Array(bytes[start...].prefix(ProtocolLimits.artworkPiece)))
    return MediaMessage.artwork(piece).encoded()
  }

  /// Records that the piece returned by `next` was sent.
  mutating func sent(_ pictures: [NumberedArtwork]) {
    guard let picture = unsent(of: pictures) else { return }
    if picture.number != current { (current, offset) = (picture.number, 0) }
    offset += ProtocolLimits.artworkPiece
    guard offset >= picture.artwork.bytes.count else { return }
    sent.append(picture.number)
    (current, offset) = (0, 0)
  }

  private func unsent(of pictures: [NumberedArtwork]) -> NumberedArtwork? {
    pictures.first { !sent.contains($0.number) }
  }
}
