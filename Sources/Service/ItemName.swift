/// What an item is called: as it says itself, or else as its file or address ends.
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
