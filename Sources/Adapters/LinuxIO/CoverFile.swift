/// The picture of what plays, as a file for displays: `cover.jpg`, or another ending where it is no JPEG.
package struct CoverFile {
  private static let endings = [
    "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/bmp": "bmp",
    "image/webp": "webp",
  ]
  /// Of a type that is not known here. What a peer says is never a name of a file.
  private static let unknownEnding = "image"

  private let directory: String
  /// What is in the file; nil where there is none.
  package private(set) var shown: [UInt8]?
  private var ending = ""

  /// Nothing is touched yet.
  package init(directory: String) { self.directory = directory }

  /// Nil where there is none.
  package var path: String? { shown == nil ? nil : file(ending).path }

  /// Replaces the file, unless it is this picture already. Where that fails there is none.
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

  /// Also what an earlier run has left.
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
