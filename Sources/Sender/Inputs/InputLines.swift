/// Reads what a program tells of its music as lines, each an object of JSON with some of these members:
///
///     {"title":"Sinnerman","artist":"Nina Simone","album":"Pastel Blues"}
///     {"cover":"BASE64"}
///     {"state":"playing","volume":40}
package struct InputLines: Sendable {
  /// Longest line, in bytes: more than the largest picture in base64, with a title. What is longer is left out.
  package static let lineLimit = 6 << 20

  private enum State: String { case playing, paused, stopped }

  private var buffer: [UInt8] = []
  /// True until the end of a line that is too long.
  private var isSkipping = false

  package init() {}

  /// Takes what was read next. Returns what it says, in order.
  package mutating func take(_ bytes: some Collection<UInt8>) -> [InputEvent] {
    var events: [InputEvent] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if !isSkipping, buffer.count + rest.distance(from: rest.startIndex, to: end) <= Self.lineLimit
      {
        events += Self.events(of: buffer + rest[..<end])
      }
      (buffer, isSkipping) = ([], false)
      rest = rest[rest.index(after: end)...]
    }
    if !isSkipping { buffer += rest }
    if buffer.count > Self.lineLimit { (buffer, isSkipping) = ([], true) }
    return events
  }

  private static func events(of line: [UInt8]) -> [InputEvent] {
    guard let members = FlatJSON.members(of: line) else { return [] }
    var events: [InputEvent] = []
    if ["title", "artist", "album"].contains(where: { members[$0] != nil }) {
      events.append(
        .title(
          InputTitle(
            title: members["title"]?.text, artist: members["artist"]?.text,
            album: members["album"]?.text)))
    }
    if let cover = members["cover"] {
      let bytes = cover.text.flatMap { Base64.decode($0.utf8) }
      events.append(.cover(bytes.flatMap(Artwork.init(recognising:))))
    }
    if let volume = members["volume"]?.number, (0...100).contains(volume) {
      events.append(.volume(volume))
    }
    switch members["state"]?.text.flatMap(State.init) {
    case .playing: events.append(.playing)
    case .paused: events.append(.paused)
    case .stopped: events.append(.stopped)
    case nil: break
    }
    return events
  }
}

/// An object of JSON whose members are texts, numbers and words: nothing is nested, so nothing can be nested too deep.
enum FlatJSON {
  enum Value: Hashable {
    case text(String)
    case number(Double)
    /// true, false or null.
    case word

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
  }

  /// Returns nil for anything else.
  static func members(of bytes: [UInt8]) -> [String: Value]? {
    var reader = Reader(bytes: bytes)
    return reader.object()
  }

  private struct Reader {
    let bytes: [UInt8]
    var place = 0

    mutating func object() -> [String: Value]? {
      guard take("{") else { return nil }
      var members: [String: Value] = [:]
      if take("}") { return isAtEnd ? members : nil }
      while true {
        guard let name = string(), take(":"), let value = value() else { return nil }
        members[name] = value
        if take("}") { return isAtEnd ? members : nil }
        guard take(",") else { return nil }
      }
    }

    private var isAtEnd: Bool { bytes[place...].allSatisfy(Self.isSpace) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
      while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
      guard place < bytes.count, bytes[place] == UInt8(ascii: letter) else { return false }
      place += 1
      return true
    }

    private mutating func value() -> Value? {
      let start = place
      if let text = string() { return .text(text) }
      place = start
      while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
      let begin = place
      while place < bytes.count, ![",", "}"].contains(Unicode.Scalar(bytes[place])),
        !Self.isSpace(bytes[place])
      {
        place += 1
      }
      // Longer than any number that means something.
      guard place - begin <= 32 else { return nil }
      let word = String(decoding: bytes[begin..<place], as: UTF8.self)
      if ["true", "false", "null"].contains(word) { return .word }
      return Double(word).flatMap { $0.isFinite ? .number($0) : nil }
    }

    private mutating func string() -> String? {
      guard take("\"") else { return nil }
      var text: [UInt8] = []
      while place < bytes.count {
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
        guard byte == UInt8(ascii: "\\") else {
          text.append(byte)
          continue
        }
        guard place < bytes.count, let escaped = escape() else { return nil }
        text += escaped
      }
      return nil
    }

    private mutating func escape() -> [UInt8]? {
      let byte = bytes[place]
      place += 1
      switch Unicode.Scalar(byte) {
      case "n": return [10]
      case "t": return [9]
      case "r": return [13]
      case "b": return [8]
      case "f": return [12]
      case "\"", "\\", "/": return [byte]
      case "u": return scalar().map { Array(String($0).utf8) }
      default: return nil
      }
    }

    private mutating func scalar() -> Character? {
      guard let high = unit() else { return nil }
      guard (0xd800..<0xdc00).contains(high) else {
        return Character(Unicode.Scalar(high) ?? "\u{fffd}")
      }
      guard bytes[place...].starts(with: "\\u".utf8) else { return "\u{fffd}" }
      place += 2
      guard let low = unit() else { return nil }
      guard (0xdc00..<0xe000).contains(low) else { return "\u{fffd}" }
      let code = 0x10000 + (high - 0xd800) << 10 + (low - 0xdc00)
      return Character(Unicode.Scalar(code) ?? "\u{fffd}")
    }

    private mutating func unit() -> UInt32? {
      guard place + 4 <= bytes.count else { return nil }
      let digits = bytes[place..<place + 4]
      place += 4
      return digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        ? UInt32(String(decoding: digits, as: UTF8.self), radix: 16) : nil
    }
  }
}
