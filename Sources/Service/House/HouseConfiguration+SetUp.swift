package import House

extension HouseConfiguration {
  /// The keys that the file or an option has, and the folders and servers that it names, so that nobody changes them elsewhere.
  package var fixed: SetUp.Fixed {
    SetUp.Fixed(
      keys: Key.allCases.filter(named.contains).map(\.rawValue).sorted(), folders: library,
      servers: servers)
  }

  /// Folders from which the page and commands choose the library's.
  ///
  /// - Parameter music: the user's own folder for music.
  package func roots(music: String?) -> [String] {
    guard foldersFrom.isEmpty else { return foldersFrom }
    return [music].compactMap(\.self) + ["/media", "/mnt", "/srv"]
  }

  /// True if a change from another configuration needs no new process.
  package func isFollowed(after other: HouseConfiguration) -> Bool {
    var same = other
    (same.library, same.foldersFrom, same.open) = (library, foldersFrom, open)
    same.named = named
    return same == self
  }
}
