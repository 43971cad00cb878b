/// Dependencies of the targets of `Sources`, as declared in Package.swift.
enum PackageManifest {
  static func dependencies(_ text: String) -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    // Join targets that span several lines, so that each begins with its kind.
    let flat = text.split(separator: "\n").map { SourceTree.withoutComment(String($0)) }.joined()
    for kind in ["core(", "adapter(", ".executableTarget(", ".target(", "shim("] {
      for part in flat.components(of: kind) {
        let names = part.quoted
        guard let name = names.first else { continue }
        found[name] = part.bracketed.map { Set($0.quoted) } ?? []
      }
    }
    return found
  }
}

extension SourceTree {
  /// Unlike `code(of:)`, this keeps the contents of strings.
  static func withoutComment(_ line: String) -> String {
    line.split(separator: " ").first?.hasPrefix("//") ?? true ? "" : line
  }
}

extension String {
  /// Returns the text between each `kind` and its closing parenthesis.
  fileprivate func components(of kind: String) -> [String] {
    var found: [String] = []
    var rest = self[...]
    while let start = rest.firstRange(of: kind) {
      let isWhole =
        start.lowerBound == rest.startIndex
        || !rest[rest.index(before: start.lowerBound)].isLetter
      rest = rest[start.upperBound...]
      guard isWhole else { continue }
      var depth = 1
      found.append(
        String(
          rest.prefix { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth > 0
          }))
    }
    return found
  }

  /// The string literals in this text.
  fileprivate var quoted: [String] {
    split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  /// The text within the first brackets.
  fileprivate var bracketed: String? {
    guard let start = firstIndex(of: "["), let end = self[start...].firstIndex(of: "]") else {
      return nil
    }
    return String(self[index(after: start)..<end])
  }
}
