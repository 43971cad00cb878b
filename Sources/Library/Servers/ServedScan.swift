import FFmpegSource
import House
import PlaylistFormats
import SQLiteStore
import Sender

/// Puts the songs that a server lists into the tables, beside those of folders. For one listing, and one thread.
final class ServedScan {
  /// Rows of one server: listings that break off add theirs and take nothing away, and what it has lost is kept for a month.
  static let rowLimit = 2 * ServerReader.songLimit
  /// Folders of one server, of which those that were known count twice: songs in further ones lie in its own.
  static let folderCountLimit = 100_000

  private struct Known {
    var number: Int64
    var folder: String
    var mtime: Int64
    var isMissing: Bool
  }

  private let name: String
  private let database: Database
  private let writer: TrackWriter
  private let rowLimit: Int
  private let folderCountLimit: Int
  private var rowCount = 0
  private var folderCount = 0
  /// Keys are the names of their files.
  private var known: [ExactName: Known] = [:]
  private var seen: Set<ExactName> = []
  /// The folders that have songs, with those around them.
  private var folders: Set<ExactName> = []
  /// The hashes of the folders' pictures.
  private var images: [ExactName: String] = [:]
  private var hasImage: Set<ExactName> = []

  init(
    _ name: String, _ database: Database, _ folders: LibraryFolders,
    rowLimit: Int = ServedScan.rowLimit, folderCountLimit: Int = ServedScan.folderCountLimit
  ) throws(SQLiteError) {
    (self.name, self.database) = (name, database)
    (self.rowLimit, self.folderCountLimit) = (rowLimit, folderCountLimit)
    // The server says when it has found a song.
    writer = TrackWriter(database, folders, isFirstScan: true)
    try database.prepare(
      "SELECT t.name, t.id, f.path, t.mtime, t.missing IS NOT NULL "
        + "FROM track t JOIN folder f ON f.id = t.folder WHERE " + Self.isInside
        + " ORDER BY t.missing IS NULL, t.id"
    ).forEach(inside) { row in
      rowCount += 1
      known[ExactName(row.text(0) ?? "")] = Known(
        number: row.int64(1) ?? 0, folder: row.text(2) ?? "", mtime: row.int64(3) ?? 0,
        isMissing: row.bool(4))
    }
    folderCount =
      try database.prepare("SELECT count(*) FROM folder f WHERE " + Self.isInside)
      .first(inside) { $0.int(0) ?? 0 } ?? 0
    try database.prepare(
      "SELECT f.path, f.image FROM folder f WHERE f.image IS NOT NULL AND " + Self.isInside
    ).forEach(inside) { row in images[ExactName(row.text(0) ?? "")] = row.text(1) }
  }

  // All paths that begin with it and a slash: "0" is the character after it.
  private static let isInside = "(f.path = ? OR (f.path > ? AND f.path < ?))"
  private var inside: [SQLiteValue] {
    [SQLiteValue(name), SQLiteValue(name + "/"), SQLiteValue(name + "0")]
  }

  /// True if songs of it are known.
  var isKnown: Bool { known.values.contains { !$0.isMissing } }

  /// Returns true if the tables have changed.
  func take(_ songs: [ServedSong]) throws(SQLiteError) -> Bool {
    var changes: [TrackWriter.Change] = []
    for song in songs { take(song, &changes) }
    return try write(changes)
  }

  private func take(_ song: ServedSong, _ changes: inout [TrackWriter.Change]) {
    let file = FolderListing.File(
      name: ServedName.name(id: song.id, suffix: song.suffix), size: song.size, mtime: song.mark,
      isServed: true)
    guard seen.insert(ExactName(file.name)).inserted else { return }
    let (before, wanted) = (known[ExactName(file.name)], folder(of: song))
    let isFull = folderCount + folders.count >= folderCountLimit
    let isNew = before?.folder != wanted && !folders.contains(ExactName(wanted))
    let folder = isFull && isNew ? name : wanted
    if before?.folder != folder {
      guard rowCount < rowLimit else { return }
      rowCount += 1
    }
    note(folder)
    if let before, before.folder == folder, before.mtime == file.mtime {
      if before.isMissing { changes.append(.returned(track: before.number)) }
    } else {
      // A song that is elsewhere now keeps its number, and so its favourites, as a moved file does.
      if let before, before.folder != folder { changes.append(.missing(track: before.number)) }
      changes.append(.track(folder: folder, file, FileTags(song, of: name)))
    }
    guard !song.cover.isEmpty, hasImage.insert(ExactName(folder)).inserted else { return }
    let image = PictureName.of([name, song.cover])
    if images[ExactName(folder)] != image {
      changes.append(.read(folder: folder, hash: 0, image: (image, song.cover)))
    }
  }

  private func note(_ folder: String) {
    var folder = folder
    while folders.insert(ExactName(folder)).inserted, let parent = LibraryPath.parent(folder) {
      folder = parent
    }
  }

  private func folder(of song: ServedSong) -> String {
    guard song.folder.isEmpty else { return "\(name)/\(song.folder)" }
    let names = [song.albumArtist.isEmpty ? song.artist : song.albumArtist, song.album]
      .map { $0.split(separator: "/").joined(separator: "_") }
      .filter { !$0.isEmpty && $0 != "." && $0 != ".." }
    return ([name] + names).joined(separator: "/")
  }

  /// Notes that others than those that were told are gone. Returns true if the tables have changed.
  func end() throws(SQLiteError) -> Bool {
    var changes: [TrackWriter.Change] = known.filter { name, track in
      !track.isMissing && !seen.contains(name)
    }.map { .missing(track: $0.value.number) }
    let present = try database.prepare(
      "SELECT f.path FROM folder f WHERE f.present AND " + Self.isInside
    ).all(inside) { $0.text(0) ?? "" }
    changes += present.filter { !folders.contains(ExactName($0)) }.map { .folderGone($0) }
    return try write(changes)
  }

  private func write(_ changes: [TrackWriter.Change]) throws(SQLiteError) -> Bool {
    guard !changes.isEmpty else { return false }
    try writer.write(changes)
    return true
  }
}

extension ServedSong {
  /// The time of its file, as far as the server tells it: its nanoseconds tell if anything else has changed.
  fileprivate var mark: Int64 {
    var hash = Hash()
    for word in words { hash.add(word) }
    return createdS &* 1_000_000_000 &+ Int64(UInt64(bitPattern: hash.value) % 1_000_000_000)
  }
}

extension FileTags {
  /// - Parameter server: the name of the server's library.
  fileprivate init(_ song: ServedSong, of server: String) {
    self.init()
    func text(_ text: String) -> String? { text.allSatisfy(\.isWhitespace) ? nil : text }
    (title, artist) = (text(song.title), text(song.artist))
    (albumArtist, album) = (text(song.albumArtist), text(song.album))
    // The server says which songs are one album.
    albumNumber = text(song.albumId).map { "\(server)/\($0)" }
    (track, disc, year, duration) = (song.track, song.disc, song.year, song.durationS)
    codec = text(song.suffix)?.uppercased()
    genres = [text(song.genre)].compactMap(\.self)
  }
}
