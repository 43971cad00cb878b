/// A condition on songs, as `find` and others take it.
package indirect enum SongFilter: Hashable, Sendable {
  package enum Comparison: Hashable, Sendable {
    case equals, contains
  }

  /// The side of a comparison that a song has.
  package enum Subject: Hashable, Sendable {
    case tag(TagType)
    /// A tag of the protocol that no song here has.
    case absentTag
    case any
    case file
  }

  case all([SongFilter])
  case not(SongFilter)
  case compare(Subject, Comparison, String, foldsCase: Bool)
  /// In this folder, or in one below it.
  case base(String)
  /// Changed at this second or later.
  case modifiedSince(Int64)

  package func matches(_ song: Song) -> Bool {
    switch self {
    case .all(let parts): parts.allSatisfy { $0.matches(song) }
    case .not(let part): !part.matches(song)
    case .compare(let subject, let comparison, let value, let foldsCase):
      Self.matches(song, subject, comparison, value, foldsCase)
    case .base(let path):
      path.isEmpty || song.uri == path || song.uri.hasPrefix(path + "/")
    case .modifiedSince(let second): song.modifiedS.map { $0 >= second } ?? false
    }
  }

  private static func matches(
    _ song: Song, _ subject: Subject, _ comparison: Comparison, _ value: String, _ folds: Bool
  ) -> Bool {
    func fits(_ text: String) -> Bool {
      switch comparison {
      case .equals: folds ? text.lowercased() == value : text == value
      case .contains: (folds ? text.lowercased() : text).contains(value)
      }
    }
    switch subject {
    case .file: return fits(song.uri)
    case .any:
      return TagType.allCases.contains { song.values(of: $0).contains(where: fits) }
    case .tag(let tag):
      let values = song.values(orFallback: tag)
      // An empty value asks for songs without the tag.
      return values.isEmpty ? value.isEmpty : values.contains(where: fits)
    case .absentTag: return value.isEmpty
    }
  }

  /// The folder that all songs lie in which match; empty if there is none.
  package var folder: String {
    switch self {
    case .base(let path): path
    case .all(let parts): parts.map(\.folder).max { $0.utf8.count < $1.utf8.count } ?? ""
    case .not, .compare, .modifiedSince: ""
    }
  }

  /// A tag with the value that each song has which matches.
  package var exact: (tag: TagType, value: String)? {
    switch self {
    case .compare(.tag(let tag), .equals, let value, foldsCase: false) where !value.isEmpty:
      (tag, value)
    case .all(let parts): parts.lazy.compactMap(\.exact).first
    default: nil
    }
  }
}
