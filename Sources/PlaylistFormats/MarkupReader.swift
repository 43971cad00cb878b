/// Reads elements and text from XML as playlists use it. It is tolerant: it drops the prefixes of names, skips
/// attributes, and lets an element that is never closed end with the text. It keeps no tree, so that nothing can
/// nest too deeply.
struct MarkupReader {
  enum Element: Equatable {
    case open(String)
    case close(String)
    case text(String, inside: String)
  }

  private let bytes: [UInt8]
  private var place = 0
  private var current = ""

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns the next element; nil at the end.
  mutating func next() -> Element? {
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "<") else {
        let text = take(until: "<")
        return .text(Self.unescape(text), inside: current)
      }
      if starts(with: "<!--") {
        skip(past: "-->")
      } else if starts(with: "<![CDATA[") {
        place += 9
        let text = take(until: "]]>")
        skip(past: "]]>")
        return .text(String(decoding: text, as: UTF8.self), inside: current)
      } else if starts(with: "<?") || starts(with: "<!") {
        skip(past: ">")
      } else {
        return tag()
      }
    }
    return nil
  }

  private mutating func tag() -> Element {
    place += 1
    let isClosing = place < bytes.count && bytes[place] == UInt8(ascii: "/")
    if isClosing { place += 1 }
    let body = take(until: ">")
    skip(past: ">")
    let name = body.prefix { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "/") }
    let local = name.split(separator: UInt8(ascii: ":")).last ?? []
    let text = String(decoding: local, as: UTF8.self)
    current = isClosing || body.last == UInt8(ascii: "/") ? "" : text
    return isClosing ? .close(text) : .open(text)
  }

  private func starts(with text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

  private mutating func take(until end: String) -> ArraySlice<UInt8> {
    let start = place
    while place < bytes.count, !starts(with: end) { place += 1 }
    return bytes[start..<place]
  }

  private mutating func skip(past end: String) {
    _ = take(until: end)
    place = min(bytes.count, place + end.utf8.count)
  }

  private static func unescape(_ text: ArraySlice<UInt8>) -> String {
    let pieces = String(decoding: text, as: UTF8.self).split(
      separator: "&", omittingEmptySubsequences: false)
    var result = String(pieces.first ?? "")
    for piece in pieces.dropFirst() {
      guard let semicolon = piece.firstIndex(of: ";"),
        let character = character(named: piece[..<semicolon])
      else {
        result += "&" + piece
        continue
      }
      result.unicodeScalars.append(character)
      result += piece[piece.index(after: semicolon)...]
    }
    return result
  }

  private static func character(named name: Substring) -> Unicode.Scalar? {
    switch name {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    default:
      if name.hasPrefix("#x") {
        UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
      } else if name.hasPrefix("#") {
        UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
      } else {
        nil
      }
    }
  }
}
