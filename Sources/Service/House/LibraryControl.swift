package import House

/// The music that a household owns, and its stations and playlists, from any thread. Problems are sentences for people.
package protocol LibraryControl: LibraryKeepsakes, LibraryBrowsing, LibrarySongs,
  LibraryPodcasts
{
  func albums(_ query: AlbumQuery) async throws(Refusal) -> AlbumPage
  func album(_ id: String) async throws(Refusal) -> AlbumContents
  func artists(offset: Int, limit: Int) async throws(Refusal) -> ArtistPage
  /// Returns a folder of the library; the empty path is their list. A path that leads out of them is none.
  func folder(_ path: String) async throws(Refusal) -> FolderContents
  func search(_ text: String, limit: Int) async throws(Refusal) -> SearchResult
  func radios() async throws(Refusal) -> [Radio]
  /// - Parameter picture: its address.
  func addRadio(name: String, uri: String, picture: String?) async throws(Refusal) -> Radio
  func removeRadio(_ id: String) async throws(Refusal)
  func playlists() async throws(Refusal) -> [StoredPlaylist]
  func playlist(_ id: String) async throws(Refusal) -> PlaylistContents
  func savePlaylist(_ name: String, _ entries: [QueuePage.Entry]) async throws(Refusal)
    -> StoredPlaylist
  /// Edits a playlist that somebody has saved; one in the library's folders is a file, and stays as it is. With
  /// `expected`, only that revision of it.
  @discardableResult
  func edit(playlist id: String, _ edit: StoredPlaylist.Edit, expected: UInt64?)
    async throws(Refusal) -> StoredPlaylist
  func removePlaylist(_ id: String) async throws(Refusal)
  /// Those of these addresses that a playlist keeps for the internet alone.
  func narrow(among addresses: Set<String>) async throws(Refusal) -> Set<String>
  /// Returns the entries that an item stands for, in the order in which it plays.
  func entries(of item: LibraryItem) async throws(Refusal) -> [Order.NewEntry]
  /// The folders that it reads.
  func libraryFolders() async throws(Refusal) -> [LibraryFolder]
  /// The servers that it asks.
  func libraryServers() async throws(Refusal) -> [LibraryServer]
  /// Returns once it has begun.
  func scan() async throws(Refusal)
  /// A picture by its hash, no larger than `size` pixels each way.
  func artwork(_ hash: String, size: Int) async throws(Refusal) -> ServableFile
  /// The file of a track, which lies in the library's folders.
  func media(track: String) async throws(Refusal) -> ServableFile
}

/// Things that can be put into a queue.
package enum LibraryItem: Hashable, Sendable {
  case track(String)
  case album(String)
  case artist(String)
  case folder(String)
  case playlist(String)
  case radio(String)
  /// Its newest episode that nobody has heard.
  case podcast(String)
  case episode(String)
}

package struct ServableFile: Hashable, Sendable {
  package var path: String
  /// Such as `video/mp4`.
  package var type: String

  package init(path: String, type: String) { (self.path, self.type) = (path, type) }
}

package struct AlbumQuery: Hashable, Sendable {
  package enum Order: String, CaseIterable, Sendable {
    case artist, title, added, year
  }

  package var order: Order
  package var artistId: String?
  /// The id of a genre or a composer.
  package var tagId: String?
  package var year: Int?
  package var offset: Int
  package var limit: Int

  package init(order: Order, artistId: String? = nil, offset: Int = 0, limit: Int) {
    (self.order, self.artistId) = (order, artistId)
    (self.offset, self.limit) = (offset, limit)
  }
}
