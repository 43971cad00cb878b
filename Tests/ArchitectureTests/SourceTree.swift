import Foundation

/// The source tree as text, against which the rules are checked.
enum SourceTree {
  struct File: Hashable {
    /// Path from the root of the package.
    let path: String
    let lines: [String]
    /// Lines without comments and without the contents of strings.
    let code: [String]

    init(path: String, text: String) {
      self.path = path
      lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      code = lines.map(SourceTree.code(of:))
    }

    /// The target that a file of `Sources` belongs to.
    var module: String {
      let parts = path.split(separator: "/").map(String.init)
      guard parts.count > 2, parts[0] == "Sources" else { return parts.first ?? "" }
      let isGrouped = ["Adapters", "CShims", "Executables"].contains(parts[1])
      return isGrouped ? parts[2] : parts[1]
    }

    var isCore: Bool { SourceTree.core.contains(module) }
    var isAdapter: Bool { path.hasPrefix("Sources/Adapters/") }
    var isTest: Bool { path.hasPrefix("Tests/") }

    var imports: [String] {
      lines.compactMap { line in
        guard line.contains("import ") else { return nil }
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"),
          words[..<place].allSatisfy({
            ["package", "public", "internal", "private"].contains($0) || $0.hasPrefix("@")
          })
        else { return nil }
        return words.last?.split(separator: ".").first.map(String.init)
      }
    }
  }

  static let core = [
    "Clock", "Audio", "WireProtocol", "Pairing", "Diagnosis", "Sender", "Disturbances", "House",
    "PlaylistFormats", "MPDProtocol", "MPRISProtocol",
    "Receiver",
    "Simulation",
  ]

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns all Swift files below `folder`.
  static func files(in folder: String) throws -> [File] {
    try paths(in: folder).filter { $0.hasSuffix(".swift") }.map {
      File(path: $0, text: try text($0))
    }
  }

  static func paths(in folder: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    return (names?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }.sorted()
  }

  /// Returns the part of a line that the compiler sees, roughly: no comment, and strings without
  /// contents.
  static func code(of line: String) -> String {
    // Most lines have neither.
    guard line.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "/") }) else {
      return line
    }
    var code = ""
    var isInString = false
    var before: Character = " "
    for character in line {
      if character == "\"", before != "\\" { isInString.toggle() }
      if !isInString, character == "/", before == "/" { return String(code.dropLast()) }
      if !isInString || character == "\"" { code.append(character) }
      before = character
    }
    return code
  }
}
