import Clock
import WireProtocol

/// A picture and the number by which the rooms know it.
struct NumberedArtwork: Equatable {
  let number: UInt32
  let artwork: Artwork

  /// Compares numbers only: no number is given twice.
  static func == (a: Self, b: Self) -> Bool { a.number == b.number }
}

/// The pictures of enqueued items. Each is stored once, because the items of an album carry copies of the same picture.
struct ArtworkStore {
  /// Limit in bytes for all pictures: enough for an hour of songs, each with a large cover of its own. Items enqueued
  /// beyond it show no picture.
  static let byteLimit = 64 << 20

  private var artworks: [NumberedArtwork] = []
  /// The number that was given last; 0 if none was.
  private(set) var lastNumber: UInt32 = 0

  init() {}

  /// Gives numbers after `lastNumber`, because rooms may hold pictures that another process has numbered.
  init(after lastNumber: UInt32) { self.lastNumber = lastNumber }

  subscript(number: UInt32) -> NumberedArtwork? { artworks.first { $0.number == number } }

  var byteCount: Int { artworks.reduce(0) { $0 + $1.artwork.bytes.count } }

  /// Returns the item with the stored picture in place of an equal one, or without a picture if there is no room for
  /// it. Forgets pictures of items that are no longer in `segments`.
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

  /// Returns the description that the rooms get of an item that `sharing` has returned.
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
  /// A name for items without a title. Addresses on the network get none, because they may hold private data.
  fileprivate var fileName: String {
    guard location != "-", !location.holds("://") else { return "" }
    return String(location.split(separator: "/").last ?? "")
  }
}
