import Sender

/// A song as the server of a library describes it. Texts have no control characters, and are cut to their bounds.
package struct ServedSong: Hashable, Sendable {
  /// Bytes of a text; a longer one is cut.
  package static let textLimit = 200
  /// Bytes of an identifier; a song with a longer one is left out.
  package static let idLimit = 128
  /// Folders in each other, and bytes of their path; the innermost are left out.
  package static let depthLimit = 8
  package static let folderLimit = 400

  package var id = ""
  package var title = ""
  package var artist = ""
  package var albumArtist = ""
  package var album = ""
  package var albumId = ""
  /// The identifier of its picture.
  package var cover = ""
  /// The ending of its file's name, in small letters.
  package var suffix = ""
  package var genre = ""
  /// The folder of its file, below that of the library.
  package var folder = ""
  package var track: Int?
  package var disc: Int?
  package var year: Int?
  package var durationS: Double?
  package var size: Int64 = 0
  /// When the server has found it, in seconds since 1970; 0 if it does not say so.
  package var createdS: Int64 = 0

  package init() {}

  package static func text(_ text: String) -> String {
    let shown = ItemMetadata.shown(text)
    guard shown.utf8.count > textLimit else { return shown }
    var bytes = shown.utf8.prefix(textLimit)
    // A character that was cut leaves bytes that are none.
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    return String(decoding: Array(bytes), as: UTF8.self)
  }

  /// Returns an empty text for what is no identifier.
  static func id(_ text: String) -> String {
    let isPlain = !text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
    return text.utf8.count <= idLimit && isPlain ? text : ""
  }

  package static func suffix(_ text: String) -> String {
    let ending = text.lowercased()
    let isEnding = ending.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789".utf8.contains)
    return ending.utf8.count <= 8 && isEnding ? ending : ""
  }

  /// Returns the folder of a path that has only names: none leads up, or to the root.
  static func folder(ofPath path: String) -> String {
    var folder = ""
    for part in path.split(separator: "/").dropLast().prefix(depthLimit) {
      let name = text(String(part))
      if ["", ".", ".."].contains(name) { continue }
      guard folder.utf8.count + name.utf8.count < folderLimit else { break }
      folder += folder.isEmpty ? name : "/" + name
    }
    return folder
  }

  /// Returns the seconds since 1970 of a text such as `2024-02-29T12:00:00Z`; 0 for any other.
  static func seconds(_ text: String) -> Int64 {
    let parts = text.prefix(19).split { "-T: ".contains($0) }.map { Int64($0) ?? -1 }
    guard parts.count == 6, (1970...2200).contains(parts[0]), (1...12).contains(parts[1]),
      (1...31).contains(parts[2]), (0..<24).contains(parts[3]), (0..<60).contains(parts[4]),
      (0...60).contains(parts[5])
    else { return 0 }
    // Years that begin in March have their leap day at their end.
    let year = parts[1] > 2 ? parts[0] : parts[0] - 1
    let dayOfYear = (153 * ((parts[1] + 9) % 12) + 2) / 5 + parts[2] - 1
    let days = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    return days * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5]
  }
}
