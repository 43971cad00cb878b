package import Sender

/// A list of items in a file: M3U, PLS, XSPF or JSON. Does no I/O: the caller reads the bytes.
package enum PlaylistFile {
  /// Limits of a list in bytes and entries; a larger file is a mistake or an attack.
  package static let sizeLimit = 4 << 20
  package static let entryLimit = 20_000
  /// Levels of lists that name lists.
  package static let nestingLimit = 4
  /// Addresses that are tried from a station's list and from those that it names.
  package static let mirrorLimit = 8

  package enum Format: Hashable, Sendable {
    case m3u, pls, xspf, json
  }

  package enum ParseError: Error, Hashable, Sendable {
    case tooLarge(bytes: Int)
    case tooManyEntries
    /// An HLS stream, which is played as such and not as a list.
    case stream
    case malformed(line: Int, expected: String)
    case empty
  }

  /// Returns the format of the list with this name; nil if the name does not say that it is a list.
  package static func format(ofName name: String) -> Format? {
    let path = name.prefix { $0 != "?" && $0 != "#" }
    guard let dot = path.lastIndex(of: ".") else { return nil }
    return switch path[dot...].dropFirst().lowercased() {
    case "m3u", "m3u8": .m3u
    case "pls": .pls
    case "xspf": .xspf
    case "json": .json
    default: nil
    }
  }

  /// Returns the format of a list with this content type, in small letters and without parameters; nil if the type
  /// does not say that it is a list. The type of HLS is not among these.
  package static func format(ofType type: String) -> Format? {
    switch type {
    case "audio/x-mpegurl", "audio/mpegurl", "application/x-mpegurl", "application/mpegurl": .m3u
    case "audio/x-scpls", "audio/scpls", "application/pls+xml", "application/x-scpls": .pls
    case "application/xspf+xml": .xspf
    default: nil
    }
  }

  /// Returns the entries of the list, in order. Resolves each location against `base`: the path or address of the
  /// list.
  package static func entries(
    in bytes: [UInt8], format: Format, base: String
  ) throws(ParseError) -> [PlaylistEntry] {
    guard bytes.count <= sizeLimit else { throw .tooLarge(bytes: bytes.count) }
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    let text = FileName.text(bytes.dropFirst(hasMark ? 3 : 0))
    let entries: [PlaylistEntry]
    switch format {
    case .m3u: entries = try m3u(text)
    case .pls: entries = try pls(text)
    case .xspf: entries = try xspf(text)
    case .json:
      var reader = JSONListReader(text)
      entries = try reader.read().map { PlaylistEntry($0) }
    }
    guard !entries.isEmpty else { throw .empty }
    guard entries.count <= entryLimit else { throw .tooManyEntries }
    // Locations in XSPF are addresses, in which a space is written %20.
    let isEscaped = format == .xspf && schemeEnd(of: base) == nil
    return entries.map { entry in
      var (entry, location) = (entry, entry.location)
      if isEscaped, schemeEnd(of: location) == nil { location = unescape(location.utf8[...]) }
      entry.location = resolve(location, against: base)
      return entry
    }
  }

  // MARK: - Formats

  /// `#EXTINF:123,Title` belongs to the location below it.
  private static func m3u(_ text: String) throws(ParseError) -> [PlaylistEntry] {
    var entries: [PlaylistEntry] = []
    var (title, picture): (String?, String?)
    for line in lines(of: text) {
      if line.hasPrefix("#EXT-X-") { throw .stream }
      if line.hasPrefix("#EXTINF:") {
        (title, picture) = (extendedTitle(line.dropFirst(8)), logo(line))
      }
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      var entry = PlaylistEntry(String(line), title: title)
      entry.picture = picture
      entries.append(entry)
      (title, picture) = (nil, nil)
    }
    return entries
  }

  /// Returns the address in `-1 tvg-logo="http://host/a.png",Title`.
  private static func logo(_ line: Substring) -> String? {
    guard let start = line.place(of: "tvg-logo=\"")?.upperBound else { return nil }
    let value = trim(line[start...].prefix { $0 != "\"" })
    return value.isEmpty ? nil : String(value)
  }

  /// Returns the text behind the first comma outside of quoted attributes: `-1 group="a, b",Title`.
  private static func extendedTitle(_ line: Substring) -> String? {
    var isQuoted = false
    for index in line.indices {
      if line[index] == "\"" { isQuoted.toggle() }
      guard line[index] == ",", !isQuoted else { continue }
      return String(trim(line[line.index(after: index)...]))
    }
    return nil
  }

  /// `File1=...`, `Title1=...` and so on; the numbers give the order.
  private static func pls(_ text: String) throws(ParseError) -> [PlaylistEntry] {
    var files: [(number: Int, location: String)] = []
    var titles: [Int: String] = [:]
    var hasHead = false
    for line in lines(of: text) {
      if line.lowercased() == "[playlist]" { hasHead = true }
      guard let equals = line.firstIndex(of: "=") else { continue }
      let value = String(trim(line[line.index(after: equals)...]))
      if let number = number(in: line[..<equals], after: "file"), !value.isEmpty {
        files.append((number, value))
      } else if let number = number(in: line[..<equals], after: "title") {
        titles[number] = value
      }
    }
    guard hasHead else { throw .malformed(line: 1, expected: "[playlist]") }
    let sorted = files.enumerated().sorted {
      ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
    }
    return sorted.map { PlaylistEntry($0.element.location, title: titles[$0.element.number]) }
  }

  /// Returns `1` for `File1`.
  private static func number(in key: Substring, after word: String) -> Int? {
    key.lowercased().hasPrefix(word) ? Int(trim(key.dropFirst(word.count))) : nil
  }

  /// Returns the first location of each track, with its title and picture.
  private static func xspf(_ text: String) throws(ParseError) -> [PlaylistEntry] {
    guard text.holds("<playlist") else { throw .malformed(line: 1, expected: "<playlist>") }
    var reader = MarkupReader(text)
    var entries: [PlaylistEntry] = []
    var track: (location: String, title: String, picture: String?)?
    func endTrack() {
      if let track, !track.location.isEmpty {
        var entry = PlaylistEntry(track.location, title: String(trim(track.title[...])))
        entry.picture = track.picture
        entries.append(entry)
      }
      track = nil
    }
    while let element = reader.next() {
      switch element {
      case .open("track"):
        endTrack()
        track = ("", "", nil)
      case .close("track"): endTrack()
      case .text(let text, inside: "location") where track?.location.isEmpty ?? false:
        track?.location = String(trim(text[...]))
      case .text(let text, inside: "title"): track?.title += text
      case .text(let text, inside: "image"): track?.picture = String(trim(text[...]))
      case .open, .close, .text: break
      }
    }
    endTrack()
    return entries
  }

  private static func lines(of text: String) -> [Substring] {
    text.split(whereSeparator: \.isNewline).map { trim($0) }
  }

  package static func trim(_ text: Substring) -> Substring {
    let head = text.drop { $0.isWhitespace }
    let count = head.reversed().prefix { $0.isWhitespace }.count
    return head.dropLast(count)
  }

  // MARK: - Places

  /// Returns an address or absolute path as it is; anything else lies beside the list.
  static func resolve(_ entry: String, against base: String) -> String {
    if entry.lowercased().hasPrefix("file://") { return path(ofFileAddress: entry) }
    if schemeEnd(of: entry) != nil { return entry }
    guard let end = schemeEnd(of: base) else {
      // Lists from other systems separate folders by backslashes.
      let local = entry.contains("/") ? entry : entry.map { $0 == "\\" ? "/" : String($0) }.joined()
      return local.hasPrefix("/") ? local : folder(of: base) + local
    }
    let isHostRelative = entry.hasPrefix("/")
    let address = base.prefix { $0 != "?" && $0 != "#" }
    let hostEnd = address[end...].firstIndex(of: "/") ?? address.endIndex
    if entry.hasPrefix("//") { return base[..<end].dropLast(2) + entry }
    let root = String(address[..<hostEnd])
    if isHostRelative { return root + entry }
    let path = hostEnd == address.endIndex ? "/" : folder(of: String(address[hostEnd...]))
    return root + path + entry
  }

  /// Returns the end of `scheme://`; nil if there is none.
  private static func schemeEnd(of text: String) -> String.Index? {
    let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    guard !scheme.isEmpty, text[scheme.endIndex...].hasPrefix("://") else { return nil }
    return text.index(scheme.endIndex, offsetBy: 3)
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return String(path[...slash])
  }

  /// Returns `/a b` for `file:///a%20b`.
  private static func path(ofFileAddress address: String) -> String {
    unescape(address.utf8.dropFirst(7).drop { $0 != UInt8(ascii: "/") })
  }

  private static func unescape(_ text: String.UTF8View.SubSequence) -> String {
    let rest = Array(text)
    var bytes: [UInt8] = []
    var index = 0
    while index < rest.count {
      if rest[index] == UInt8(ascii: "%"), index + 2 < rest.count,
        let value = UInt8(String(decoding: rest[index + 1...index + 2], as: UTF8.self), radix: 16),
        value != 0
      {
        bytes.append(value)
        index += 3
      } else {
        bytes.append(rest[index])
        index += 1
      }
    }
    return FileName.text(bytes)
  }
}

extension PlaylistFile.ParseError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLarge(let bytes): "it has \(bytes) bytes; a list has at most \(PlaylistFile.sizeLimit)"
    case .tooManyEntries: "it has more than \(PlaylistFile.entryLimit) entries"
    case .stream: "it is an HLS stream and not a list"
    case .malformed(let line, let expected): "line \(line): expected \(expected)"
    case .empty: "there is nothing in it to play"
    }
  }
}
