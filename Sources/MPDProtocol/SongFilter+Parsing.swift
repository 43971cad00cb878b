extension SongFilter {
  /// Conditions within conditions.
  package static let depthLimit = 16
  /// Conditions in one filter.
  package static let partLimit = 64

  /// Takes the arguments of `find`, `search` and others: an expression in brackets, or pairs of a tag and a value.
  ///
  /// - Parameter isSearch: true if values may stand anywhere in a tag, in whatever case.
  package init(_ arguments: [String], isSearch: Bool) throws(Ack) {
    var rest = arguments[...]
    var parts: [SongFilter] = []
    while let first = rest.popFirst() {
      if first.hasPrefix("(") {
        var reader = ExpressionReader(first, isSearch: isSearch)
        parts.append(try reader.whole())
        continue
      }
      guard let value = rest.popFirst() else {
        throw .argument("Incorrect number of filter arguments")
      }
      parts.append(try Self.pair(first, value, isSearch: isSearch))
    }
    guard parts.count <= Self.partLimit else { throw .argument("Too many filter arguments") }
    self = parts.count == 1 ? parts[0] : .all(parts)
  }

  private static func pair(
    _ name: String, _ value: String, isSearch: Bool
  ) throws(Ack) -> SongFilter {
    switch name.lowercased() {
    case "base": return .base(try folder(value))
    case "modified-since": return .modifiedSince(try second(value))
    default:
      guard let subject = Subject(name) else { throw .argument("Unknown filter type: \(name)") }
      return .compare(
        subject, isSearch ? .contains : .equals, isSearch ? value.lowercased() : value,
        foldsCase: isSearch)
    }
  }

  fileprivate static func folder(_ text: String) throws(Ack) -> String {
    let path = text.split(separator: "/").joined(separator: "/")
    guard !path.isEmpty, !text.hasPrefix("/"), !path.split(separator: "/").contains("..") else {
      throw .argument("Bad URI")
    }
    return path
  }

  /// Seconds since 1970, or such as `2026-11-26T18:20:28Z` or `2026-11-26`.
  fileprivate static func second(_ text: String) throws(Ack) -> Int64 {
    if let seconds = Int64(text) { return seconds }
    guard let seconds = UTCTime.seconds(text) else { throw .argument("Failed to parse time stamp") }
    return seconds
  }
}

extension SongFilter.Subject {
  fileprivate init?(_ name: String) {
    switch name.lowercased() {
    case "any": self = .any
    case "file", "filename": self = .file
    default:
      if let tag = TagType(name) {
        self = .tag(tag)
      } else if TagType.isKnown(name) {
        self = .absentTag
      } else {
        return nil
      }
    }
  }
}

/// Reads `((artist == "x") AND (!(title contains 'y')))`.
private struct ExpressionReader {
  private var rest: Substring
  private let isSearch: Bool
  private var depth = 0
  private var count = 0

  init(_ text: String, isSearch: Bool) { (rest, self.isSearch) = (text[...], isSearch) }

  mutating func whole() throws(Ack) -> SongFilter {
    let filter = try expression()
    skipSpace()
    guard rest.isEmpty else { throw .argument("Unparsed garbage after expression") }
    return filter
  }

  private mutating func expression() throws(Ack) -> SongFilter {
    depth += 1
    count += 1
    defer { depth -= 1 }
    guard depth <= SongFilter.depthLimit, count <= SongFilter.partLimit else {
      throw .argument("Expression is too long")
    }
    try take("(", else: "'(' expected")
    skipSpace()
    if rest.first == "(" { return try conjunction() }
    if takeIf("!") {
      skipSpace()
      let inner = try expression()
      try close()
      return .not(inner)
    }
    let filter = try comparison()
    try close()
    return filter
  }

  /// `(a) AND (b) AND …`; one expression in two pairs of brackets is itself.
  private mutating func conjunction() throws(Ack) -> SongFilter {
    var parts = [try expression()]
    skipSpace()
    while !takeIf(")") {
      guard word() == "AND" else { throw .argument("'AND' expected") }
      skipSpace()
      parts.append(try expression())
      skipSpace()
    }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func comparison() throws(Ack) -> SongFilter {
    let name = word()
    guard !name.isEmpty else { throw .argument("Word expected") }
    skipSpace()
    switch name.lowercased() {
    case "base": return .base(try SongFilter.folder(value()))
    case "modified-since": return .modifiedSince(try SongFilter.second(value()))
    case "audioformat": throw .argument("The formats of songs are not known here")
    default: break
    }
    guard let subject = SongFilter.Subject(name) else {
      throw .argument("Unknown filter type: \(name)")
    }
    let mark = sign()
    skipSpace()
    let text = try value()
    func compare(_ comparison: SongFilter.Comparison) -> SongFilter {
      .compare(subject, comparison, isSearch ? text.lowercased() : text, foldsCase: isSearch)
    }
    switch mark {
    case "==": return compare(.equals)
    case "!=": return .not(compare(.equals))
    case "contains": return compare(.contains)
    case "=~", "!~": throw .argument("Regular expressions are not done here; use contains")
    default: throw .argument("Unknown filter operator: \(mark)")
    }
  }

  private mutating func sign() -> String {
    let word = word()
    if !word.isEmpty { return word }
    let mark = rest.prefix { "=!~<>".contains($0) }
    rest = rest.dropFirst(mark.count)
    return String(mark)
  }

  private mutating func word() -> String {
    let word = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
    rest = rest.dropFirst(word.count)
    return String(word)
  }

  private mutating func value() throws(Ack) -> String {
    guard let quote = rest.popFirst(), quote == "\"" || quote == "'" else {
      throw .argument("Quoted string expected")
    }
    var text = ""
    while let character = rest.popFirst() {
      if character == quote {
        skipSpace()
        return text
      }
      guard character == "\\" else {
        text.append(character)
        continue
      }
      guard let escaped = rest.popFirst() else { break }
      text.append(escaped)
    }
    throw .argument("Closing quote not found")
  }

  private mutating func close() throws(Ack) {
    skipSpace()
    try take(")", else: "')' expected")
  }

  private mutating func take(_ mark: Character, else text: String) throws(Ack) {
    guard takeIf(mark) else { throw .argument(text) }
  }

  private mutating func takeIf(_ mark: Character) -> Bool {
    guard rest.first == mark else { return false }
    rest = rest.dropFirst()
    return true
  }

  private mutating func skipSpace() { rest = rest.drop { $0 == " " || $0 == "\t" } }
}

extension UTCTime {
  /// Reads what `text` writes, or a date alone.
  static func seconds(_ text: String) -> Int64? {
    let parts = text.split { "-T:Z".contains($0) }
    guard text.utf8.count <= 20 else { return nil }
    let numbers = parts.compactMap { Int64($0) } + (parts.count == 3 ? [0, 0, 0] : [])
    guard numbers.count == 6, (1970...9999).contains(numbers[0]), (1...12).contains(numbers[1]),
      (1...31).contains(numbers[2]), (0...23).contains(numbers[3]), (0...59).contains(numbers[4]),
      (0...60).contains(numbers[5])
    else { return nil }
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    let (year, month) = (numbers[1] <= 2 ? numbers[0] - 1 : numbers[0], numbers[1])
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + numbers[2] - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
  }
}
