import FFmpegSource
import Glibc
import PlaylistFormats
import Sender

/// Reads the playlist files in the library's folders.
enum FolderLists {
  /// Reads a playlist; nil if the file is none. Leaves out files outside the library.
  static func read(
    _ location: String, _ name: String, in folders: LibraryFolders
  ) -> TrackWriter.FoundList? {
    guard let format = PlaylistFile.format(ofName: name),
      let bytes = bytes(of: location, limit: PlaylistFile.sizeLimit),
      let entries = try? PlaylistFile.entries(in: bytes, format: format, base: location)
    else { return nil }
    let found = entries.compactMap { entry -> TrackWriter.FoundList.Entry? in
      if StoredLists.isAddress(entry.location) {
        return .init(uri: entry.location, title: entry.title)
      }
      guard let path = folders.path(of: entry.location), let folder = LibraryPath.parent(path)
      else { return nil }
      return .init(folder: folder, name: LibraryPath.name(path), title: entry.title)
    }
    return found.isEmpty ? nil : TrackWriter.FoundList(file: name, entries: found)
  }

  /// Reads a file that is no link and no pipe. Stops soon after the limit.
  static func bytes(of location: String, limit: Int) -> [UInt8]? {
    let file = open(
      FileName.bytes(of: location), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count = Glibc.read(file, &block, block.count)
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += block.prefix(count)
    }
    return bytes
  }
}
