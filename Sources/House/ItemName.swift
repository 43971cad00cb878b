/// An item's name for people: its title and artist, or else the last part of its path or address.
package enum ItemName {
  package static func text(title: String?, artist: String?, location: String) -> String {
    let title = title ?? lastPart(location)
    return artist.map { "\($0) – \(title)" } ?? title
  }

  private static func lastPart(_ location: String) -> String {
    let part = location.split(separator: "/").last.map(String.init)
    return location == "-" ? "standard input" : part ?? location
  }
}
