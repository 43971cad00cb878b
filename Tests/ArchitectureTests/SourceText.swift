import Foundation

/// A file as bytes, in which a search for words is fast even without optimisation.
struct SourceText {
  /// Path from the root of the package.
  let path: String
  let bytes: [UInt8]

  init(path: String, text: String) {
    self.path = path
    bytes = Array(text.utf8)
  }

  var name: String { String(path.split(separator: "/").last ?? "") }

  static func all(in folder: String, endings: [String]) throws -> [SourceText] {
    try SourceTree.paths(in: folder)
      .filter { path in endings.contains { path.hasSuffix("." + $0) } }
      .map { SourceText(path: $0, text: try SourceTree.text($0)) }
  }

  /// Returns the names of all tests.
  static func testNames() throws -> Set<String> {
    let names = try all(in: "Tests", endings: ["swift"]).flatMap { file in
      file.places(of: "func `").map { start in
        String(
          decoding: file.bytes[(start + 6)...].prefix { $0 != UInt8(ascii: "`") }, as: UTF8.self)
      }
    }
    return Set(names)
  }

  /// Returns the offsets at which `word` begins.
  func places(of word: String) -> [Int] {
    (bytes + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        guard let base = text.baseAddress else { return [] }
        var places: [Int] = []
        var start = base
        while let found = strstr(start, word) {
          places.append(UnsafePointer(found) - base)
          start = UnsafePointer(found) + 1
        }
        return places
      }
    }
  }

  struct Line: Hashable {
    /// From 1.
    let number: Int
    let text: String
  }

  /// The line that `place` is in.
  func line(at place: Int) -> Line {
    let rest = bytes[place...].prefix { $0 != UInt8(ascii: "\n") }
    return Line(
      number: bytes[..<place].count { $0 == UInt8(ascii: "\n") } + 1,
      text: line(before: place) + String(decoding: rest, as: UTF8.self))
  }

  /// Returns true if code or a string contains `word`. Comments do not count, nor do longer words that end like it. A
  /// `*` before the end stands for the rest of a name. A word that ends in `(` needs arguments: `word()` passes nothing
  /// on.
  func says(_ word: String, unlessAfter others: [String] = []) -> Bool {
    let parts = word.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    let begins = Self.isOfName(word.utf8.first)
    return places(of: parts[0]).contains { place in
      guard !begins || place == 0 || !Self.isOfName(bytes[place - 1]) else { return false }
      let line = line(before: place)
      guard !Self.isComment(line), !others.contains(where: line.hasSuffix) else { return false }
      var rest = bytes[(place + parts[0].utf8.count)...]
      if parts.count > 1 {
        rest = rest.drop { Self.isOfName($0) }
        guard rest.starts(with: parts[1].utf8) else { return false }
        rest = rest.dropFirst(parts[1].utf8.count)
      }
      return !word.hasSuffix("(") || rest.first != UInt8(ascii: ")")
    }
  }

  /// Returns the text of the line before a place.
  private func line(before place: Int) -> String {
    let start = bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  static func isComment(_ line: some StringProtocol) -> Bool {
    let text = line.drop { $0 == " " || $0 == "\t" }
    return text.hasPrefix("//") || text.hasPrefix("*") || text.hasPrefix("/*")
  }

  private static func isOfName(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    return byte == UInt8(ascii: "_") || UnicodeScalar(byte).properties.isAlphabetic
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
