import WireProtocol

/// Holds the complete pictures from the sender, and the one that is arriving. Its limit of
/// `ProtocolLimits.heldArtwork` bytes includes the bytes of that one that are still to come.
struct ArtworkShelf {
  /// Largest number of pictures: as many as announcements could name, however small they are.
  private static let countLimit = ProtocolLimits.heldAnnouncements

  private struct Picture {
    let number: UInt32
    let size: Int
    var artwork: SoundingArtwork

    var isWhole: Bool { artwork.bytes.count == size }
  }

  /// Oldest first. Only the last may be incomplete.
  private var pictures: [Picture] = []

  /// Bytes of all pictures, as if they were complete.
  var byteCount: Int { pictures.reduce(0) { $0 + $1.size } }
  var count: Int { pictures.count }

  func holds(_ number: UInt32) -> Bool {
    pictures.contains { $0.number == number && $0.isWhole }
  }

  /// Returns the picture, or nil if it is not complete.
  subscript(number: UInt32) -> SoundingArtwork? {
    pictures.first { $0.number == number && $0.isWhole }?.artwork
  }

  /// Adds a piece. Ignores pieces that continue nothing, and pictures without space: a picture for which `isNamed`
  /// returns true keeps its place, because an item is or will be shown with it.
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
    // Without this, the array would grow to twice its size.
    artwork.bytes.reserveCapacity(piece.size)
    pictures.append(Picture(number: piece.number, size: piece.size, artwork: artwork))
    return true
  }
}
