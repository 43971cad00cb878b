import WireProtocol

/// The result of a check, in words for people: a fact and, if something is wrong, what to do about it.
package struct Finding: Hashable, Sendable, Encodable {
  package enum Verdict: String, Sendable, Encodable {
    case well
    /// Music plays all the same, though not as well as it could; or the user wants it so.
    case notice
    case wrong
  }

  /// The thing that was checked: a word, or a room's name.
  package var check: String
  package var verdict: Verdict
  package var fact: String
  /// Present unless all is well.
  package var cure: String?

  package static func well(_ check: String, _ fact: String) -> Finding {
    Finding(check: check, verdict: .well, fact: fact)
  }

  package static func notice(_ check: String, _ fact: String, cure: String) -> Finding {
    Finding(check: check, verdict: .notice, fact: fact, cure: cure)
  }

  package static func wrong(_ check: String, _ fact: String, cure: String) -> Finding {
    Finding(check: check, verdict: .wrong, fact: fact, cure: cure)
  }
}

/// Findings as lines of a terminal: a mark, the check's name, the fact, and the cure below it.
package struct FindingText: Sendable {
  /// Characters of a check's name; longer ones are cut.
  static let widestName = 16
  /// Smallest width to which lines are wrapped, in characters. Narrower windows are left to the terminal.
  static let narrowest = 40

  package var isColoured: Bool
  /// In characters; nil if it is not limited.
  package var width: Int?

  package init(isColoured: Bool, width: Int?) {
    self.isColoured = isColoured
    self.width = width
  }

  package func lines(_ finding: Finding) -> [String] {
    let name = String(finding.check.shownPlainly.prefix(Self.widestName))
    let gap = String(repeating: " ", count: Self.widestName - name.count + 1)
    let head = finding.verdict.mark(isColoured) + " " + name + gap
    let indentation = String(repeating: " ", count: Self.widestName + 3)
    let fact = wrapped(finding.fact, indentation: indentation.count).enumerated()
      .map { ($0.offset == 0 ? head : indentation) + $0.element }
    let cure = finding.cure.map { wrapped($0, indentation: indentation.count + 2) } ?? []
    return fact
      + cure.enumerated().map { indentation + ($0.offset == 0 ? "→ " : "  ") + $0.element }
  }

  /// Returns the number of findings of each kind, in a sentence.
  package func summary(of findings: [Finding]) -> String {
    let wrong = findings.count { $0.verdict == .wrong }
    let notices = findings.count { $0.verdict == .notice }
    let notes =
      notices == 0 ? "" : notices == 1 ? "; 1 thing to note" : "; \(notices) things to note"
    if wrong == 0 { return "Nothing is wrong" + notes + "." }
    return (wrong == 1 ? "1 thing is wrong" : "\(wrong) things are wrong") + notes + "."
  }

  /// Breaks the text at spaces. A word that is longer than a line stands alone.
  private func wrapped(_ text: String, indentation: Int) -> [String] {
    let text = text.shownPlainly
    guard let width, width >= Self.narrowest else { return [text] }
    let room = width - indentation
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= room {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.isEmpty ? [""] : lines
  }
}

extension Finding.Verdict {
  fileprivate func mark(_ isColoured: Bool) -> String {
    let (mark, colour) =
      switch self {
      case .well: ("✓", 32)
      case .notice: ("!", 33)
      case .wrong: ("✗", 31)
      }
    return isColoured ? "\u{1B}[\(colour)m\(mark)\u{1B}[0m" : mark
  }
}
