import FFmpegSource
import House
import SQLiteStore
import Sender
import Service

/// Resolves an item of the library into the tracks that it stands for, in the order in which they play.
enum QueueEntries {
  static func of(
    _ item: LibraryItem, _ folders: LibraryFolders, _ database: Database
  ) throws -> [Order.NewEntry] {
    let entries =
      switch item {
      case .radio(let id): try [radio(id, database)]
      case .playlist(let id): try playlist(id, folders, database)
      case .podcast(let id): try Podcasts.entries(podcast: id, database)
      case .episode(let id): try Podcasts.entries(episode: id, database)
      case .track:
        try tracks(item, folders, database).compactMap { track in
          var entry = track.entry(in: folders)
          entry?.startS = try Places.seconds(of: track, database)
          return entry
        }
      default: try tracks(item, folders, database).compactMap { $0.entry(in: folders) }
      }
    guard !entries.isEmpty else {
      throw Refusal.noSuch("There is nothing to play in it, or it is gone; look for it again.")
    }
    return Array(entries.prefix(Playlist.limit))
  }

  /// Those of these files that are tracks, by their places.
  static func at(
    _ places: [String], _ folders: LibraryFolders, _ database: Database
  ) throws -> [String: Order.NewEntry] {
    let track = try database.prepare(
      FoundTrack.columns + "WHERE t.missing IS NULL AND f.path = ? AND t.name = ?")
    var found: [String: Order.NewEntry] = [:]
    for place in places where found[place] == nil {
      guard let path = folders.path(of: place), let folder = LibraryPath.parent(path) else {
        continue
      }
      var entry = try track.first([SQLiteValue(folder), SQLiteValue(LibraryPath.name(path))]) {
        FoundTrack($0)
      }?.entry(in: folders)
      entry?.location = place
      found[place] = entry
    }
    return found
  }

  private static func tracks(
    _ item: LibraryItem, _ folders: LibraryFolders, _ database: Database
  ) throws -> [FoundTrack] {
    let limit = " LIMIT \(Playlist.limit)"
    switch item {
    case .track(let id):
      return try FoundTrack.all(
        database, where: "t.id = ?", [SQLiteValue(LibraryNumber.parse(id, LibraryNumber.track))])
    case .album(let id):
      return try FoundTrack.all(
        database, where: "t.album_id = ?",
        [SQLiteValue(LibraryNumber.parse(id, LibraryNumber.album))],
        order: FoundTrack.albumOrder + limit)
    case .artist(let id):
      let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.artist))
      return try FoundTrack.all(
        database,
        where: "t.id IN (SELECT id FROM track WHERE artist_id = ? UNION "
          + "SELECT id FROM track WHERE album_id IN (SELECT id FROM album WHERE artist = ?))",
        [number, number],
        order: " ORDER BY a.year IS NULL, a.year, a.sort, a.id, coalesce(t.disc, 1), "
          + "t.track IS NULL, t.track, f.path, t.name" + limit)
    case .folder(let path): return try below(path, folders, database)
    case .playlist, .radio, .podcast, .episode: return []
    }
  }

  private static func below(
    _ path: String, _ folders: LibraryFolders, _ database: Database
  ) throws -> [FoundTrack] {
    let path = path.split(separator: "/").joined(separator: "/")
    guard folders.location(of: path) != nil else {
      throw Refusal.noSuch("There is no such folder in the library.")
    }
    // All paths that begin with it and a slash: "0" is the character after it.
    let found = try FoundTrack.all(
      database, where: "(f.path = ? OR (f.path > ? AND f.path < ?))",
      [SQLiteValue(path), SQLiteValue(path + "/"), SQLiteValue(path + "0")],
      order: " LIMIT \(Playlist.limit)")
    return found.sorted { a, b in
      a.folder == b.folder
        ? MediaFolder.precedesNaturally(a.name, b.name)
        : MediaFolder.precedesNaturally(a.folder, b.folder)
    }
  }

  private static func radio(_ id: String, _ database: Database) throws -> Order.NewEntry {
    let number = LibraryNumber.parse(id, LibraryNumber.radio)
    guard
      let radio = try database.prepare(Radio.columns + "WHERE id = ?")
        .first([SQLiteValue(number)], { Radio($0) })
    else { throw Refusal.noSuch("There is no such station; it may be deleted already.") }
    var entry = Order.NewEntry(location: radio.uri)
    entry.title = radio.name
    entry.artwork = radio.artwork
    return entry
  }

  private static func playlist(
    _ id: String, _ folders: LibraryFolders, _ database: Database
  ) throws -> [Order.NewEntry] {
    _ = try StoredLists.playlist(id, database)
    return try StoredLists.entries(ofPlaylist: id, folders, database).map(\.entry)
  }
}
