import Clock
import WireProtocol

/// A picture under the number that the rooms know it by.
struct NumberedArtwork: Equatable {
  let number: UInt32
  let artwork: Artwork

  /// By number alone: it is never given twice.
  static func == (a: Self, b: Self) -> Bool { a.number == b.number }
}

/// The pictures of what is enqueued, each once: the items of an album have copies of one.
struct ArtworkStore {
  /// Bytes of all: an hour of songs, each with a large cover of its own. Of what is enqueued beyond that, nothing is
  /// shown.
  static let byteLimit = 64 << 20

  private var artworks: [NumberedArtwork] = []
  private var lastNumber: UInt32 = 0

  subscript(number: UInt32) -> NumberedArtwork? { artworks.first { $0.number == number } }

  var byteCount: Int { artworks.reduce(0) { $0 + $1.artwork.bytes.count } }

  /// The item with the picture of another that is the same, if there is one, and without one where there is no room for
  /// it. Pictures of items that are not in
  /// `segments` any more are forgotten.
  mutating func sharing(
    _ opened: OpenedItem, with segments: [PlaybackTimeline.Segment]
  ) -> OpenedItem {
    var opened = opened
    let known = opened.metadata.artwork.flatMap { artwork in
      artworks.first { $0.artwork == artwork }
    }
    artworks.removeAll { old in
      old != known && !segments.contains { $0.description.artwork == old.number }
    }
    if let known {
      opened.metadata.artwork = known.artwork
    } else if let artwork = opened.metadata.artwork {
      guard byteCount + artwork.bytes.count <= Self.byteLimit else {
        opened.metadata.artwork = nil
        return opened
      }
      lastNumber = lastNumber == .max ? 1 : lastNumber + 1
      artworks.append(NumberedArtwork(number: lastNumber, artwork: artwork))
    }
    return opened
  }

  /// What the rooms are told of an item that `sharing` has given.
  func description(of opened: OpenedItem) -> ItemDescription {
    let metadata = opened.metadata
    let number = metadata.artwork.flatMap { artwork in
      artworks.first { $0.artwork == artwork }?.number
    }
    return ItemDescription(
      title: metadata.title ?? opened.item.fileName, artist: metadata.artist ?? "",
      album: metadata.album ?? "", track: UInt16(clamping: metadata.track ?? 0),
      duration: opened.duration ?? .zero, artwork: number ?? 0)
  }
}

extension PlayItem {
  /// What to call it where it has no title. Addresses on the network may hold what is nobody's business.
  fileprivate var fileName: String {
    guard location != "-", !location.contains("://") else { return "" }
    return String(location.split(separator: "/").last ?? "")
  }
}
