package import ArgumentParser
import Glibc

/// Brings usages and errors of the argument parser into the form of all other output: an error is one line, and a usage has
/// at most 80 columns.
package enum ParserText {
  private static let width = 80

  /// - Parameter help: as the parser writes it, which breaks all lines but those of the usage.
  package static func wrapped(_ help: String) -> String {
    help.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("USAGE: ") ? wrapped(usage: $0) : String($0) }
      .joined(separator: "\n")
  }

  private static func wrapped(usage: Substring) -> String {
    var lines = [""]
    for part in parts(of: usage) {
      let isFirst = lines.last?.isEmpty ?? true
      if !isFirst, (lines.last ?? "").count + 1 + part.count > width {
        lines.append(String(repeating: " ", count: "USAGE: ".count) + part)
      } else {
        lines[lines.count - 1] += isFirst ? part : " " + part
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Its words. All words within one pair of brackets are one part.
  private static func parts(of usage: Substring) -> [String] {
    var parts: [String] = []
    for word in usage.split(separator: " ") {
      if let last = parts.last, last.count(of: "[") > last.count(of: "]") {
        parts[parts.count - 1] += " " + word
      } else {
        parts.append(String(word))
      }
    }
    return parts
  }

  /// Returns an error as one line. It begins with a small letter, as it follows the program's name.
  ///
  /// - Parameters:
  ///   - message: what is wrong, in one line or several.
  ///   - whole: the same with the usage, which ends with the command whose help explains more.
  package static func line(_ message: String, from whole: String) -> String {
    let said = message.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }
    let all = said.joined(separator: " ")
    let what = all.prefix(1).lowercased() + all.dropFirst()
    let bare = what.hasSuffix(".") ? String(what.dropLast()) : what
    let help = whole.split(separator: "'").last { $0.hasSuffix(" --help") }
    return bare + (help.map { "; see: \($0)" } ?? "")
  }
}

extension ParsableCommand {
  /// Parses the arguments and runs the command, in place of `main(_:)`.
  package static func run(
    _ arguments: [String]? = nil, tell: (String) -> Void, complain: (String) -> Void
  ) {
    do {
      var command = try parseAsRoot(arguments)
      try command.run()
    } catch {
      let code = exitCode(for: error)
      let whole = fullMessage(for: error)
      if code.isSuccess, !whole.isEmpty {
        tell(ParserText.wrapped(whole))
      } else if !whole.isEmpty {
        complain(ParserText.line(message(for: error), from: whole))
      }
      Glibc.exit(code.rawValue)
    }
  }
}

extension String {
  fileprivate func count(of character: Character) -> Int { count { $0 == character } }
}
