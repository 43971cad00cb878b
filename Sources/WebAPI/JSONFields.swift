import FoundationEssentials

/// The object in a request's body. The caller asks for each key once, with its type and range. Keys that are
/// left at the end are misspelt, and `end` refuses them.
struct JSONFields {
  private var values: [String: JSONValue]
  private var known: [String] = []
  /// The object's path in the body, with which error messages begin.
  private let place: String

  /// Treats an empty body as an object without keys.
  init(_ body: [UInt8]) throws(APIProblem) {
    guard !body.isEmpty else {
      self.init([:], in: "")
      return
    }
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(body)) else {
      throw .invalid("The body is no JSON.")
    }
    guard case .object(let values) = value else {
      throw .invalid("The body must be a JSON object.")
    }
    self.init(values, in: "")
  }

  private init(_ values: [String: JSONValue], in place: String) {
    (self.values, self.place) = (values, place)
  }

  /// Refuses keys that nobody asked for. Call this after asking for all keys.
  func end() throws(APIProblem) {
    guard let stranger = values.keys.min() else { return }
    let rest = known.isEmpty ? "no key belongs here" : "known are \(known.joined(separator: ", "))"
    throw .invalid("The key \(place)\(stranger) is not known; \(rest).")
  }

  /// The key's name in error messages.
  func name(_ key: String) -> String { place + key }

  func has(_ key: String) -> Bool { values[key] != nil }

  // MARK: - One value

  mutating func string(_ key: String, lengths: ClosedRange<Int> = 1...1_000) throws(APIProblem)
    -> String?
  {
    guard let value = take(key) else { return nil }
    guard case .string(let text) = value, lengths.contains(text.unicodeScalars.count),
      !text.unicodeScalars.contains("\0")
    else {
      throw wrong(key, "a text of \(lengths.lowerBound) to \(lengths.upperBound) characters")
    }
    return text
  }

  mutating func number(_ key: String, in range: ClosedRange<Double>) throws(APIProblem) -> Double? {
    guard let value = take(key) else { return nil }
    guard case .number(let number) = value, range.contains(number) else {
      throw wrong(
        key, "a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))")
    }
    return number
  }

  mutating func integer(_ key: String) throws(APIProblem) -> Int? {
    guard let value = take(key) else { return nil }
    guard case .number(let number) = value, let integer = Int(exactly: number) else {
      throw wrong(key, "a whole number")
    }
    return integer
  }

  mutating func bool(_ key: String) throws(APIProblem) -> Bool? {
    guard let value = take(key) else { return nil }
    guard case .bool(let bool) = value else { throw wrong(key, "true or false") }
    return bool
  }

  mutating func choice(_ key: String, of choices: [String]) throws(APIProblem) -> String? {
    guard let value = take(key) else { return nil }
    guard case .string(let text) = value, choices.contains(text) else {
      throw wrong(key, choices.joined(separator: ", ") + " (one of them)")
    }
    return text
  }

  enum WordOrNumber {
    case word(String)
    case number(Int)
  }

  mutating func wordOrNumber(
    _ key: String, of words: [String], from least: Int
  ) throws(APIProblem) -> WordOrNumber? {
    guard let value = take(key) else { return nil }
    switch value {
    case .string(let text) where words.contains(text): return .word(text)
    case .number(let number) where number >= Double(least):
      if let number = Int(exactly: number) { return .number(number) }
    case .string, .number, .null, .bool, .array, .object: break
    }
    throw wrong(key, words.joined(separator: ", ") + ", or a whole number from \(least)")
  }

  // MARK: - Several

  mutating func strings(_ key: String, count: ClosedRange<Int>) throws(APIProblem) -> [String]? {
    guard let value = take(key) else { return nil }
    guard case .array(let array) = value, count.contains(array.count) else {
      throw wrong(key, "a list of \(count.lowerBound) to \(count.upperBound) texts")
    }
    var texts: [String] = []
    for case .string(let text) in array where (1...1_000).contains(text.unicodeScalars.count) {
      texts.append(text)
    }
    guard texts.count == array.count else {
      throw wrong(key, "a list of texts of 1 to 1000 characters")
    }
    return texts
  }

  mutating func objects(_ key: String, count: ClosedRange<Int>) throws(APIProblem) -> [JSONFields]?
  {
    guard let value = take(key) else { return nil }
    guard case .array(let array) = value, count.contains(array.count) else {
      throw wrong(key, "a list of \(count.lowerBound) to \(count.upperBound) objects")
    }
    var objects: [JSONFields] = []
    for case .object(let values) in array {
      objects.append(JSONFields(values, in: "\(place)\(key)[\(objects.count)]."))
    }
    guard objects.count == array.count else { throw wrong(key, "a list of objects") }
    return objects
  }

  mutating func object(_ key: String) throws(APIProblem) -> JSONFields? {
    guard let value = take(key) else { return nil }
    guard case .object(let values) = value else { throw wrong(key, "an object") }
    return JSONFields(values, in: "\(place)\(key).")
  }

  /// Returns true if the key is there and null, and removes it.
  mutating func isNull(_ key: String) -> Bool {
    guard values[key] == .null else { return false }
    values[key] = nil
    return true
  }

  /// Returns nil if the key is missing. A null counts as a value of the wrong type.
  private mutating func take(_ key: String) -> JSONValue? {
    known.append(key)
    return values.removeValue(forKey: key)
  }

  private func wrong(_ key: String, _ expected: String) -> APIProblem {
    .invalid("\(place)\(key) must be \(expected).")
  }

  private static func text(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
  }
}

enum JSONValue: Hashable, Decodable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let array = try? container.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }
}
