import Foundation

/// Checks the table of bounds in docs/bounds.md against the constants and tests that it names.
enum BoundsTable {
  struct Row {
    /// The thing that is bounded.
    let what: String
    /// The bound as the table writes it: `64`, `8 MiB`, `2 s`.
    let bound: String
    /// `Type.constant`.
    let constant: String
    /// Names of tests, which are sentences.
    let tests: [String]
  }

  /// Rows of five cells below `# Bounds`: thing, bound, constant, effect when full, tests.
  static func rows(of text: String) -> [Row] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { $0 != "# Bounds" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    return lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| what ") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5 else {
        return Row(what: "\(line)", bound: "", constant: "", tests: [])
      }
      return Row(
        what: cells[0], bound: cells[1], constant: quoted(cells[2]).first ?? "",
        tests: quoted(cells[4]))
    }
  }

  private static func quoted(_ cell: String) -> [String] {
    cell.matches(of: /`([^`]+)`/).map { String($0.1) }
  }

  /// Returns the false statements of a row; empty if there are none.
  static func faults(_ row: Row, code: DeclaredTypes, tests: Set<String>) -> [String] {
    var faults = row.tests.filter { !tests.contains($0) }.map {
      "\(row.what): no test is called \($0)"
    }
    if row.tests.isEmpty { faults.append("\(row.what): no test fills it") }
    guard let stated = number(row.bound) else {
      return faults + ["\(row.what): what is \(row.bound)?"]
    }
    guard let value = value(of: row.constant, in: code) else {
      return faults + ["\(row.what): there is no constant \(row.constant)"]
    }
    if value != stated { faults.append("\(row.what): \(row.constant) is \(value), not \(stated)") }
    return faults
  }

  /// Parses a number with a unit; times are in nanoseconds.
  static func number(_ text: String) -> Int? {
    let words = text.filter { $0 != "," }.split(separator: " ")
    let units = [
      "KiB": 1 << 10, "MiB": 1 << 20, "s": 1_000_000_000, "ms": 1_000_000, "min": 60_000_000_000,
    ]
    let unit = words.last.flatMap { units[String($0)] }
    let digits = words.dropLast(unit == nil ? 0 : 1).joined()
    return Int(digits).map { $0 * (unit ?? 1) }
  }

  /// Returns the value of `Type.constant`, as declared in a file that declares or extends the type.
  static func value(of constant: String, in code: DeclaredTypes) -> Int? {
    let parts = constant.split(separator: ".").map(String.init)
    guard parts.count == 2 else { return nil }
    for file in code.files(of: parts[0]) {
      for line in file {
        guard let match = line.firstMatch(of: /\b(?:let|var) (\w+)(?:: [\w.]+)? (?:=|\{)(.*)$/),
          match.1 == parts[1]
        else { continue }
        let expression = String(match.2).replacing(/@\w+|\bget\b|[{}]/, with: "")
        return evaluate(expression, type: parts[0], in: code)
      }
    }
    return nil
  }

  /// Evaluates sums, products and shifts of numbers, times and other constants.
  private static func evaluate(_ text: String, type: String, in code: DeclaredTypes) -> Int? {
    for (symbol, apply) in Self.operations {
      let parts = text.components(separatedBy: symbol)
      guard parts.count > 1 else { continue }
      let values = parts.map { evaluate($0, type: type, in: code) }
      return values.dropFirst().reduce(values[0]) { a, b in
        if let a, let b { apply(a, b) } else { nil }
      }
    }
    let atom = text.trimmingCharacters(in: .whitespaces)
    if let number = Int(atom.filter { $0 != "_" }) { return number }
    if let time = atom.firstMatch(of: /\.(seconds|milliseconds)\(([\d_]+)\)$/) {
      return Int(time.2.filter { $0 != "_" }).map {
        $0 * (time.1 == "seconds" ? 1_000_000_000 : 1_000_000)
      }
    }
    let name = atom.hasPrefix("Self.") ? "\(type).\(atom.dropFirst(5))" : atom
    return value(of: name.contains(".") ? name : "\(type).\(name)", in: code)
  }

  private static let operations: [(String, @Sendable (Int, Int) -> Int)] = [
    (" + ", { $0 + $1 }), (" * ", { $0 * $1 }), (" << ", { $0 << $1 }),
  ]
}

/// Maps types to the files that declare or extend them. Made once, because reading all code takes a
/// second.
struct DeclaredTypes {
  private static let kinds = ["struct", "class", "enum", "extension", "actor"]
  private var code: [String: [[String]]] = [:]

  init(_ files: [SourceTree.File]) {
    for file in files {
      let lines = file.code
      for type in Set(lines.compactMap(Self.type(declaredBy:))) {
        code[type, default: []].append(lines)
      }
    }
  }

  /// Returns the code of each file that declares or extends the type.
  func files(of type: String) -> [[String]] { code[type] ?? [] }

  private static func type(declaredBy line: String) -> String? {
    let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    guard let kind = words.firstIndex(where: { kinds.contains($0) }) else { return nil }
    return words.dropFirst(kind + 1).first
  }
}
