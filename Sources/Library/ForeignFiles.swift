import FFmpegSource
import Glibc
package import House
import Sender
import Service
import Synchronization

/// Files outside of the library that terminals play: what their tags say, and which picture is in which of them.
final class ForeignFiles: Sendable {
  /// Pictures that are found again; the oldest are forgotten first.
  static let pictureLimit = 256

  let shelf: PictureShelf
  private let pictures = Mutex<[(hash: String, place: String)]>([])

  init(_ shelf: PictureShelf) { self.shelf = shelf }

  func tagged(_ places: [String]) async -> [String: Order.NewEntry] {
    var found: [String: Order.NewEntry] = [:]
    for place in places where found[place] == nil && Self.isFile(place) {
      guard case .tags(let tags)? = await shelf.answer(to: .tags(place)) else { continue }
      found[place] = entry(place, tags)
    }
    return found
  }

  /// Where this picture is.
  func origins(of hash: String) -> [PictureShelf.Origin] {
    pictures.withLock { pictures in
      pictures.filter { $0.hash == hash }.map { .init(location: $0.place, isInside: true) }
    }
  }

  private func entry(_ place: String, _ tags: FileTags) -> Order.NewEntry {
    var entry = Order.NewEntry(location: place)
    entry.title = tags.title ?? LibraryPath.title(LibraryPath.name(place))
    (entry.artist, entry.album) = (tags.artist ?? tags.albumArtist, tags.album)
    (entry.durationS, entry.artwork) = (tags.duration, tags.picture)
    if let hash = tags.picture { keep(hash, place) }
    return entry
  }

  func keep(_ hash: String, _ place: String) {
    pictures.withLock { pictures in
      pictures.removeAll { $0.hash == hash }
      pictures.append((hash, place))
      if pictures.count > Self.pictureLimit { pictures.removeFirst() }
    }
  }

  /// A pipe would wait for who writes into it.
  private static func isFile(_ place: String) -> Bool {
    var status = stat()
    return stat(FileName.bytes(of: place), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}

extension MediaLibrary: FileTitles {
  package func known(_ places: [String]) async -> [String: Order.NewEntry] {
    let found = try? await file.answer { [folders] in
      try QueueEntries.at(places, folders, $0)
    }
    return found ?? [:]
  }

  package func tagged(_ places: [String]) async -> [String: Order.NewEntry] {
    await foreign.tagged(places)
  }
}
