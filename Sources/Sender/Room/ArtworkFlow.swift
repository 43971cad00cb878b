import Clock
import WireProtocol

/// Which pictures a room is to be sent, and when it is their turn.
struct ArtworkPlan {
  /// The next first.
  var pictures: [NumberedArtwork] = []
  /// Packets that sound from here on may wait for them.
  var lead = MediaTime.zero
  /// Whether they may go where there is no packet to send: there may be one in an instant.
  var fillsGaps = true
}

/// How far the pictures have got on one media connection.
struct ArtworkFlow {
  /// Sent as a whole, of those that are still wanted.
  private var sent: [UInt32] = []
  private var current: UInt32 = 0
  private var offset = 0

  /// What is not in `pictures` may be forgotten by the room as well, and is sent again when it is wanted again.
  mutating func keep(_ pictures: [NumberedArtwork]) {
    sent.removeAll { number in !pictures.contains { $0.number == number } }
  }

  /// The next piece of the first picture that was not sent as a whole, as a message.
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

  /// What `next` has given is sent.
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
