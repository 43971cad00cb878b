package import House

// The bodies that tell of the library. Durations in seconds; absent is not known.

package struct Track: Codable, Hashable, Sendable {
  package var id: String
  package var title: String
  package var artist: String?
  package var albumArtist: String?
  package var album: String?
  package var albumId: String?
  package var artistId: String?
  package var track: Int?
  package var disc: Int?
  package var year: Int?
  package var durationS: Double?
  package var codec: String?
  package var artwork: String?
  package var hasVideo = false

  package init(id: String, title: String) { (self.id, self.title) = (id, title) }
}

package struct Album: Codable, Hashable, Sendable {
  package var id: String
  package var title: String
  package var artist: String?
  package var artistId: String?
  package var year: Int?
  package var trackCount: Int
  package var durationS: Double?
  package var artwork: String?
  /// Seconds since 1970.
  package var addedAtS: Double?

  package init(id: String, title: String, trackCount: Int) {
    (self.id, self.title, self.trackCount) = (id, title, trackCount)
  }
}

package struct Artist: Codable, Hashable, Sendable {
  package var id: String
  package var name: String
  package var albumCount: Int
  package var artwork: String?

  package init(id: String, name: String, albumCount: Int) {
    (self.id, self.name, self.albumCount) = (id, name, albumCount)
  }
}

/// A folder that the library reads.
package struct LibraryFolder: Codable, Hashable, Sendable {
  /// Paths within the library begin with it.
  package var name: String
  /// On this machine.
  package var path: String
  /// True if the configuration names it.
  package var isFixed: Bool
  /// True if it is not there now, or empty: a disk that is not mounted. What was in it is kept.
  package var isAway: Bool
  package var trackCount: Int

  package init(name: String, path: String, isFixed: Bool, isAway: Bool, trackCount: Int) {
    (self.name, self.path, self.isFixed) = (name, path, isFixed)
    (self.isAway, self.trackCount) = (isAway, trackCount)
  }
}

/// A server whose songs are in the library.
package struct LibraryServer: Codable, Hashable, Sendable {
  /// Paths within the library begin with it.
  package var name: String
  package var kind: MediaServer.Kind
  package var address: String
  /// Absent where there are no users, or a key is used.
  package var user: String?
  /// True if the configuration names it.
  package var isFixed: Bool
  /// When it was first found not to answer, in seconds of UNIX time; absent while it is there.
  package var awaySinceS: Int64?
  package var trackCount: Int

  package init(
    name: String, kind: MediaServer.Kind, address: String, isFixed: Bool, trackCount: Int
  ) {
    (self.name, self.kind, self.address) = (name, kind, address)
    (self.isFixed, self.trackCount) = (isFixed, trackCount)
  }
}

package struct Radio: Codable, Hashable, Sendable {
  package var id: String
  package var name: String
  package var uri: String
  package var artwork: String?

  package init(id: String, name: String, uri: String) {
    (self.id, self.name, self.uri) = (id, name, uri)
  }
}

package struct StoredPlaylist: Codable, Hashable, Sendable {
  /// Characters of a name that somebody gives.
  package static let nameLengths = 1...100

  package var id: String
  package var name: String
  package var trackCount: Int
  /// Grows with every edit.
  package var revision: UInt64 = 0
  /// True if it is a file in the library's folders, which is not edited here.
  package var isFile = false

  package init(id: String, name: String, trackCount: Int) {
    (self.id, self.name, self.trackCount) = (id, name, trackCount)
  }

  /// Entries are those of `PlaylistContents`, by their ids.
  package enum Edit: Hashable, Sendable {
    case rename(String)
    /// Nil is the end.
    case add([QueuePage.Entry], before: Int?)
    case remove([Int])
    case move(Int, before: Int?)
    case clear

    /// The entries that it names.
    package var positions: [Int] {
      switch self {
      case .rename, .clear: []
      case .add(_, let next): [next].compactMap(\.self)
      case .remove(let ids): ids
      case .move(let id, let next): [id] + [next].compactMap(\.self)
      }
    }
  }
}

package struct AlbumPage: Codable, Hashable, Sendable {
  package var count: Int
  package var albums: [Album]

  package init(count: Int, albums: [Album]) { (self.count, self.albums) = (count, albums) }
}

package struct AlbumContents: Codable, Hashable, Sendable {
  package var album: Album
  package var tracks: [Track]

  package init(album: Album, tracks: [Track]) { (self.album, self.tracks) = (album, tracks) }
}

package struct ArtistPage: Codable, Hashable, Sendable {
  package var count: Int
  package var artists: [Artist]

  package init(count: Int, artists: [Artist]) { (self.count, self.artists) = (count, artists) }
}

package struct FolderContents: Codable, Hashable, Sendable {
  package struct Folder: Codable, Hashable, Sendable {
    package var path: String
    package var name: String

    package init(path: String, name: String) { (self.path, self.name) = (path, name) }
  }

  package var path: String
  package var folders: [Folder]
  package var tracks: [Track]

  package init(path: String, folders: [Folder], tracks: [Track]) {
    (self.path, self.folders, self.tracks) = (path, folders, tracks)
  }
}

package struct SearchResult: Codable, Hashable, Sendable {
  package var tracks: [Track] = []
  package var albums: [Album] = []
  package var artists: [Artist] = []
  package var radios: [Radio] = []
  package var playlists: [StoredPlaylist] = []
  package var podcasts: [Podcast] = []

  package init() {}
}

package struct PlaylistContents: Codable, Hashable, Sendable {
  package var playlist: StoredPlaylist
  package var entries: [QueuePage.Entry]
  /// Names of entries that are not there any more, as the playlist has them.
  package var missing: [String]

  package init(playlist: StoredPlaylist, entries: [QueuePage.Entry], missing: [String] = []) {
    (self.playlist, self.entries, self.missing) = (playlist, entries, missing)
  }
}
