/// The public declarations of the library, read from its sources: each with the type that holds it, without comments,
/// bodies and attributes.
struct LibraryInterface {
  /// Declarations by the full name of their type; those outside of types under an empty name.
  private(set) var types: [String: Set<String>] = [:]
  /// Protocols that no program sees.
  private var hiddenProtocols: Set<String> = []

  init(_ files: [SourceTree.File]) {
    for file in files { read(file) }
    // An extension of a type that is not public adds nothing.
    types = types.filter { name, _ in isPublic(name) }.mapValues { members in
      Set(members.compactMap(withoutHiddenProtocols))
    }
  }

  /// One line a declaration, sorted: the same for the same interface, however the sources are laid out.
  var text: String {
    types.sorted { $0.key < $1.key }.map { name, members in
      ([name] + members.sorted().map { "  \($0)" }).joined(separator: "\n")
    }.joined(separator: "\n\n") + "\n"
  }

  /// Declarations that `text` has and this one has not, and the other way round.
  func differences(from text: String) -> [String] {
    let (old, new) = (Self.lines(of: text), Self.lines(of: self.text))
    return old.subtracting(new).sorted().map { "- \($0)" }
      + new.subtracting(old).sorted().map { "+ \($0)" }
  }

  /// Each declaration, with its type.
  private static func lines(of text: String) -> Set<String> {
    var type = ""
    var lines: Set<String> = []
    for line in text.split(separator: "\n") {
      if !line.hasPrefix(" ") { type = String(line) }
      lines.insert(line.hasPrefix(" ") ? "\(type):\(line.dropFirst())" : type)
    }
    return lines
  }

  private func isPublic(_ name: String) -> Bool {
    let parts = name.split(separator: ".")
    guard parts.count > 1 else { return types[name]?.contains { !$0.hasPrefix(":") } ?? false }
    let outer = parts.dropLast().joined(separator: ".")
    return types[outer]?.contains { $0.split(separator: " ").contains(parts[parts.count - 1]) }
      ?? true
  }

  /// The line without conformances that no program sees; nil if nothing is left.
  private func withoutHiddenProtocols(_ line: String) -> String? {
    guard line.hasPrefix(":") || line.hasPrefix("is "), let colon = line.lastIndex(of: ":") else {
      return line
    }
    let names = line[line.index(after: colon)...].split(separator: ",").map {
      $0.drop { $0 == " " }
    }
    let seen = names.filter { !hiddenProtocols.contains(String($0)) }
    if seen.isEmpty, colon == line.startIndex { return nil }
    return line[..<colon] + (seen.isEmpty ? "" : ": " + seen.joined(separator: ", "))
  }

  // MARK: - Reading

  /// Where a declaration stands.
  private enum Scope {
    /// In no type, or in one whose declarations are public only where they say so.
    case type(String)
    /// In a public enum, whose cases are public.
    case cases(String)
    /// In a public protocol, whose requirements are public.
    case requirements(String)
    /// In a public extension.
    case publicExtension(String)
    /// In a body, or in something that is not public.
    case hidden

    var name: String? {
      switch self {
      case .type(let name), .cases(let name), .requirements(let name), .publicExtension(let name):
        name
      case .hidden: nil
      }
    }
  }

  private mutating func read(_ file: SourceTree.File) {
    var scopes = [Scope.type("")]
    for piece in SwiftPieces(file.code) {
      switch piece {
      case .statement(let words): declare(words, in: scopes[scopes.count - 1])
      case .opening(let words):
        let scope = scopes[scopes.count - 1]
        declare(words, in: scope)
        scopes.append(Self.scope(openedBy: words, in: scope))
      case .closing: if scopes.count > 1 { scopes.removeLast() }
      }
    }
  }

  private static let kinds: Set = [
    "struct", "class", "enum", "actor", "protocol", "extension",
  ]

