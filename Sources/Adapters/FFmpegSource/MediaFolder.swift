import Glibc
package import Sender

/// Finds the media files that a user's argument names.
package enum MediaFolder {
  /// File extensions accepted below folders; a file that is named itself may have any.
  private static let extensions: Set<String> = [
    "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "caf", "dff", "dsf", "dts",
    "eac3", "flac", "m4a", "m4b", "mka", "mp2", "mp3", "mp4", "mpc", "oga", "ogg", "opus", "ra",
    "shn", "snd", "spx", "tak", "tta", "w64", "wav", "weba", "webm", "wma", "wv",
  ]
  /// Deepest level of nested folders; deeper ones are left out.
  static let depthLimit = 32
  /// Largest number of files below a folder; the rest is left out, because no list takes more.
  static let itemLimit = Playlist.limit

  /// Returns the path itself for a file, the files below it in natural order for a folder, and the entries of
  /// a playlist, which may be a file or an address.
  ///
  /// - Throws: `MediaError.notFound` or `unreadable`; `notAudio` for a folder without any media file and for a
  ///   broken playlist.
  package static func files(at path: String) throws(MediaError) -> [PlaylistEntry] {
    try files(at: path, atMost: itemLimit)
  }

  static func files(at path: String, atMost limit: Int) throws(MediaError) -> [PlaylistEntry] {
    if LiveLocation.isNamed(path) { return [PlaylistEntry(path)] }
    if NetworkSource.isNetwork(path) {
      return try ListFile.isList(path) ? ListFile.entries(at: path) : [PlaylistEntry(path)]
    }
    guard let kind = kind(of: path) else { throw missing(path) }
    guard kind == .folder else {
      return try ListFile.isList(path) ? ListFile.entries(at: path) : [PlaylistEntry(path)]
    }
    var files: [String] = []
    try collect(below: path, depth: 0, atMost: limit, into: &files)
    guard !files.isEmpty else {
      throw .notAudio(path: path, reason: "there is no media file in this folder")
    }
    return files.map { PlaylistEntry($0) }
  }

  /// Returns the files that the arguments name, in order.
  package static func files(at paths: [String]) throws(MediaError) -> [PlaylistEntry] {
    var all: [PlaylistEntry] = []
    for path in paths { all += try files(at: path) }
    return all
  }

  private enum Kind { case folder, file }

  private static func kind(of path: String) -> Kind? {
    var status = stat()
    guard stat(FileName.bytes(of: path), &status) == 0 else { return nil }
    return status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
  }

  private static func collect(
    below folder: String, depth: Int, atMost limit: Int, into files: inout [String]
  ) throws(MediaError) {
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    for name in try entries(of: folder).sorted(by: precedesNaturally) {
      guard files.count < limit else { return }
      let path = prefix + name
      switch kind(of: path) {
      case .folder where depth < depthLimit && !isLink(path):
        try collect(below: path, depth: depth + 1, atMost: limit, into: &files)
      case .file where isMedia(name): files.append(path)
      case .folder, .file, nil: break
      }
    }
  }

  /// True for a link; a link to a folder may lead back up.
  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(FileName.bytes(of: path), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  package static func isMedia(_ name: String) -> Bool {
    guard let dot = name.lastIndex(of: ".") else { return false }
    return extensions.contains(name[dot...].dropFirst().lowercased())
  }

  private static func entries(of folder: String) throws(MediaError) -> [String] {
    guard let directory = opendir(FileName.bytes(of: folder)) else {
      throw .unreadable(path: folder, reason: String(cString: strerror(errno)))
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
        start.withMemoryRebound(to: UInt8.self, capacity: 256) { bytes in
          FileName.text(UnsafeBufferPointer(start: bytes, count: 256).prefix { $0 != 0 })
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// Sorts "2 Song" before "10 Song", without regard to case.
  package static func precedesNaturally(_ a: String, _ b: String) -> Bool {
    let left = pieces(of: a)
    let right = pieces(of: b)
    for (x, y) in zip(left, right) where x != y {
      if case .number(let m) = x, case .number(let n) = y {
        return (m.count, m) < (n.count, n)
      }
      return x.text < y.text
    }
    return left.count == right.count ? a < b : left.count < right.count
  }

  private enum Piece: Equatable {
    /// Decimal digits without leading zeros: a longer number is larger.
    case number(String)
    case word(String)

    var text: String {
      switch self {
      case .number(let text), .word(let text): text
      }
    }
  }

  private static func pieces(of name: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = Substring(name.lowercased())
    while let first = rest.first {
      let isNumber = isDigit(first)
      let piece = rest.prefix { isDigit($0) == isNumber }
      rest = rest.dropFirst(piece.count)
      pieces.append(isNumber ? .number(String(piece.drop { $0 == "0" })) : .word(String(piece)))
    }
    return pieces
  }

  private static func isDigit(_ character: Character) -> Bool {
    character.isASCII && character.isNumber
  }
}

private func missing(_ path: String) -> MediaError {
  errno == ENOENT || errno == ENOTDIR
    ? .notFound(path: path)
    : .unreadable(path: path, reason: String(cString: strerror(errno)))
}
