import FFmpegSource
import Glibc
package import House
import PlaylistFormats
import SQLiteStore
import Sender
package import Service

/// Reads the lyrics of files: texts with or without times.
enum Lyrics {
  static let lineLimit = 2_000
  /// Largest file with lyrics, and largest text in a music file, in bytes.
  static let sizeLimit = 256 << 10

  /// Reads lines such as `[01:23.45]text`; one line may have several times. Lines without a time in such a text are notes
  /// about it, and left out.
  static func parse(_ text: String) -> LyricsContents {
    var (timed, plain) = ([LyricsContents.Line](), [LyricsContents.Line]())
    var offset = 0.0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .prefix(lineLimit)
    {
      var (rest, times) = (line[...], [Double]())
      while rest.first == "[", let end = rest.firstIndex(of: "]") {
        let tag = rest[rest.index(after: rest.startIndex)..<end]
        guard let time = seconds(tag) else {
          if let shift = milliseconds(tag) { offset = shift / 1_000 }
          break
        }
        times.append(time)
        rest = rest[rest.index(after: end)...]
      }
      let shown = ItemMetadata.shown(String(times.isEmpty ? line : rest))
      plain.append(.init(text: shown))
      // A positive offset makes lines appear earlier.
      timed += times.map { .init(text: shown, atS: max(0, $0 - offset)) }
    }
    guard timed.isEmpty else {
      let sorted = timed.sorted { ($0.atS ?? 0) < ($1.atS ?? 0) }
      return LyricsContents(lines: Array(sorted.prefix(lineLimit)))
    }
    let isEmpty = plain.allSatisfy { $0.text.allSatisfy(\.isWhitespace) }
    return LyricsContents(lines: isEmpty ? [] : plain)
  }

  /// Returns 83.45 for `01:23.45`.
  private static func seconds(_ tag: Substring) -> Double? {
    let parts = tag.split(separator: ":")
    guard parts.count == 2, let minutes = Int(parts[0]), (0...999).contains(minutes),
      let seconds = Double(parts[1]), (0..<60).contains(seconds)
    else { return nil }
    return Double(minutes) * 60 + seconds
  }

  /// Returns 250 for `offset:+250`.
  private static func milliseconds(_ tag: Substring) -> Double? {
    guard tag.lowercased().hasPrefix("offset:"), let shift = Double(tag.dropFirst(7)),
      abs(shift) < 3_600_000
    else { return nil }
    return shift
  }

  /// Returns the text in the file beside a music file: `song.lrc` of `song.flac`.
  static func beside(_ location: String, _ folders: LibraryFolders) -> String? {
    guard let dot = location.lastIndex(of: "."),
      let real = folders.confined(location[..<dot] + ".lrc"),
      let bytes = FolderLists.bytes(of: real, limit: sizeLimit)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension MediaLibrary {
  package func lyrics(ofTrack id: String) async throws(Refusal) -> LyricsContents {
    let isServed = try await file.answer { [folders] database in
      let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.track))
      let track = try FoundTrack.all(database, where: "t.id = ?", [number]).first
      return track.map { folders.isServed($0.folder) } ?? false
    }
    // Nobody asks a server for them.
    if isServed { return LyricsContents(lines: []) }
    let path = try await media(track: id).path
    // A disk may take long, and whoever asks has other things to do.
    let beside = try await file.answer { [folders] _ in Lyrics.beside(path, folders) }
    if let beside { return Lyrics.parse(beside) }
    guard case .done(let text)? = await foreign.shelf.answer(to: .lyrics(path)) else {
      return LyricsContents(lines: [])
    }
    return Lyrics.parse(text)
  }
}
