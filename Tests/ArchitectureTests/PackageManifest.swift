/// What Package.swift says the targets of `Sources` depend on.
enum PackageManifest {
  static func dependencies(_ text: String) -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    // Targets of several lines are put on one, so that each begins with its kind.
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
  /// Unlike `code(of:)`, keeps what strings say.
  static func withoutComment(_ line: String) -> String {
    line.split(separator: " ").first?.hasPrefix("//") ?? true ? "" : line
  }
}

extension String {
  /// What stands between each `kind` and the parenthesis that closes it.
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

  /// The strings in it.
  fileprivate var quoted: [String] {
    split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  /// What stands in its first brackets.
  fileprivate var bracketed: String? {
    guard let start = firstIndex(of: "["), let end = self[start...].firstIndex(of: "]") else {
      return nil
    }
    return String(self[index(after: start)..<end])
  }
}
