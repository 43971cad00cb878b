/// The tags that songs of a household have, as clients name them.
package enum TagType: String, CaseIterable, Hashable, Sendable {
  case artist = "Artist"
  case album = "Album"
  case albumArtist = "AlbumArtist"
  case title = "Title"
  case track = "Track"
  case name = "Name"
  case genre = "Genre"
  case date = "Date"
  case composer = "Composer"
  case disc = "Disc"

  /// Tags of the protocol that no song here has. Clients may name them.
  private static let others: Set<String> = [
    "artistsort", "albumsort", "albumartistsort", "originaldate", "composersort", "performer",
    "conductor", "work", "movement", "movementnumber", "ensemble", "location", "grouping", "label",
    "comment", "musicbrainz_artistid", "musicbrainz_albumid", "musicbrainz_albumartistid",
    "musicbrainz_trackid", "musicbrainz_releasetrackid", "musicbrainz_workid",
  ]

  /// In whatever case.
  package init?(_ text: String) {
    let small = text.lowercased()
    guard let tag = Self.allCases.first(where: { $0.rawValue.lowercased() == small }) else {
      return nil
    }
    self = tag
  }

  /// True for a tag that is known, though no song here has it.
  package static func isKnown(_ text: String) -> Bool {
    others.contains(text.lowercased()) || TagType(text) != nil
  }
}

/// A song, as clients see it.
package struct Song: Hashable, Sendable {
  /// Relative to the library, or an address.
  package var uri: String
  package var title: String?
  package var artist: String?
  package var album: String?
  package var albumArtist: String?
  /// The name of a station.
  package var name: String?
  package var track: Int?
  package var disc: Int?
  package var year: Int?
  package var genres: [String] = []
  package var composers: [String] = []
  package var durationS: Double?
  /// Seconds since 1970.
  package var modifiedS: Int64?

  package init(uri: String) { self.uri = uri }

  package func values(of tag: TagType) -> [String] {
    switch tag {
    case .artist: [artist].compactMap(\.self)
    case .album: [album].compactMap(\.self)
    case .albumArtist: [albumArtist].compactMap(\.self)
    case .title: [title].compactMap(\.self)
    case .track: [track].compactMap { $0.map(String.init) }
    case .name: [name].compactMap(\.self)
    case .genre: genres
    case .date: [year].compactMap { $0.map(String.init) }
    case .composer: composers
    case .disc: [disc].compactMap { $0.map(String.init) }
    }
  }

  /// As for `values`, with the artist where there is no album artist.
  package func values(orFallback tag: TagType) -> [String] {
    let own = values(of: tag)
    return own.isEmpty && tag == .albumArtist ? values(of: .artist) : own
  }

  package func write(to reply: inout Reply, tags: Set<TagType>) {
    reply.pair("file", uri)
    if let modifiedS { reply.pair("Last-Modified", UTCTime.text(modifiedS)) }
    for tag in TagType.allCases where tags.contains(tag) {
      for value in values(of: tag) where !value.isEmpty { reply.pair(tag.rawValue, value) }
    }
    guard let durationS else { return }
    reply.pair("Time", Int(min(max(0, durationS), 1e9).rounded()))
    reply.pair("duration", seconds: durationS)
  }
}

/// Times as the protocol has them, such as `2026-11-26T18:20:28Z`.
package enum UTCTime {
  package static func text(_ seconds: Int64) -> String {
    let seconds = min(max(seconds, 0), 253_402_300_799)
    let (day, second) = (seconds / 86_400, Int(seconds % 86_400))
    let (year, month, date) = civil(day)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month))-\(two(date))T\(two(second / 3600)):\(two(second / 60 % 60))"
      + ":\(two(second % 60))Z"
  }

  /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
  private static func civil(_ days: Int64) -> (Int, Int, Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let date = dayOfYear - (153 * march + 2) / 5 + 1
    let month = march < 10 ? march + 3 : march - 9
    return (Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), Int(month), Int(date))
  }
}