  private static func scope(openedBy words: [String], in scope: Scope) -> Scope {
    guard let outer = scope.name, let kind = words.firstIndex(where: kinds.contains),
      kind + 1 < words.count, !words[..<kind].contains(where: ["func", "var", "let"].contains)
    else { return .hidden }
    let isPublic = words[..<kind].contains("public")
    let own = String(words[kind + 1].prefix { $0 != "<" && $0 != ":" })
    let name = outer.isEmpty ? own : "\(outer).\(own)"
    switch words[kind] {
    case "extension": return isPublic ? .publicExtension(own) : .type(own)
    case "enum": return isPublic ? .cases(name) : .hidden
    case "protocol": return isPublic ? .requirements(name) : .hidden
    default: return isPublic ? .type(name) : .hidden
    }
  }

  private mutating func declare(_ words: [String], in scope: Scope) {
    guard let outer = scope.name, words.count > 1 else { return }
    if words.contains("extension") { return conform(words) }
    var isPublic = words.prefix { !["(", "="].contains($0) }.contains("public")
    switch scope {
    case .cases: isPublic = isPublic || words.first == "case"
    case .requirements, .publicExtension:
      isPublic = isPublic || !["private", "fileprivate", "internal"].contains(words[0])
    case .type, .hidden: break
    }
    if !isPublic, let kind = words.firstIndex(of: "protocol"), kind + 1 < words.count {
      hiddenProtocols.insert(words[kind + 1].trimmingColon)
    }
    guard isPublic else { return }
    let said = words.filter { $0 != "public" && !$0.hasPrefix("@discardableResult") }
    let line = said.joined(separator: " ").replacing("( ", with: "(").replacing(" )", with: ")")
    guard let kind = said.firstIndex(where: Self.kinds.contains), kind + 1 < said.count,
      !said[..<kind].contains(where: ["func", "var", "let"].contains)
    else {
      types[outer, default: []].insert(line)
      return
    }
    let own = String(said[kind + 1].prefix { $0 != "<" && $0 != ":" })
    if !outer.isEmpty {
      types[outer, default: []].insert(said[...(kind + 1)].joined(separator: " ").trimmingColon)
    }
    types[outer.isEmpty ? own : "\(outer).\(own)", default: []].insert("is \(line)")
  }

  /// An extension that adds a protocol.
  private mutating func conform(_ words: [String]) {
    guard let place = words.firstIndex(of: "extension"), place + 1 < words.count,
      words[place + 1].hasSuffix(":")
    else { return }
    let name = String(words[place + 1].dropLast())
    types[name, default: []].insert(": " + words[(place + 2)...].joined(separator: " "))
  }
}

extension String {
  fileprivate var trimmingColon: String { hasSuffix(":") ? String(dropLast()) : self }
}

/// Swift code in pieces: statements, and the braces of bodies.
struct SwiftPieces: Sequence {
  enum Piece: Hashable {
    case statement([String])
    /// A statement whose body begins.
    case opening([String])
    case closing
  }

  private let pieces: [Piece]

  /// - Parameter code: lines without comments.
  init(_ code: [String]) {
    var pieces: [Piece] = []
    var text = ""
    var depth = 0
    func words() -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }
    for (number, line) in code.enumerated() {
      for character in line {
        switch character {
        case "(", "[": depth += 1
        case ")", "]": depth -= 1
        case "{" where depth == 0:
          pieces.append(.opening(words()))
          text = ""
          continue
        case "}" where depth == 0:
          if !words().isEmpty { pieces.append(.statement(words())) }
          pieces.append(.closing)
          text = ""
          continue
        default: break
        }
        text.append(character)
      }
      text.append(" ")
      if depth == 0, !Self.continues(words(), in: code, after: number) {
        if !words().isEmpty { pieces.append(.statement(words())) }
        text = ""
      }
    }
    self.pieces = pieces
  }

  func makeIterator() -> IndexingIterator<[Piece]> { pieces.makeIterator() }

  /// True if the statement goes on in the next line.
  private static func continues(_ words: [String], in code: [String], after line: Int) -> Bool {
    if ["=", ",", ":", "->"].contains(where: { words.last?.hasSuffix($0) ?? false }) {
      return true
    }
    let next = code[(line + 1)...].lazy.compactMap { $0.split(separator: " ").first }.first
    return ["{", "async", "throws", "->", "where", "=", "&&", "||", "+", "-", "?", ":"].contains {
      next?.hasPrefix($0) ?? false
    }
  }
}
