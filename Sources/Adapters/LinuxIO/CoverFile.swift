/// The picture of the playing item, as a file for displays: `cover.jpg`, or another extension if it is no
/// JPEG.
package struct CoverFile {
  private static let endings = [
    "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/bmp": "bmp",
    "image/webp": "webp",
  ]
  /// Extension for unknown types, so that a peer never chooses a file's name.
  private static let unknownEnding = "image"

  private let directory: String
  /// The bytes in the file; nil if there is none.
  package private(set) var shown: [UInt8]?
  private var ending = ""

  /// Touches no file yet.
  package init(directory: String) { self.directory = directory }

  /// Nil if there is no file.
  package var path: String? { shown == nil ? nil : file(ending).path }

  /// Replaces the file, unless it has this picture already. On failure there is no file.
  package mutating func show(_ bytes: [UInt8], mimeType: String) throws(IOError) {
    let ending = Self.endings[mimeType] ?? Self.unknownEnding
    guard bytes != shown || ending != self.ending else { return }
    do {
      try file(ending).show(bytes)
    } catch {
      try? remove()
      throw error
    }
    (shown, self.ending) = (bytes, ending)
    try removeFiles(except: ending)
  }

  /// Removes the file, and those left by an earlier run.
  package mutating func remove() throws(IOError) {
    shown = nil
    try removeFiles(except: nil)
  }

  private func removeFiles(except kept: String?) throws(IOError) {
    for ending in Self.endings.values.sorted() + [Self.unknownEnding] where ending != kept {
      try file(ending).remove()
    }
  }

  private func file(_ ending: String) -> StateFile {
    StateFile(path: directory + "/cover." + ending)
  }
}
