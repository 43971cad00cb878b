/// The location of an item that a server of a library gives: `library:NAME/FOLDER/ID.flac`. It has no secrets, and stays the
/// same wherever the server is; the address is made of it when the item is opened.
package enum ServedLocation {
  package static let scheme = "library:"

  package static func isOne(_ location: String) -> Bool { location.hasPrefix(scheme) }

  /// Returns the name of the library, and that of the item's file; nil for other locations.
  package static func parts(_ location: String) -> (library: String, file: String)? {
    guard isOne(location) else { return nil }
    let parts = location.dropFirst(scheme.count).split(separator: "/")
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return nil }
    return (String(first), String(last))
  }
}
