import FoundationEssentials

/// JSON in the form that programs read: one object a line, names in snake case with their unit at
/// the end.
enum JSONLine {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return ((try? encoder.encode(value)).map { [UInt8]($0) } ?? []) + [UInt8(ascii: "\n")]
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from line: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(line))
  }
}
