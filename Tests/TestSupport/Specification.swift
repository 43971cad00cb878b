import Foundation

/// The documents of the protocol, found beside the tests.
package enum Specification {
  package struct Document {
    package var name: String
    package var text: String
  }
  package struct Example {
    package var name: String
    package var bytes: [UInt8]
  }

  package static func documents() throws -> [Document] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/protocol").standardizedFileURL
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".md") }
      .map {
        Document(
          name: $0, text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
      }
  }

  package static func text(of name: String) throws -> String {
    try given(documents().first { $0.name == name }?.text, name)
  }

  /// Returns the cells of the table under a heading of `document`, row by row, without the title
  /// row.
  package static func table(under heading: String, of document: String) throws -> [[String]] {
    let lines = try text(of: document).split(separator: "\n", omittingEmptySubsequences: false)
    let start = try given(
      lines.firstIndex { $0.hasPrefix("#") && $0.hasSuffix(" " + heading) }, heading)
    let rows = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }.drop { !$0.hasPrefix("|") }
      .prefix { $0.hasPrefix("|") }
    return rows.dropFirst(2).map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// Returns one side's times from the table "Times" of the introduction, by name.
  package static func times(of side: String) throws -> [String: String] {
    let rows = try table(under: "Times", of: "README.md").filter { $0.last == side }
    return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
  }

  /// Formats a time like the documents. `nanoseconds` must be whole milliseconds.
  package static func span(nanoseconds: Int64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }

  /// Formats a number like the documents: in groups of three digits if it has more than four.
  package static func number(_ value: Int) -> String {
    value < 10_000 ? "\(value)" : grouped(value)
  }

  private static func grouped(_ value: Int) -> String {
    guard value >= 1000 else { return "\(value)" }
    return grouped(value / 1000) + " " + String("\(1000 + value % 1000)".dropFirst())
  }

  /// Those of connections with receivers.
  package static func examples() throws -> [Example] {
    try allExamples().filter { !$0.name.hasPrefix("daemon.") }
  }

  /// Those of the connection between two daemons, which the protocol's module does not know.
  package static func daemonExamples() throws -> [Example] {
    try allExamples().filter { $0.name.hasPrefix("daemon.") }
  }

  private static func allExamples() throws -> [Example] {
    var examples: [Example] = []
    var open: Example?
    for line in try documents().flatMap({ $0.text.split(separator: "\n") }) {
      if line.hasPrefix("```hex ") {
        open = Example(name: String(line.dropFirst("```hex ".count)), bytes: [])
      } else if line.hasPrefix("```") {
        if let example = open { examples.append(example) }
        open = nil
      } else if open != nil {
        let digits = line.prefix { $0 != "#" }.split(separator: " ")
        open?.bytes += try digits.map { try given(UInt8($0, radix: 16), String(line)) }
      }
    }
    return examples
  }

  /// Returns the bytes of an example, such as `control.welcome`.
  package static func example(_ name: String) throws -> [UInt8] {
    try given(examples().first { $0.name == name }?.bytes, name)
  }
}
