/// An entry that becomes an item of a playlist: its location, and its title in the list that named
/// it.
package struct PlaylistEntry: Codable, Hashable, Sendable {
  /// A path or an address, or `-` for standard input.
  package var location: String
  /// The title in a form that is safe on a terminal, and not empty. The item's own title takes
  /// precedence.
  package let title: String?
  /// Limits where an address may lead.
  package var reach: SourceReach
  /// The address of a station's picture, as its list has it; from a stranger, and kept by nobody who plays it.
  package var picture: String?

  private enum CodingKeys: CodingKey { case location, title, reach }

  /// - Parameter title: as the list has it; from a stranger.
  package init(_ location: String, title: String? = nil, reach: SourceReach = .all) {
    (self.location, self.reach) = (location, reach)
    let shown = title.map { ItemMetadata.shown(FileName.shown($0)) }
    self.title = shown.flatMap { text in text.allSatisfy(\.isWhitespace) ? nil : text }
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try values.decode(String.self, forKey: .location),
      title: try values.decodeIfPresent(String.self, forKey: .title),
      reach: try values.decodeIfPresent(SourceReach.self, forKey: .reach) ?? .network)
  }
}

/// Makes an entry without a title from a location alone.
extension PlaylistEntry: ExpressibleByStringInterpolation {
  package init(stringLiteral location: String) { self.init(location) }
}
