import House
import SQLiteStore
import Sender
import Service

/// Files that a picture may be read from.
enum PictureOrigins {
  /// A file that was changed since has another picture, or none: some are tried.
  private static let limit = 4

  static func of(
    _ hash: String, _ folders: LibraryFolders, _ servers: [MediaServer], _ database: Database
  ) throws -> [PictureShelf.Origin] {
    let ofFolders = try database.prepare(
      "SELECT path, image_name FROM folder WHERE image = ? AND present LIMIT \(limit)"
    ).all([SQLiteValue(hash)]) { ($0.text(0) ?? "", $0.text(1) ?? "", false) }
    let ofTracks = try database.prepare(
      """
      SELECT f.path, t.name FROM track t JOIN folder f ON f.id = t.folder
      WHERE t.picture = ? AND t.missing IS NULL LIMIT \(limit)
      """
    ).all([SQLiteValue(hash)]) { ($0.text(0) ?? "", $0.text(1) ?? "", true) }
    let ofAddresses = try database.prepare(
      """
      SELECT picture, picture_reach FROM podcast WHERE artwork = ?1 AND picture IS NOT NULL
      UNION ALL SELECT picture, NULL FROM radio WHERE artwork = ?1 AND picture IS NOT NULL
      LIMIT \(limit)
      """
    ).all([SQLiteValue(hash)]) { row in
      PictureShelf.Origin(
        location: row.text(0) ?? "", reach: SourceReach(kept: row.text(1)))
    }
    return ofAddresses
      + (ofFolders + ofTracks).compactMap { path, name, isInside in
        if let server = servers.first(where: { LibraryPath.isInside(path, $0.name) }) {
          return PictureShelf.Origin(location: name, isInside: false, server: server)
        }
        guard let base = folders.location(of: path), let real = folders.confined("\(base)/\(name)")
        else { return nil }
        return PictureShelf.Origin(location: real, isInside: isInside)
      }
  }
}

/// Tells a browser the type of a file from the ending of its name.
enum MediaType {
  static func of(_ name: String, hasVideo: Bool) -> String {
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    return switch ending {
    case "mp3": "audio/mpeg"
    case "flac": "audio/flac"
    case "ogg", "oga", "opus", "spx": "audio/ogg"
    case "wav": "audio/wav"
    case "m4a", "m4b": "audio/mp4"
    case "aac": "audio/aac"
    case "mp4", "m4v": hasVideo ? "video/mp4" : "audio/mp4"
    case "mov": "video/quicktime"
    case "webm", "weba": hasVideo ? "video/webm" : "audio/webm"
    case "mkv", "mka": "video/x-matroska"
    default: "application/octet-stream"
    }
  }
}
