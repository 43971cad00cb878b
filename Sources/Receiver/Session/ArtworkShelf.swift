import WireProtocol

/// The pictures that came from the sender, and the one of which pieces are coming. Holds
/// `ProtocolLimits.heldArtwork` bytes at most, those included that the one to come will have.
struct ArtworkShelf {
  /// Pictures at most: as many as announcements could name, however small they are.
  private static let countLimit = ProtocolLimits.heldAnnouncements

  private struct Picture {
    let number: UInt32
    let size: Int
    var artwork: SoundingArtwork

    var isWhole: Bool { artwork.bytes.count == size }
  }

  /// Oldest first. Only the last may be incomplete.
  private var pictures: [Picture] = []

  /// Bytes of all, as if they were whole.
  var byteCount: Int { pictures.reduce(0) { $0 + $1.size } }
  var count: Int { pictures.count }

  func holds(_ number: UInt32) -> Bool {
    pictures.contains { $0.number == number && $0.isWhole }
  }

  /// Nil unless it is whole.
  subscript(number: UInt32) -> SoundingArtwork? {
    pictures.first { $0.number == number && $0.isWhole }?.artwork
  }

  /// Pieces that continue nothing are ignored, and so are pictures for which there is no room: where something is or
  /// will be shown with a picture, `isNamed` says so, and it stays.
  mutating func add(_ piece: ArtworkPiece, isNamed: (UInt32) -> Bool) {
    guard !holds(piece.number) else { return }
    if piece.offset == 0 {
      guard begin(piece, isNamed) else { return }
    }
    guard let last = pictures.indices.last, pictures[last].number == piece.number,
      pictures[last].size == piece.size, pictures[last].artwork.bytes.count == piece.offset
    else { return }
    pictures[last].artwork.bytes += piece.bytes
  }

  private mutating func begin(_ piece: ArtworkPiece, _ isNamed: (UInt32) -> Bool) -> Bool {
    pictures.removeAll { !$0.isWhole }
    while byteCount + piece.size > ProtocolLimits.heldArtwork || count >= Self.countLimit {
      guard let needless = pictures.firstIndex(where: { !isNamed($0.number) }) else { return false }
      pictures.remove(at: needless)
    }
    var artwork = SoundingArtwork(mimeType: piece.mimeType, bytes: [])
    // Else the array would grow to twice its size.
    artwork.bytes.reserveCapacity(piece.size)
    pictures.append(Picture(number: piece.number, size: piece.size, artwork: artwork))
    return true
  }
}
